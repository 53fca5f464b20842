import { domainToASCII } from 'node:url';
import { limits } from '../../limits.ts';
import { domainName } from '../../net/host-name.ts';
import {
  type AddressRange,
  addressRanges,
  addressWord,
  ipv4Of,
  isOneHost,
  printAddress,
  rangesMeet,
} from '../../net/ip.ts';
import { isPublicSuffix } from '../../net/registered-domain.ts';
import type { IndicatorValue } from './indicator.ts';

export type Read = IndicatorValue | { readonly reason: string };

const scheme = /^(?:[a-z][a-z0-9+.-]{0,20}):\/\//i;
/** Schemes of defanged URLs (`hxxp://`, `h**p://`, `fxp://`), which users cannot follow. */
const defangedScheme = /^(?:h[tx*]{2}p(s?)|fxp(s?)|meow(s?)):\/\//i;

/**
 * Reads an address (with or without a port), a CIDR block, a domain (`*.`, `.` and `||…^` around the domain are
 * removed), or the host of a URL. Defanged values are accepted. Returns the reason for rejecting other texts, and
 * values that would match far more than intended.
 *
 * @param home - home networks
 */
export function readValue(text: string, home: readonly AddressRange[]): Read {
  const trimmed = text.trim();
  // Each dot and colon of a defanged value may take up to five characters.
  if (trimmed.length > 5 * longestValue) return { reason: tooLong };
  const plain = refang(trimmed);
  if (plain === '') return { reason: 'is empty' };
  if (plain.length > longestValue) return { reason: tooLong };
  if (scheme.test(plain)) return readUrl(plain, home);
  const block = readBlock(plain, home);
  if (block !== undefined) return block;
  const slash = plain.indexOf('/');
  if (slash > 0) return readUrl(`http://${plain}`, home);
  const blocked = /^\|\|([^/^|]+)\^?$/.exec(plain)?.[1] ?? plain;
  return readHost(blocked.replace(/^(?:\*?\.)/, ''), home, false);
}

/** Maximum characters of a value. URLs of malware have up to 2,000 characters. */
const longestValue = 4096;
const tooLong = `is longer than ${longestValue} characters`;

function refang(text: string): string {
  const shown = text
    .replaceAll(/\[(\.|:|:\/\/|@)\]/g, '$1')
    .replaceAll(/[[({](?:dot|d0t)[\])}]/gi, '.')
    .replaceAll(/[({]\.[)}]/g, '.')
    .replaceAll('\\.', '.');
  return shown.replace(defangedScheme, (_, ...s: (string | undefined)[]) => `http${s[0] || s[1] || s[2] || ''}://`);
}

/**
 * Reads the host of a URL (RFC 3986, section 3.2). For a URL with a path, the indicator covers only this host, not the
 * names below the host.
 */
function readUrl(url: string, home: readonly AddressRange[]): Read {
  const [, authority = '', rest = ''] = /^[^:]+:\/\/([^/?#]*)(.*)$/s.exec(url) ?? [];
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  if (host === '') return { reason: 'is a URL without a host' };
  return readHost(host, home, rest !== '' && rest !== '/');
}

/** Reads a host with or without a port. */
function readHost(text: string, home: readonly AddressRange[], exact: boolean): Read {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1];
  if (bracketed !== undefined) return readBlock(bracketed, home) ?? { reason: 'is not an address' };
  const host = /^[^:]*(?=:\d{1,5}$)/.exec(text)?.[0] ?? text;
  return readBlock(host, home) ?? readDomain(host, exact);
}

function readDomain(text: string, exact: boolean): Read {
  const ascii = asciiName(text);
  const name = ascii === undefined ? undefined : domainName(ascii);
  if (name === undefined) return { reason: 'is not an address, block, domain or URL' };
  if (!name.includes('.')) return { reason: 'is a single label, not a registered domain' };
  if (isPublicSuffix(name) && !exact) return { reason: 'is a public suffix, below which anyone can register' };
  return { kind: 'domain', text: name, exact };
}

/** Returns the name as used by DNS (RFC 5891); undefined for an invalid name. */
export function asciiName(name: string): string | undefined {
  if (/^[\x21-\x7e]*$/.test(name)) return name;
  return domainToASCII(name) || undefined;
}

/** Reads an address or a block; returns undefined for other texts. */
function readBlock(text: string, home: readonly AddressRange[]): Read | undefined {
  const ranges = addressRanges(text);
  if (ranges === undefined) return undefined;
  const slash = text.indexOf('/');
  const { first } = ranges[0]!;
  const { last } = ranges.at(-1)!;
  const v4 = ipv4Of(first) >= 0 && ipv4Of(last) >= 0;
  const width = slash < 0 ? 128 : Number(text.slice(slash + 1)) + (text.includes(':') ? 0 : 96);
  const prefix = v4 ? width - 96 : width;
  const least = v4 ? limits.minIntelPrefixIpv4 : limits.minIntelPrefixIpv6;
  if (prefix < least) return { reason: `covers too much: the widest accepted block is a /${least}` };
  const isSingle = prefix === (v4 ? 32 : 128);
  if (special.some((range) => ranges.some((one) => rangesMeet(one, range))) || (isSingle && !isHost(first)))
    return { reason: 'is not the address of an Internet host' };
  if (home.some((range) => ranges.some((one) => rangesMeet(one, range))))
    return { reason: 'overlaps the home networks' };
  return { kind: 'address', text: isSingle ? printAddress(first) : `${printAddress(first)}/${prefix}` };
}

function isHost(bytes: Uint8Array): boolean {
  const word = (at: number) => addressWord(bytes, at);
  return isOneHost(word(0), word(4), word(8), word(12));
}

/** Address ranges of loopback, "this network", link-local and multicast (RFC 6890). */
const special = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '::/127',
  'fe80::/10',
  'ff00::/8',
].flatMap((block) => addressRanges(block)!);

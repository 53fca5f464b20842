import { registeredDomain } from '../../events/registered-domain.ts';
import { hashText } from './distinct-names.ts';
import { generatedFrom, generatedScore } from './name-model.ts';

/**
 * What a name is asked for:
 *
 *     reverse   the name of an address: under `arpa`
 *     local     found without the public DNS: single labels, also those that Chromium makes up to see whether a resolver
 *               answers everything, mDNS, home networks
 *     address   an address before a list of addresses (RFC 5782), of IPv4 or by the nibbles of IPv6
 *     discovery what machines look for by themselves in each domain that they search: wpad, isatap
 *     searched  a whole name with a domain behind it that the client searches: `www.example.com.corp.example`
 *     probe     one label of 7 to 15 letters below a domain: what becomes of Chromium's probes in a domain that is searched
 *     ordinary  all else
 */
export type NameKind = 'reverse' | 'local' | 'address' | 'discovery' | 'searched' | 'probe' | 'ordinary';

/** What there is to know of a name. */
export interface Name {
  readonly text: string;
  readonly hash: number;
  readonly kind: NameKind;
  /** Registered domain; empty where it has none. */
  readonly domain: string;
  readonly domainHash: number;
  /** How much the label that was registered looks made up, 0–1. */
  readonly score: number;
  /** Characters below the registered domain, dots not counted: what it could carry. */
  readonly payload: number;
  /** It has a label below the registered domain that looks like encoded data. */
  readonly isEncoded: boolean;
}

/** Names remembered, those of some minutes of a large network; forgotten all at once. 600 bytes each at the worst. */
const maxRemembered = 8192;
/** Those of DNS are no longer. */
const maxLength = 255;
/** Shorter labels are versions and numbers of machines more often than data. */
const minEncoded = 10;

/** Names of networks that the public DNS knows nothing of (RFC 6762 appendix G, RFC 8375, RFC 6761). */
const localSuffixes = new Set(
  'local localhost localdomain lan home internal intranet private workgroup'.split(' '),
);
/** Suffixes that show that a whole name stands before a domain. */
const inner = new Set(
  'com net org edu gov mil info biz io co de uk fr it nl es pl ru cn jp br in eu us ch at be se cz tv me app dev xyz cloud'.split(
    ' ',
  ),
);
const probe = /^[a-z]{7,15}$/;
const decimal = /^(?:\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])$/;

/** Looks at names; those met of late are remembered: looking at one takes 2 µs, and most are asked for again and again. */
export class Names {
  readonly #remembered = new Map<string, Name>();

  /** `query` is in lower case and without a final dot. */
  of(query: string): Name {
    const known = this.#remembered.get(query);
    if (known !== undefined) return known;
    const name = look(query.length > maxLength ? query.slice(0, maxLength) : query);
    if (this.#remembered.size >= maxRemembered) this.#remembered.clear();
    if (query.length <= maxLength) this.#remembered.set(query, name);
    return name;
  }
}

function look(text: string): Name {
  const top = text.slice(text.lastIndexOf('.') + 1);
  const found =
    top === 'arpa' || top === text || localSuffixes.has(top) ? '' : (registeredDomain(text) ?? '');
  // A list of suffixes that knows letters of one case and names of another could answer with something else.
  const domain = text === found || text.endsWith(`.${found}`) ? found : '';
  const labels = domain === '' || domain === text ? [] : text.slice(0, -domain.length - 1).split('.');
  let payload = 0;
  let isEncoded = false;
  for (const label of labels) {
    payload += label.length;
    isEncoded ||= label.length >= minEncoded && generatedScore(label) >= generatedFrom;
  }
  return {
    text,
    hash: hashText(text),
    kind: kindOf(top, domain, labels, isEncoded),
    domain,
    domainHash: hashText(domain),
    score: domain === '' ? 0 : generatedScore(domain.slice(0, domain.indexOf('.'))),
    payload,
    isEncoded,
  };
}

function kindOf(top: string, domain: string, labels: readonly string[], isEncoded: boolean): NameKind {
  if (top === 'arpa') return 'reverse';
  if (domain === '') return 'local';
  const first = labels[0];
  if (first === undefined) return 'ordinary';
  if (isAddress(labels)) return 'address';
  if (first === 'wpad' || first === 'isatap') return 'discovery';
  // Whoever attacks a domain by names made up may put a suffix among them.
  if (!isEncoded && labels.some((label, i) => i > 0 && (inner.has(label) || label === top)))
    return 'searched';
  return probe.test(first) && labels.length === 1 ? 'probe' : 'ordinary';
}

function isAddress(labels: readonly string[]): boolean {
  if (labels.length >= 32) return labels.slice(0, 32).every((label) => label.length === 1);
  return labels.length >= 4 && labels.slice(0, 4).every((label) => decimal.test(label));
}

import type { Finding } from '../events/finding.ts';
import { limits } from '../limits.ts';
import { isObject, type JsonObject } from './fields.ts';

// Reads the signature and the matching traffic of an EVE alert, which are additions to the finding: unreadable
// parts are left out, and long parts are truncated.

export function suricataShown(
  alert: JsonObject,
  { payload, payload_printable, packet }: JsonObject,
): Pick<Finding, 'signature' | 'payload'> {
  const { references, metadata, signature: name } = alert;
  const ofAuthor = isObject(metadata) ? metadata : {};
  let room: number = limits.maxTextBytes;
  const signature = {
    cves: cvesIn([...texts(references), ...texts(ofAuthor.cve), cut(name, limits.maxTextBytes)]),
    references: texts(references),
    metadata: Object.entries(ofAuthor)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, limits.maxSignatureValues)
      .map(([key, value]) => ({ key: cut(key, limits.maxSignatureTextLength), values: texts(value) }))
      .filter(({ key, values }) => {
        room -= key.length + values.join().length;
        return values.length > 0 && room >= 0;
      }),
  };
  const data = base64(payload, limits.maxAlertPayloadBytes);
  // `payload_printable` contains the same bytes, with dots for unprintable bytes.
  const printable = data === '' ? cut(payload_printable, limits.maxAlertPayloadBytes) : '';
  const traffic = { data, printable, packet: base64(packet, limits.maxAlertPacketBytes) };
  return { ...named('signature', signature), ...named('payload', traffic) };
}

/** Returns the non-empty members under a name; an empty object if all are empty. */
function named(name: 'signature' | 'payload', value: Readonly<Record<string, { readonly length: number }>>) {
  const told = Object.entries(value).filter(([, { length }]) => length > 0);
  return told.length === 0 ? {} : { [name]: Object.fromEntries(told) };
}

/** Finds CVE ids as they occur in names, references (`cve,2021-44228`) and metadata (`CVE_2021_44228`). */
function cvesIn(given: readonly string[]): string[] {
  const text = given.join('\n');
  if (!/cve/i.test(text)) return [];
  const found = text.matchAll(/(?<![a-z])cve[-_,: /]+(\d{4})[-_](\d{4,7})(?!\d)/gi);
  const cves = new Set(Array.from(found, ([, year, number]) => `CVE-${year}-${number}`));
  return [...cves].slice(0, limits.maxSignatureValues);
}

const cut = (value: unknown, most: number): string =>
  typeof value === 'string' ? value.slice(0, most).toWellFormed() : '';

const texts = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value])
    .slice(0, limits.maxSignatureValues)
    .map((one) => cut(one, limits.maxSignatureTextLength))
    .filter((one) => one !== '');

/**
 * Truncates a base64 value to at most `maxBytes` decoded bytes and returns it as base64; returns an empty text if its
 * start is not base64.
 */
function base64(value: unknown, maxBytes: number): string {
  const start = cut(value, Math.ceil(maxBytes / 3) * 4);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(start)) return '';
  return Buffer.from(start, 'base64').subarray(0, maxBytes).toString('base64');
}

import { shippedId } from '../../events/scoped-id.ts';
import { limits } from '../../limits.ts';
import type { JsonObject } from '../fields.ts';
import type { ItemReader } from '../item-reader.ts';
import { openBrace, tab } from '../json-bytes.ts';
import type { EnvelopeContext } from '../parse-context.ts';

// A log record of OpenTelemetry is an envelope. The sensor's record is the first of these parts:
//
//   1. the text or the bytes of its body, if they are a JSON object or a line of Zeek TSV: the line as the
//      sensor wrote it. Parsers of a collector leave the line there, and add its fields with numbers as
//      doubles, so the line takes precedence;
//   2. the key-value list in its body, as a document;
//   3. its attributes, as a document, except attributes that describe where the collector read the record.
//
// The format of that record is then recognised as usual.

/** Receives the log records of one body. */
export type Sink = Pick<ItemReader, 'bytes' | 'value' | 'refuse'>;

/** The attribute for the explicit id of a record (OpenTelemetry's semantic conventions for logs). */
export const idAttribute = 'log.record.uid';

/** Attributes of a resource that name the sensor, the most preferred first. */
const namesOfResource = ['host.name', 'service.name', 'service.instance.id'] as const;
type NameOfResource = (typeof namesOfResource)[number];

/** Determines the sensor's name from a resource and a scope. One instance per body. */
export class Sender {
  readonly #names = new Map<NameOfResource, string>();
  #scope: string | undefined;

  beginResource(): void {
    this.#names.clear();
    this.#scope = undefined;
  }

  beginScope(): void {
    this.#scope = undefined;
  }

  /** Adds an attribute of the resource. */
  attribute(key: unknown, value: string | undefined): void {
    if (!namesOfResource.includes(key as NameOfResource)) return;
    const name = usable(value);
    if (name === undefined) this.#names.delete(key as NameOfResource);
    else this.#names.set(key as NameOfResource, name);
  }

  scope(name: string | undefined): void {
    this.#scope = usable(name);
  }

  get name(): string | undefined {
    for (const key of namesOfResource) {
      const name = this.#names.get(key);
      if (name !== undefined) return name;
    }
    return this.#scope;
  }
}

/** Maximum length of a sensor's name, as in `?sensor=`. Longer names are ignored rather than refused. */
const maxNameLength = 200;

/**
 * Returns the name, or undefined if it is unusable: SDKs fill in `unknown_service:node` if no name is
 * configured.
 */
function usable(name: string | undefined): string | undefined {
  if (name === undefined || name === '' || name.length > maxNameLength) return undefined;
  return name.startsWith('unknown_service') ? undefined : name.toWellFormed();
}

/** Envelope data of the current log record; one object per body. */
export type LogEnvelope = { -readonly [P in keyof EnvelopeContext]: EnvelopeContext[P] };

/**
 * Returns the record's UUID for the id that the sender chose; undefined without an id, and for ids that are longer than
 * any real id.
 */
export function idOf(sender: string, value: string | undefined): string | undefined {
  if (value === undefined || value === '') return undefined;
  if (value.length * 3 > limits.maxDocumentIdBytes && Buffer.byteLength(value) > limits.maxDocumentIdBytes)
    return undefined;
  return shippedId(sender, value);
}

/**
 * Converts nanoseconds since 1970, given as upper and lower 32 bits, exactly to whole milliseconds. Returns
 * undefined for 0, which means unknown.
 */
export function millisOf(high: number, low: number): number | undefined {
  if (high === 0 && low === 0) return undefined;
  // The result is exact, because 2^32 = 4294 × 10^6 + 967296, and high × 967296 + low is below 2^53.
  return high * 4294 + Math.floor((high * 967_296 + low) / 1e6);
}

/** Returns the attributes except those that describe where a collector read the record. */
export function withoutOrigin(attributes: JsonObject): JsonObject {
  const names = Object.keys(attributes);
  if (!names.some((name) => name.startsWith('log.'))) return attributes;
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => !name.startsWith('log.')));
}

/** Returns the document; undefined for an empty document. */
export function orNothing(document: JsonObject): JsonObject | undefined {
  for (const _ in document) return document;
  return undefined;
}

/** Sets a member as JSON.parse does: `__proto__` is an ordinary name. */
export function setMember(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Returns a number if the value is a safe integer; otherwise its digits, the usual form of 64-bit ids. */
export function integer(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

/** Returns the position of a JSON object or a line of Zeek TSV in the text in `[start, end)`, or -1. */
export function recordStart(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && (bytes[at] as number) <= 32) at++;
  if (at === end) return -1;
  return bytes[at] === openBrace || bytes[at] === hash || bytes.subarray(at, end).includes(tab) ? at : -1;
}

const hash = 35;

export const isRecordText = (text: string): boolean => /^[\0- ]*(?:[{#]|[^\0- ][^\t]*\t)/.test(text);

export const reasons = {
  nothing: 'is neither a JSON object nor a key-value list, and there are no attributes',
  tooLong: `is longer than ${limits.maxLogRecordBytes} bytes`,
  tooDeep: `nests deeper than ${limits.maxNesting}`,
} as const;

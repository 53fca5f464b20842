import { limits } from '../../limits.ts';
import type { JsonObject } from '../fields.ts';
import type { Items } from '../items.ts';
import type { Said } from '../said.ts';
import { shippedId } from '../shipped-id.ts';

// A log record of OpenTelemetry is an envelope. What a sensor wrote is in it as
//
//   1. the text of its body, or its bytes, that is a JSON object or a line of Zeek TSV: the line as the sensor wrote it. Parsers of a collector
//      leave it there and put what it says beside it, with numbers as doubles, so that it comes first;
//   2. the key-value list that is its body, as a document;
//   3. its attributes, as a document without what the collector adds of where it read it.
//
// The first that is there is read. What it is then, is decided as everywhere.

/** What the log records of one body are told to. */
export type Sink = Pick<Items, 'bytes' | 'value' | 'refuse'>;

/** An attribute with which a record is explicitly named (OpenTelemetry's semantic conventions for logs). */
export const idAttribute = 'log.record.uid';

/** The names of a resource's attributes that name the sensor, the best first. */
const namesOfResource = ['host.name', 'service.name', 'service.instance.id'] as const;
type NameOfResource = (typeof namesOfResource)[number];

/** What a resource and a scope say of who sent their records. One for each body, used again for each of them. */
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

  /** An attribute of the resource. */
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

/** As long as `?sensor=` may be: nothing is refused for the name of its sender. */
const maxNameLength = 200;

/** A name that says something: SDKs fill in `unknown_service:node` where none is configured. */
function usable(name: string | undefined): string | undefined {
  if (name === undefined || name === '' || name.length > maxNameLength) return undefined;
  return name.startsWith('unknown_service') ? undefined : name.toWellFormed();
}

/** What is known of the log record that is read; one for each body, filled anew for each. */
export type LogEnvelope = { -readonly [P in keyof Said]: Said[P] };

/** The id of a record that its sender calls so. Longer than any real one, it is none. */
export function idOf(sender: string, value: string | undefined): string | undefined {
  if (value === undefined || value === '') return undefined;
  if (value.length * 3 > limits.maxDocumentIdBytes && Buffer.byteLength(value) > limits.maxDocumentIdBytes)
    return undefined;
  return shippedId(sender, value);
}

/** Nanoseconds since 1970 in 64 bits, as their upper and lower 32, in whole milliseconds; 0 is unknown. Exact. */
export function millisOf(high: number, low: number): number | undefined {
  if (high === 0 && low === 0) return undefined;
  // 2^32 = 4294 × 10^6 + 967296, and high × 967296 + low stays under 2^53.
  return high * 4294 + Math.floor((high * 967_296 + low) / 1e6);
}

/** A document of a record's attributes: without where a collector read it, which no sensor says. */
export function withoutOrigin(attributes: JsonObject): JsonObject {
  const names = Object.keys(attributes);
  if (!names.some((name) => name.startsWith('log.'))) return attributes;
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => !name.startsWith('log.')));
}

/** A document that says something. */
export function orNothing(document: JsonObject): JsonObject | undefined {
  for (const _ in document) return document;
  return undefined;
}

/** A member of an object as JSON.parse makes it: `__proto__` is a name like others. */
export function setMember(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

/** A number as JSON has it where a double is exact; else its digits, which is how ids of 64 bits are told. */
export function integer(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

/** Where the JSON object, or the line of Zeek TSV, is that a text in `[start, end)` may be, or -1. */
export function recordStart(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && (bytes[at] as number) <= 32) at++;
  if (at === end) return -1;
  return bytes[at] === openBrace || bytes[at] === hash || bytes.subarray(at, end).includes(tab) ? at : -1;
}

const tab = 9;
const hash = 35;
const openBrace = 123;

export const isRecordText = (text: string): boolean => /^[\0- ]*(?:[{#]|[^\0- ][^\t]*\t)/.test(text);

export const reasons = {
  nothing: 'is no JSON object and no key-value list, and there are no attributes',
  tooLong: `is longer than ${limits.maxLogRecordBytes} bytes`,
  tooDeep: `nests deeper than ${limits.maxNesting}`,
} as const;

import { maxTime } from '../events/columns.ts';
import { limits } from '../limits.ts';
import { named, reject } from './rejection.ts';
import { epochMillis, isoMillis } from './time.ts';

/** A parsed JSON object. Names are looked up, never copied onto other objects, so `__proto__` is a name like others. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// Every reader takes the value and the name that the sender knows it by. Absent and null are `undefined`; what is
// there but cannot be meant is a Rejection. Nothing is converted from another type and nothing is cut.

/** An empty text tells nothing, and is `undefined` as well. */
export function text(value: unknown, field: string): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') return reject(field, `is ${named(value)}, not a text`);
  if (value.length * 3 > limits.maxTextBytes && Buffer.byteLength(value) > limits.maxTextBytes) {
    reject(field, `is longer than ${limits.maxTextBytes} bytes`);
  }
  return value.toWellFormed();
}

export function requiredText(value: unknown, field: string): string {
  return text(value, field) ?? reject(field, 'is missing');
}

export function whole(value: unknown, field: string, max: number): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number') return reject(field, `is ${named(value)}, not a number`);
  if (!(value >= 0 && value % 1 === 0)) return reject(field, `is ${value}, not a whole number from 0`);
  return value <= max ? value + 0 : reject(field, `is ${value}, more than ${max}`);
}

/** Bytes or packets of one connection. */
export function count(value: unknown, field: string): number | undefined {
  return whole(value, field, limits.maxEventCount);
}

/** Numbers that a protocol or a sensor keeps in 32 bits. */
export function word(value: unknown, field: string): number | undefined {
  return whole(value, field, 0xffff_ffff);
}

/** 12 bits with EDNS, 16 in TSIG (RFC 6895, section 2.3). */
export function dnsRcode(value: unknown, field: string): number | undefined {
  return whole(value, field, 0xffff);
}

export function port(value: unknown, field: string): number | undefined {
  return whole(value, field, 65535);
}

/** A span of time that came in seconds, in milliseconds; exact to the microsecond, without the noise of the product. */
export function seconds(value: unknown, field: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number') return reject(field, `is ${named(value)}, not a number`);
  if (value >= 0 && value * 1e3 <= maxTime) return Math.round(value * 1e6) / 1e3;
  return reject(field, `is ${value}, not a span of time`);
}

export function real(value: unknown, field: string, max: number): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number') return reject(field, `is ${named(value)}, not a number`);
  return value >= 0 && value <= max ? value + 0 : reject(field, `is ${value}, not a number from 0 to ${max}`);
}

export function milliseconds(value: unknown, field: string): number | undefined {
  return real(value, field, maxTime);
}

/**
 * Seconds, in 32 bits on the wire. RFC 2181 allows 31 bits only, but a server that an attacker runs can send more, and
 * must not keep its answer from being stored.
 */
export function timeToLive(value: unknown, field: string): number | undefined {
  return real(value, field, 0xffff_ffff);
}

export function flag(value: unknown, field: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'boolean' ? value : reject(field, `is ${named(value)}, not true or false`);
}

export function choice<const T extends string>(
  value: unknown,
  field: string,
  choices: readonly T[],
): T | undefined {
  if (value === undefined || value === null) return undefined;
  const at = choices.indexOf(value as T);
  return at >= 0 ? choices[at] : reject(field, `is ${named(value)}, not one of ${choices.join(', ')}`);
}

export function list(value: unknown, field: string): readonly unknown[] | undefined {
  if (value === undefined || value === null) return undefined;
  return Array.isArray(value) ? value : reject(field, `is ${named(value)}, not an array`);
}

export function object(value: unknown, field: string): JsonObject | undefined {
  if (value === undefined || value === null) return undefined;
  return isObject(value) ? value : reject(field, `is ${named(value)}, not an object`);
}

/** Six octets in hexadecimal; kept in lower case with colons. */
export function mac(value: unknown, field: string): string | undefined {
  const given = text(value, field);
  if (given === undefined) return undefined;
  if (/^[0-9a-f]{2}([:-][0-9a-f]{2}){5}$/i.test(given)) return given.toLowerCase().replaceAll('-', ':');
  return reject(field, `is ${named(given)}, not a link-layer address`);
}

/** ISO 8601; UTC where it names no zone. Epoch milliseconds, rounded down. */
export function isoTime(value: unknown, field: string): number {
  if (typeof value !== 'string') {
    return reject(
      field,
      value === undefined || value === null ? 'is missing' : `is ${named(value)}, not a text`,
    );
  }
  const millis = isoMillis(value);
  return millis >= 0 && millis <= maxTime
    ? millis
    : reject(field, `is ${named(value)}, not an ISO 8601 time in the years 1970 to 9999`);
}

/** What Zeek writes as a time: epoch seconds, epoch milliseconds or ISO 8601. Epoch milliseconds, rounded down. */
export function zeekTime(value: unknown, field: string): number {
  if (typeof value !== 'number') return isoTime(value, field);
  const millis = epochMillis(value);
  return millis >= 0 && millis <= maxTime
    ? millis
    : reject(field, `is ${value}, not a time in the years 1970 to 9999`);
}

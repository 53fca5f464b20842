import { isObject, type JsonObject } from '../contract/json-object.ts';
import { maxTime } from '../events/format/columns.ts';
import { limits } from '../limits.ts';
import { named, reject } from './rejection.ts';
import { epochMillis, isoMillis } from './time.ts';

export { isObject, type JsonObject };

// Field readers. Every reader takes the value and the sender's name for it. For an absent value and null, it
// returns undefined; for an invalid value, it throws a Rejection. No value is converted from another type, and
// no value is truncated.

/** Reads a text. Returns undefined for an empty text as well. */
export function text(value: unknown, field: string): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') return reject(field, `is ${named(value)}, not a string`);
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
  if (!(value >= 0 && value % 1 === 0)) return reject(field, `is ${value}, not a whole number from 0 to ${max}`);
  return value <= max ? value + 0 : reject(field, `is ${value}, more than ${max}`);
}

/** Reads a number of bytes or packets of one connection. */
export function count(value: unknown, field: string): number | undefined {
  return whole(value, field, limits.maxEventCount);
}

/** Reads a number that a protocol or a sensor stores in 32 bits. */
export function word(value: unknown, field: string): number | undefined {
  return whole(value, field, 0xffff_ffff);
}

/** Reads a DNS response code: 12 bits with EDNS, 16 bits in TSIG (RFC 6895, section 2.3). */
export function dnsRcode(value: unknown, field: string): number | undefined {
  return whole(value, field, 0xffff);
}

export function port(value: unknown, field: string): number | undefined {
  return whole(value, field, 65535);
}

/**
 * Converts a duration in seconds to milliseconds, exact to the microsecond, without rounding errors of the
 * multiplication.
 */
export function seconds(value: unknown, field: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number') return reject(field, `is ${named(value)}, not a number`);
  if (value >= 0 && value * 1e3 <= maxTime) return Math.round(value * 1e6) / 1e3;
  return reject(field, `is ${value}, not a duration from 0 to ${maxTime / 1e3} seconds`);
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
 * Reads a time to live in seconds, which has 32 bits on the wire. RFC 2181 allows only 31 bits, but an
 * attacker's server can send larger values, and must not thereby prevent its answers from being stored.
 */
export function timeToLive(value: unknown, field: string): number | undefined {
  return real(value, field, 0xffff_ffff);
}

export function flag(value: unknown, field: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'boolean' ? value : reject(field, `is ${named(value)}, not true or false`);
}

export function choice<const T extends string>(value: unknown, field: string, choices: readonly T[]): T | undefined {
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

/** Reads a MAC address in hexadecimal. Returns it in lower case with colons. */
export function mac(value: unknown, field: string): string | undefined {
  const given = text(value, field);
  if (given === undefined) return undefined;
  if (/^[0-9a-f]{2}([:-][0-9a-f]{2}){5}$/i.test(given)) return given.toLowerCase().replaceAll('-', ':');
  return reject(field, `is ${named(given)}, not a MAC address`);
}

/** Parses an ISO 8601 time, in UTC if it has no zone. Returns epoch milliseconds, rounded down. */
export function isoTime(value: unknown, field: string): number {
  if (typeof value !== 'string') {
    return reject(field, value === undefined || value === null ? 'is missing' : `is ${named(value)}, not a string`);
  }
  const millis = isoMillis(value);
  return millis >= 0 && millis <= maxTime
    ? millis
    : reject(field, `is ${named(value)}, not an ISO 8601 time in the years 1970 to 9999`);
}

/**
 * Parses a time in Zeek's formats: epoch seconds, epoch milliseconds or ISO 8601. Returns epoch milliseconds,
 * rounded down.
 */
export function zeekTime(value: unknown, field: string): number {
  if (typeof value !== 'number') return isoTime(value, field);
  const millis = epochMillis(value);
  return millis >= 0 && millis <= maxTime ? millis : reject(field, `is ${value}, not a time in the years 1970 to 9999`);
}

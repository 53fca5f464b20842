import { fromBase64 } from '../tlog/base64.ts';

/**
 * JSON with exact integers. `JSON.parse` rounds integers beyond 2^53, and a signature does not verify over a
 * rounded timestamp. Integers in canonical decimal form of at most 31 digits become bigints. Longer integers, and
 * numbers in any other notation (`1e3`, `1.0`, `-0`), stay doubles, which the readers below reject as integers.
 */
export type Exact = null | boolean | number | bigint | string | Exact[] | { [name: string]: Exact };

type Reviver = (key: string, value: Exact, context?: { readonly source?: string }) => Exact;

const canonicalInteger = /^(0|-?[1-9][0-9]{0,30})$/;

/** Parses JSON; undefined if the text is not valid JSON. */
export function parseExact(text: string): Exact | undefined {
  try {
    return hasSourceText ? parseWithSources(text) : parseMarked(text);
  } catch {
    return undefined;
  }
}

function parseWithSources(text: string): Exact {
  const reviver: Reviver = (_key, value, context) => {
    if (typeof value !== 'number') return value;
    return context?.source !== undefined && canonicalInteger.test(context.source) ? BigInt(context.source) : value;
  };
  return JSON.parse(text, reviver as (this: unknown, key: string, value: unknown) => unknown) as Exact;
}

/** Node 20 and older browsers do not pass the source text to a reviver. */
const hasSourceText = parseWithSources('1') === 1n;

const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/** Parses JSON portably, at several times the cost: marks strings and integers with a type prefix before parsing. */
export function parseMarked(text: string): Exact {
  JSON.parse(text);
  const marked = text.replaceAll(stringOrNumber, (token) => {
    if (token.startsWith('"')) return `"s${token.slice(1)}`;
    return canonicalInteger.test(token) ? `"i${token}"` : token;
  });
  return unmarked(JSON.parse(marked));
}

function unmarked(value: unknown): Exact {
  if (typeof value === 'string') return value.startsWith('i') ? BigInt(value.slice(1)) : value.slice(1);
  if (Array.isArray(value)) return value.map(unmarked);
  if (typeof value !== 'object' || value === null) return value as Exact;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name.slice(1), unmarked(one)]));
}

/** Returns the members of an object; undefined for any other value. */
export function members(value: Exact | undefined): Readonly<Record<string, Exact | undefined>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

/** Reads a size or an index: an integer from 0 to 2^53 − 1; undefined for any other value. */
export function safeInteger(value: Exact | undefined): number | undefined {
  return typeof value === 'bigint' && value >= 0n && value <= BigInt(Number.MAX_SAFE_INTEGER)
    ? Number(value)
    : undefined;
}

export function string(value: Exact | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Reads exactly `length` bytes of hex digits in either case; undefined for any other value. */
export function hex(value: Exact | undefined, length: number): Uint8Array<ArrayBuffer> | undefined {
  if (typeof value !== 'string' || value.length !== 2 * length || !/^[0-9a-fA-F]*$/.test(value)) return undefined;
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = Number.parseInt(value.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}

/** Reads base64 with padding; undefined unless it is the canonical encoding. */
export function base64(value: Exact | undefined): Uint8Array<ArrayBuffer> | undefined {
  return typeof value === 'string' ? fromBase64(value) : undefined;
}

/** Reads base64url without padding; undefined unless it is the canonical encoding. */
export function base64url(value: Exact | undefined): Uint8Array<ArrayBuffer> | undefined {
  if (typeof value !== 'string' || !/^[A-Za-z0-9_-]*$/.test(value)) return undefined;
  const plain = value.replaceAll('-', '+').replaceAll('_', '/');
  return base64(plain.padEnd(Math.ceil(plain.length / 4) * 4, '='));
}

export const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

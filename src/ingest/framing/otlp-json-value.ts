import { limits } from '../../limits.ts';
import { isObject, type JsonObject } from '../fields.ts';
import { reject } from '../rejection.ts';
import { integer, reasons, setMember } from './otlp-record.ts';

/** Maximum nesting of brackets in a parsed value. Each level has at most four brackets. */
export const maxBrackets = 4 * (limits.maxNesting + 2);

/** Converts key-value pairs of OTLP's JSON to an object. If `pairs` is null or absent, the object is empty. */
export function jsonMembers(pairs: unknown, depth: number): JsonObject {
  const object: Record<string, unknown> = {};
  for (const pair of listOf(pairs)) {
    if (!isObject(pair)) return reject('json', 'has a key-value pair that is not an object');
    const key = pair.key ?? '';
    if (typeof key !== 'string') return reject('json', 'has a key that is not a string');
    setMember(object, key, jsonValue(pair.value, depth));
  }
  return object;
}

/** Visits key-value pairs with their text values. For a value of another type, the text is undefined. */
export function eachText(pairs: unknown, visit: (key: unknown, text: string | undefined) => void): void {
  for (const pair of listOf(pairs)) {
    if (!isObject(pair)) return reject('json', 'has a key-value pair that is not an object');
    const text = isObject(pair.value) ? pair.value.stringValue : undefined;
    visit(pair.key, typeof text === 'string' ? text : undefined);
  }
}

/** Converts an AnyValue of OTLP's JSON, with the same results as `anyValue`. */
function jsonValue(value: unknown, depth: number): unknown {
  let found: unknown = null;
  if (value === undefined || value === null) return found;
  if (!isObject(value)) return reject('json', 'has a value that is not an object');
  for (const name in value) {
    const inner = value[name];
    if (inner === null || inner === undefined) continue;
    const read = Object.hasOwn(readers, name) ? readers[name] : undefined;
    if (read !== undefined) found = read(inner, depth);
  }
  return found;
}

const readers: Readonly<Record<string, (value: unknown, depth: number) => unknown>> = {
  stringValue: (value) => (typeof value === 'string' ? value : wrong('stringValue')),
  boolValue: (value) => (typeof value === 'boolean' ? value : wrong('boolValue')),
  intValue: integerOf,
  doubleValue: doubleOf,
  bytesValue: (value) => (typeof value === 'string' ? value : wrong('bytesValue')),
  arrayValue(value, depth) {
    if (!isObject(value)) return wrong('arrayValue');
    const inside = deeper(depth);
    return listOf(value.values).map((element) => jsonValue(element, inside));
  },
  kvlistValue: (value, depth) => (isObject(value) ? jsonMembers(value.values, deeper(depth)) : wrong('kvlistValue')),
};

function integerOf(value: unknown): number | string {
  if (Number.isSafeInteger(value)) return value as number;
  if (typeof value === 'string' && /^-?\d{1,19}$/.test(value)) return integer(BigInt(value));
  // Integers above 2^53 have already lost digits in the double.
  return Number.isInteger(value) ? (value as number) : wrong('intValue');
}

function doubleOf(value: unknown): number {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' ? number : wrong('doubleValue');
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : reject('json', 'has a list that is not a JSON array');
}

function deeper(depth: number): number {
  return depth < limits.maxNesting ? depth + 1 : reject('json', reasons.tooDeep);
}

function wrong(name: string): never {
  return reject('json', `has an invalid ${name}`);
}

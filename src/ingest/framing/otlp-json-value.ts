import { limits } from '../../limits.ts';
import { isObject, type JsonObject } from '../fields.ts';
import { reject } from '../rejection.ts';
import { integer, reasons, setMember } from './otlp-record.ts';

/** How deep brackets nest in a value that is parsed: a list in a list has four. */
export const maxBrackets = 4 * (limits.maxNesting + 2);

/** Key-value pairs as OTLP has them in JSON, as an object. What is null or absent is an empty list. */
export function jsonMembers(pairs: unknown, depth: number): JsonObject {
  const object: Record<string, unknown> = {};
  for (const pair of listOf(pairs)) {
    if (!isObject(pair)) return reject('json', 'has a key-value pair that is no object');
    const key = pair.key ?? '';
    if (typeof key !== 'string') return reject('json', 'has a key that is no text');
    setMember(object, key, jsonValue(pair.value, depth));
  }
  return object;
}

/** Visits key-value pairs with the text that is the value of each; undefined for values of other types. */
export function eachText(pairs: unknown, visit: (key: unknown, text: string | undefined) => void): void {
  for (const pair of listOf(pairs)) {
    if (!isObject(pair)) return reject('json', 'has a key-value pair that is no object');
    const text = isObject(pair.value) ? pair.value.stringValue : undefined;
    visit(pair.key, typeof text === 'string' ? text : undefined);
  }
}

/** An AnyValue as OTLP has it in JSON, as what it says, just as `anyValue` reads it. */
function jsonValue(value: unknown, depth: number): unknown {
  let found: unknown = null;
  if (value === undefined || value === null) return found;
  if (!isObject(value)) return reject('json', 'has a value that is no object');
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
  kvlistValue: (value, depth) =>
    isObject(value) ? jsonMembers(value.values, deeper(depth)) : wrong('kvlistValue'),
};

function integerOf(value: unknown): number | string {
  if (Number.isSafeInteger(value)) return value as number;
  if (typeof value === 'string' && /^-?\d{1,19}$/.test(value)) return integer(BigInt(value));
  // Past 2^53 the double is what was left of it.
  return Number.isInteger(value) ? (value as number) : wrong('intValue');
}

function doubleOf(value: unknown): number {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' ? number : wrong('doubleValue');
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : reject('json', 'has a list that is no array');
}

function deeper(depth: number): number {
  return depth < limits.maxNesting ? depth + 1 : reject('json', reasons.tooDeep);
}

function wrong(name: string): never {
  return reject('json', `has a ${name} that is none`);
}

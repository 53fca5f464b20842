import { isObject, type JsonObject } from './fields.ts';

/*
 * Elastic Common Schema documents write `source.ip` as nested objects, as names with dots, or as a mixture;
 * these forms are equivalent. A list of one value is equivalent to the value, and a number to its text, because
 * Elasticsearch accepts both for a field (elastic.co/guide/en/ecs, "Conventions").
 */

/**
 * Maximum parts of a name that is converted to nested objects. Names of ECS and of Beats have up to six parts.
 * Longer names, which could nest without limit, keep their dots.
 */
const mostParts = 8;
const longestName = 200;

/**
 * Returns the document with nested objects instead of dotted names at every level: the given object if it has
 * no dotted names, otherwise a copy. If a name occurs twice, the first value is used. If a name is both a value
 * and an object, the dots stay.
 */
export function nested(document: JsonObject): JsonObject {
  return hasDots(document) ? expanded(document) : document;
}

function hasDots(object: JsonObject): boolean {
  for (const name in object) {
    if (name.includes('.')) return true;
    const value = object[name];
    if (isObject(value) && hasDots(value)) return true;
  }
  return false;
}

type Own = Record<string, unknown>;

/** Creates an object without a prototype, so that every name is an ordinary key. */
function emptyObject(): Own {
  return Object.create(null) as Own;
}

function expanded(object: JsonObject): Own {
  const own = emptyObject();
  for (const name in object) {
    const value = object[name];
    put(own, name, isObject(value) ? expanded(value) : value);
  }
  return own;
}

function put(own: Own, name: string, value: unknown): void {
  const parts = name.length <= longestName ? name.split('.') : [name];
  if (parts.length > mostParts || parts.includes('')) return set(own, name, value);
  const last = parts.pop() as string;
  let holder = own;
  for (const part of parts) {
    if (holder[part] === undefined) holder[part] = emptyObject();
    const inside = holder[part];
    if (!isObject(inside)) return set(own, name, value);
    holder = inside as Own;
  }
  set(holder, last, value);
}

function set(own: Own, name: string, value: unknown): void {
  const there = own[name];
  if (there === undefined) own[name] = value;
  else if (isObject(there) && isObject(value)) {
    for (const inner in value) set(there as Own, inner, value[inner]);
  }
}

/** Returns a function that reads a name with dots from a nested document. */
export function field(name: string): (document: JsonObject) => unknown {
  const steps = name.split('.');
  return (document) => {
    let value: unknown = document;
    for (const step of steps) {
      if (!isObject(value)) return undefined;
      value = value[step];
    }
    return value ?? undefined;
  };
}

/**
 * Returns the value of a list with one value, and undefined for an empty list. Returns other values unchanged.
 */
export function single(value: unknown): unknown {
  return Array.isArray(value) && value.length <= 1 ? (value[0] ?? undefined) : value;
}

/** Converts a number in text form. Returns other values as `single` does; the reader of the field rejects them. */
export function numeric(value: unknown): unknown {
  const one = single(value);
  return typeof one === 'string' && /^\d{1,20}(\.\d{1,20})?$/.test(one) ? Number(one) : one;
}

/** Returns all values of a field that is a single value or a list. */
export function values(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

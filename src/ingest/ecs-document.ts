import { isObject, type JsonObject } from './fields.ts';

/*
 * Documents of the Elastic Common Schema say `source.ip` as objects within objects, with dots in names, or as a mixture,
 * and mean the same; a list of one value and the value are the same, too, and so are a number and its text, as
 * Elasticsearch takes either for a field (elastic.co/guide/en/ecs, "Conventions").
 */

/** Names of ECS and of what Beats add have up to six parts. Longer ones, which could nest without end, stay as they are. */
const mostParts = 8;
const longestName = 200;

/**
 * The document with objects instead of dots, however deep they are: the same object where there are none, else a copy. Where
 * a name is said twice, the first counts; where it is both a value and an object, the dots stay.
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

/** Without a prototype: whatever names come are names like others. */
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

/** Reads a name with dots in a nested document. */
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

/** The one value of a list that has one. */
export function single(value: unknown): unknown {
  return Array.isArray(value) && value.length <= 1 ? (value[0] ?? undefined) : value;
}

/** A number that may have come as a text; anything else as it is, for whoever reads it to refuse. */
export function numeric(value: unknown): unknown {
  const one = single(value);
  return typeof one === 'string' && /^\d{1,20}(\.\d{1,20})?$/.test(one) ? Number(one) : one;
}

/** All values of a field, be it one or a list. */
export function values(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

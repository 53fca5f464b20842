import { type Accessor, isObject, type JsonObject } from '../record.ts';

/**
 * Reads a Zeek field in any notation: `id.orig_h` (Zeek's own), `id_orig_h` (for streams without dots in
 * names) or `id: {orig_h}` (nested). The same applies to `certificate.serial`.
 */
export function zeekPath(name: string): Accessor {
  const dot = name.indexOf('.');
  if (dot < 0) return own(name);
  const underscored = own(name.replaceAll('.', '_'));
  const outer = own(name.slice(0, dot));
  const nested = nestedPath(name);
  return (record) => {
    const value = record[name] ?? underscored(record);
    if (value !== undefined && value !== null) return value;
    return outer(record) === undefined ? undefined : nested(record);
  };
}

/** Reads a path such as `dns.answers.rdata` in nested objects, and in every element of lists on the path. */
export function nestedPath(path: string): Accessor {
  const steps = path.split('.').map(own);
  const [only, ...more] = steps;
  if (more.length === 0) return only!;
  return (record) => walk(record, steps, 0);
}

function walk(value: unknown, steps: readonly Accessor[], at: number): unknown {
  if (at === steps.length) return value;
  if (isObject(value)) return walk(steps[at]!(value), steps, at + 1);
  if (!Array.isArray(value)) return undefined;
  const found = value.flatMap((element: unknown) => {
    const inside = isObject(element) ? walk(element, steps, at) : undefined;
    return inside === undefined ? [] : [inside];
  });
  return found.length === 0 ? undefined : found.flat();
}

/**
 * Reads an own property. Inherited properties of objects are not fields, so names of inherited properties need a
 * slower look-up.
 */
function own(name: string): Accessor {
  if (name in Object.prototype) return (record) => (Object.hasOwn(record, name) ? record[name] : undefined);
  return (record) => record[name];
}

/** Reads the first field that the record has. */
export function firstOf(...accessors: readonly Accessor[]): Accessor {
  return (record) => {
    for (const read of accessors) {
      const value = read(record);
      if (value !== undefined && value !== null) return value;
    }
    return undefined;
  };
}

/**
 * Reads all fields that the record has, for example a name and a number with one meaning, because a rule may
 * use either.
 */
export function allOf(...accessors: readonly Accessor[]): Accessor {
  return (record: JsonObject) => {
    const values: unknown[] = [];
    for (const read of accessors) {
      const value = read(record);
      if (Array.isArray(value)) for (const one of value) values.push(one);
      else if (value !== undefined && value !== null) values.push(value);
    }
    return values.length === 0 ? undefined : values;
  };
}

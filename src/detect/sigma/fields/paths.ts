import { type Accessor, isObject, type JsonObject } from '../record.ts';

/**
 * Reads a name of Zeek's in whichever dialect: `id.orig_h` (its own), `id_orig_h` (streams that cannot have dots in
 * names) or `id: {orig_h}` (dots unfolded). `certificate.serial` likewise.
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

/** Reads `dns.answers.rdata` in objects within objects; of lists on the way, every element. */
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

/** What every object has without anyone putting it there is no field: only these few names need the slower look. */
function own(name: string): Accessor {
  if (name in Object.prototype) return (record) => (Object.hasOwn(record, name) ? record[name] : undefined);
  return (record) => record[name];
}

/** The first that the record has. */
export function firstOf(...accessors: readonly Accessor[]): Accessor {
  return (record) => {
    for (const read of accessors) {
      const value = read(record);
      if (value !== undefined && value !== null) return value;
    }
    return undefined;
  };
}

/** All that the record has: a name and a number for one thing, either of which a rule may say. */
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

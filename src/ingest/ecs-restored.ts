import { field, numeric, single } from './ecs-document.ts';
import { isObject, type JsonObject } from './fields.ts';
import { Rejection } from './rejection.ts';

/** What Elastic's modules for a sensor have moved: a field by the sensor's name and by those that it may have in ECS. */
export interface Moved {
  readonly raw: string;
  /** What is before and after the first dot of it; all before, where it has none. */
  readonly outer: string;
  readonly inner: string;
  readonly names: readonly string[];
  readonly read: (document: JsonObject) => unknown;
}

/** A field that is taken back as it is. */
export const moved = (raw: string, ...names: string[]): Moved => made(raw, names, single);

/** A field that is a number with the sensor, and may have become a text. */
export const movedNumber = (raw: string, ...names: string[]): Moved => made(raw, names, numeric);

/** A field that is made of others' values; `make` is not asked where there is none. */
export function made(raw: string, names: readonly string[], make: (value: unknown) => unknown): Moved {
  const places = names.map(field);
  const dot = raw.indexOf('.');
  return {
    raw,
    outer: dot < 0 ? raw : raw.slice(0, dot),
    inner: dot < 0 ? '' : raw.slice(dot + 1),
    names,
    read: (document) => {
      for (const place of places) {
        const value = place(document);
        if (value !== undefined) return make(value);
      }
      return undefined;
    },
  };
}

/**
 * The sensor's own record, of what the modules have left under its name and what they have moved. A raw name with a dot is
 * a path where `objects` says so (EVE), else a name (Zeek). What was left where it was is nearer to the sensor, and counts.
 */
export function restored(
  document: JsonObject,
  left: JsonObject,
  all: readonly Moved[],
  objects: boolean,
): Record<string, unknown> {
  const record: Record<string, unknown> = { ...left };
  for (const { raw, outer, inner, read } of all) {
    if (!objects || inner === '') {
      if (record[raw] === undefined || record[raw] === null) record[raw] = read(document);
      continue;
    }
    const there = record[outer];
    if (isObject(there) && there[inner] !== undefined && there[inner] !== null) continue;
    const value = read(document);
    if (value === undefined || (there !== undefined && !isObject(there))) continue;
    // The document's own objects are not this record's to change.
    if (there === undefined || there === left[outer]) record[outer] = { ...there };
    (record[outer] as Record<string, unknown>)[inner] = value;
  }
  return record;
}

/** Reads a restored record; what is wrong with it is named as the document has it. */
export function reading<T>(read: () => T, document: JsonObject, under: string, all: readonly Moved[]): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Rejection) || error.field === 'line') throw error;
    throw new Rejection(nameOf(error.field, document, under, all), error.reason);
  }
}

function nameOf(raw: string, document: JsonObject, under: string, all: readonly Moved[]): string {
  const there = `${under}.${raw}`;
  if (field(there)(document) !== undefined) return there;
  const names = all
    .filter((one) => raw === one.raw || raw.startsWith(`${one.raw}.`))
    .flatMap((one) => one.names);
  return names.find((name) => field(name)(document) !== undefined) ?? names[0] ?? there;
}

import { field, numeric, single } from './ecs-document.ts';
import { isObject, type JsonObject } from './fields.ts';
import { Rejection } from './rejection.ts';

/** A field that Elastic's modules for a sensor moved to another name. */
export interface Moved {
  readonly raw: string;
  /** The part of `raw` before the first dot. */
  readonly outer: string;
  /** The part of `raw` after the first dot. */
  readonly inner: string;
  readonly names: readonly string[];
  readonly read: (document: JsonObject) => unknown;
}

/** Describes a field that is restored unchanged, except that a list of one value becomes the value. */
export const moved = (raw: string, ...names: string[]): Moved => made(raw, names, single);

/** Describes a field that is a number in the sensor's record, and may have become a text. */
export const movedNumber = (raw: string, ...names: string[]): Moved => made(raw, names, numeric);

/**
 * Describes a field that is computed from the first of `names` that is present. `make` is not called without such a
 * field.
 */
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
 * Restores the sensor's own record from the fields that the modules left under the sensor's name and the fields
 * that the modules moved. A raw name with a dot is a path if `objects` is set (EVE), otherwise a name (Zeek). A
 * field that was not moved takes precedence, as it is closer to the sensor.
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
    // The document's own objects must not be modified.
    if (there === undefined || there === left[outer]) record[outer] = { ...there };
    (record[outer] as Record<string, unknown>)[inner] = value;
  }
  return record;
}

/** Reads a restored record. Rejections name fields as in the document. */
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
  const names = all.filter((one) => raw === one.raw || raw.startsWith(`${one.raw}.`)).flatMap((one) => one.names);
  return names.find((name) => field(name)(document) !== undefined) ?? names[0] ?? there;
}

import { invalidField } from '../../errors.ts';
import type { FilterTerm } from './filter.ts';

/** Values of filters, from JSON or query parameters. Readers throw INVALID_REQUEST with the field. */
export type Values = FilterTerm['values'];

export function texts(field: string, values: Values): string[] {
  return values.map((value) => {
    if (typeof value !== 'string') throw invalidField(field, 'must be a string');
    return value;
  });
}

const decimal = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

export function number(field: string, value: string | number | boolean): number {
  const result = typeof value === 'string' && decimal.test(value) ? Number(value) : value;
  if (typeof result !== 'number' || !Number.isFinite(result)) throw invalidField(field, 'must be a number');
  return result;
}

const isoTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/;

export function time(field: string, value: string | number | boolean): number {
  const result =
    typeof value === 'string'
      ? isoTime.test(value)
        ? Date.parse(value)
        : decimal.test(value)
          ? Number(value)
          : Number.NaN
      : value;
  if (typeof result !== 'number' || !Number.isFinite(result)) {
    throw invalidField(field, 'must be an ISO 8601 time or epoch milliseconds');
  }
  return result;
}

export function flag(field: string, value: string | number | boolean): number {
  if (value === true || value === 'true') return 1;
  if (value === false || value === 'false') return 0;
  throw invalidField(field, 'must be true or false');
}

export function place(field: string, value: string, list: readonly string[]): number {
  const found = list.indexOf(value);
  if (found < 0) throw invalidField(field, `must be one of ${list.join(', ')}`);
  return found;
}

import { type Format, formats } from '../../contract/formats.ts';
import type { FilterField } from './filters.ts';

export type ReadValues = { readonly values: readonly string[] } | { readonly fault: string };

/**
 * Parses the text typed as a filter value: one value or, if values cannot contain commas or spaces, several values with
 * these separators. Values are validated as in the service, so that invalid values never reach the URL.
 */
export function readValues(field: FilterField, text: string): ReadValues {
  const trimmed = text.trim();
  const isText = field.values === undefined && field.format === undefined && !field.isNumber;
  const values = isText ? [trimmed] : trimmed.split(/[\s,]+/);
  for (const value of values) {
    const fault = faultOf(field, value);
    if (fault !== undefined) return { fault: values.length === 1 ? fault : `${value}: ${fault}` };
  }
  return { values: [...new Set(values)] };
}

function faultOf(field: FilterField, value: string): string | undefined {
  if (value === '') return 'is required';
  if (field.values !== undefined)
    return field.values.includes(value) ? undefined : `must be one of ${field.values.join(', ')}`;
  if (field.isNumber) return faultOfNumber(field, value);
  const format = field.format as Format | undefined;
  if (format === undefined || !Object.hasOwn(formats, format)) return undefined;
  return formats[format].test(value) ? undefined : formats[format].reason;
}

function faultOfNumber({ isInteger, minimum, maximum }: FilterField, value: string): string | undefined {
  const number = Number(value);
  if (!Number.isFinite(number) || (isInteger && !Number.isInteger(number)))
    return `must be a ${isInteger ? 'whole ' : ''}number`;
  if (minimum !== undefined && number < minimum) return `must be at least ${minimum}`;
  if (maximum !== undefined && number > maximum) return `must be at most ${maximum}`;
  return undefined;
}

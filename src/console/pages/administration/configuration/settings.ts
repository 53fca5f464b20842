import type { Config } from '../../../../contract/resources/config.ts';
import { bytes, duration, number } from '../../../ui/numbers.ts';

/** Formatting and parsing of settings. */

type Described = Config['settings'][number];

/** The part of JSON Schema that describes settings. */
export interface SettingSchema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly items?: SettingSchema;
}

export interface Setting extends Omit<Described, 'schema'> {
  readonly schema: SettingSchema;
  /** The effective value; undefined if absent or secret. */
  readonly active: unknown;
  /** The value after the next restart: null if the setting is then absent, undefined if it does not change. */
  readonly pending: unknown;
}

/** Returns all settings with their values, in the order of the service. */
export const settingsOf = ({ settings, active, pending }: Config): Setting[] =>
  settings.map((one) => ({
    ...one,
    schema: one.schema as SettingSchema,
    active: active[one.name],
    pending: pending[one.name],
  }));

/** Returns the group of a setting: the part of its name before the first dot. Empty for a name without a dot. */
export const groupOf = ({ name }: Pick<Setting, 'name'>): string =>
  name.includes('.') ? name.slice(0, name.indexOf('.')) : '';

export type Input = 'flag' | 'choice' | 'choices' | 'integer' | 'text' | 'list' | 'json';

export function inputOf({ type, enum: values, items }: SettingSchema): Input {
  if (type === 'boolean') return 'flag';
  if (type === 'integer' || type === 'number') return 'integer';
  if (type === 'array') return items?.enum !== undefined ? 'choices' : items?.type === 'string' ? 'list' : 'json';
  if (type === 'string') return values !== undefined ? 'choice' : 'text';
  return 'json';
}

/** Returns the text that an input shows for a value; empty if the value is absent. */
export function draftOf(input: Input, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (input === 'list' || input === 'choices') return Array.isArray(value) ? value.join('\n') : '';
  return input === 'json' ? JSON.stringify(value, undefined, 2) : String(value);
}

/** Parses the text of an input. Only the service validates ranges and formats. */
export function readDraft(input: Input, draft: string): { readonly value: unknown } | { readonly fault: string } {
  const text = draft.trim();
  switch (input) {
    case 'flag':
      return { value: text === 'true' };
    case 'integer':
      return /^-?\d+$/.test(text.replaceAll(/[,_ ]/g, ''))
        ? { value: Number(text.replaceAll(/[,_ ]/g, '')) }
        : { fault: 'Must be a whole number' };
    case 'list':
    case 'choices':
      return {
        value: draft
          .split('\n')
          .map((line) => line.trim())
          .filter((line) => line !== ''),
      };
    case 'json':
      try {
        return { value: JSON.parse(text) };
      } catch (error) {
        return { fault: `Invalid JSON: ${error instanceof Error ? error.message : String(error)}` };
      }
    case 'choice':
    case 'text':
      return { value: text };
  }
}

/** Formats a value on one line. */
export function shown(value: unknown): string {
  if (value === undefined || value === null) return 'absent';
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(String).join(', ');
  // Smaller numbers are ports, pool sizes and similar values, which are written without separators.
  if (typeof value === 'number') return value < 100_000 ? String(value) : number(value);
  if (typeof value === 'object') return Object.keys(value).length === 0 ? 'none' : JSON.stringify(value).slice(0, 500);
  return String(value);
}

/** Formats the value of a setting whose name ends with `_ms` or `_bytes`: 3,600,000 ms is `1 h`. */
export function inWords(name: string, value: unknown): string | undefined {
  if (typeof value !== 'number' || value === 0) return undefined;
  if (name.endsWith('_ms')) return duration(value);
  return name.endsWith('_bytes') ? bytes(value) : undefined;
}

/** Describes the allowed values. */
export function rangeOf(
  name: string,
  { type, minimum, maximum, items, maxItems, format, pattern, enum: values }: SettingSchema,
): string | undefined {
  if (values !== undefined) return `one of ${values.join(', ')}`;
  if (type === 'array')
    return [
      items?.enum === undefined
        ? `list${items?.format === undefined ? '' : ` of ${items.format}s`}`
        : 'any of the options',
      maxItems === undefined ? '' : `at most ${number(maxItems)}`,
    ]
      .filter(Boolean)
      .join(', ');
  if (type === 'integer' && minimum !== undefined && maximum !== undefined) {
    const most = inWords(name, maximum);
    return `whole number from ${number(minimum)} to ${number(maximum)}${most === undefined ? '' : ` (${most})`}`;
  }
  if (type === 'boolean') return 'true or false';
  if (type === 'object') return 'JSON object';
  return [format, pattern && `matching ${pattern}`].filter(Boolean).join(', ') || undefined;
}

/** Returns the settings whose name, variable and description together contain all search terms. */
export function matching(settings: readonly Setting[], asked: string): Setting[] {
  const parts = asked.toLowerCase().split(/\s+/).filter(Boolean);
  return settings.filter(({ name, variable, description }) => {
    const text = `${name} ${variable} ${description}`.toLowerCase();
    return parts.every((part) => text.includes(part));
  });
}

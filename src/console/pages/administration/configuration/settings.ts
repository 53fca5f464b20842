import type { Config } from '../../../../contract/resources/config.ts';
import { bytes, duration, number } from '../../../ui/numbers.ts';

/** Settings, as they are shown and written; pure. */

type Described = Config['settings'][number];

/** The parts of JSON Schema that settings are described by. */
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
  /** In effect; undefined where it is absent, or secret. */
  readonly active: unknown;
  /** What the next start finds instead: a value, or null for absent. Undefined where nothing changes. */
  readonly pending: unknown;
}

/** All settings with their values, in the order of the service. */
export const settingsOf = ({ settings, active, pending }: Config): Setting[] =>
  settings.map((one) => ({
    ...one,
    schema: one.schema as SettingSchema,
    active: active[one.name],
    pending: pending[one.name],
  }));

/** The group that it stands in: what comes before the first dot, or nothing. */
export const groupOf = ({ name }: Pick<Setting, 'name'>): string =>
  name.includes('.') ? name.slice(0, name.indexOf('.')) : '';

/** How it is asked for. */
export type Input = 'flag' | 'choice' | 'choices' | 'integer' | 'text' | 'list' | 'json';

export function inputOf({ type, enum: values, items }: SettingSchema): Input {
  if (type === 'boolean') return 'flag';
  if (type === 'integer' || type === 'number') return 'integer';
  if (type === 'array')
    return items?.enum !== undefined ? 'choices' : items?.type === 'string' ? 'list' : 'json';
  if (type === 'string') return values !== undefined ? 'choice' : 'text';
  return 'json';
}

/** The value as it is typed. Absent is empty. */
export function draftOf(input: Input, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (input === 'list' || input === 'choices') return Array.isArray(value) ? value.join('\n') : '';
  return input === 'json' ? JSON.stringify(value, undefined, 2) : String(value);
}

/** What was typed as the value that the service is given; what cannot be one is left for it to refuse. */
export function readDraft(
  input: Input,
  draft: string,
): { readonly value: unknown } | { readonly fault: string } {
  const text = draft.trim();
  switch (input) {
    case 'flag':
      return { value: text === 'true' };
    case 'integer':
      return /^-?\d+$/.test(text.replaceAll(/[,_ ]/g, ''))
        ? { value: Number(text.replaceAll(/[,_ ]/g, '')) }
        : { fault: 'Must be a whole number.' };
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
        return { fault: `Is no JSON: ${error instanceof Error ? error.message : String(error)}` };
      }
    case 'choice':
    case 'text':
      return { value: text };
  }
}

/** A value in a line. */
export function shown(value: unknown): string {
  if (value === undefined || value === null) return 'absent';
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(String).join(', ');
  // Short ones are ports, sizes of pools and the like, which nobody groups.
  if (typeof value === 'number') return value < 100_000 ? String(value) : number(value);
  if (typeof value === 'object')
    return Object.keys(value).length === 0 ? 'none' : JSON.stringify(value).slice(0, 500);
  return String(value);
}

/** A number as people read it, by the unit that its name ends with: `3,600,000` ms is `1 h`. */
export function inWords(name: string, value: unknown): string | undefined {
  if (typeof value !== 'number' || value === 0) return undefined;
  if (name.endsWith('_ms')) return duration(value);
  return name.endsWith('_bytes') ? bytes(value) : undefined;
}

/** What it may be. */
export function rangeOf(
  name: string,
  { type, minimum, maximum, items, maxItems, format, pattern, enum: values }: SettingSchema,
): string | undefined {
  if (values !== undefined) return `one of ${values.join(', ')}`;
  if (type === 'array')
    return [
      items?.enum === undefined
        ? `a list${items?.format === undefined ? '' : ` of ${items.format}s`}`
        : 'any of these',
      maxItems === undefined ? '' : `at most ${number(maxItems)}`,
    ]
      .filter(Boolean)
      .join(', ');
  if (type === 'integer' && minimum !== undefined && maximum !== undefined) {
    const most = inWords(name, maximum);
    return `a whole number from ${number(minimum)} to ${number(maximum)}${most === undefined ? '' : ` (${most})`}`;
  }
  if (type === 'boolean') return 'true or false';
  if (type === 'object') return 'an object, as JSON';
  return [format, pattern && `as ${pattern}`].filter(Boolean).join(', ') || undefined;
}

/** Settings of which the name, the variable or the description has all that is asked for. */
export function matching(settings: readonly Setting[], asked: string): Setting[] {
  const parts = asked.toLowerCase().split(/\s+/).filter(Boolean);
  return settings.filter(({ name, variable, description }) => {
    const text = `${name} ${variable} ${description}`.toLowerCase();
    return parts.every((part) => text.includes(part));
  });
}

import { limits } from '../../limits.ts';
import { base64, base64Offsets, latin1, utf8, utf16, utf16WithMark } from './encodings.ts';
import { refuse, shown } from './fault.ts';
import { dashes } from './fold.ts';
import type { MomentPart } from './moment.ts';
import { literalOf, parsePattern, type Token, widened } from './pattern.ts';

/** Modifiers that compare numbers. */
export const comparisons = ['lt', 'lte', 'gt', 'gte'] as const;
export type Comparison = (typeof comparisons)[number];

/** A value while modifiers are applied. */
export type Value =
  | {
      readonly type: 'text';
      readonly source: string;
      readonly tokens: readonly Token[];
      readonly cased: boolean;
      readonly windash: boolean;
    }
  | { readonly type: 'bytes'; readonly bytes: Uint8Array }
  | { readonly type: 'number'; readonly number: number }
  | { readonly type: 'boolean'; readonly boolean: boolean }
  | { readonly type: 'null' }
  | { readonly type: 'exists'; readonly wanted: boolean }
  | {
      readonly type: 'comparison';
      readonly how: Comparison | 'eq';
      readonly number: number;
      readonly part?: MomentPart;
    }
  | {
      readonly type: 'regex';
      readonly source: string;
      readonly i: boolean;
      readonly m: boolean;
      readonly s: boolean;
    }
  | { readonly type: 'cidr'; readonly block: string }
  | {
      readonly type: 'field';
      readonly name: string;
      readonly before: boolean;
      readonly after: boolean;
      readonly cased: boolean;
    };

type TypeName = Value['type'];
type Of<T extends TypeName> = Extract<Value, { readonly type: T }>;

/** Defines the accepted types of a modifier, and its result for a value. */
interface Row<T extends TypeName> {
  readonly takes: readonly T[];
  /** True if the modifier uses the value as written: only `expand` may precede it. */
  readonly first?: true;
  readonly apply: (value: Of<T>) => Value | readonly Value[];
}

const row = <T extends TypeName>(takes: readonly T[], apply: Row<T>['apply'], first?: true): Row<T> =>
  first === undefined ? { takes, apply } : { takes, apply, first };

const widen = (before: boolean, after: boolean) =>
  row(['text', 'bytes', 'field'], (value) => {
    if (value.type === 'field') return { ...value, before, after };
    const text = value.type === 'bytes' ? textOf(latin1(value.bytes)) : value;
    return { ...text, tokens: widened(text.tokens, before, after) };
  });

const compare = (how: Comparison) =>
  row(['number', 'comparison'], (value): Value => {
    if (value.type === 'number') return { type: 'comparison', how, number: value.number };
    return value.how === 'eq' ? { ...value, how } : refuse(`compares by ${value.how} and by ${how}`);
  });

const part = (name: MomentPart) =>
  row(['number'], ({ number }) => ({ type: 'comparison', how: 'eq', number, part: name }), true);

const encode = (bytes: (text: string) => Uint8Array) =>
  row(['text'], (value) => plainTexts(value).map((text): Value => ({ type: 'bytes', bytes: bytes(text) })));

const flag = (name: 'i' | 'm' | 's') => row(['regex'], (value) => ({ ...value, [name]: true }));

/**
 * Every modifier of Sigma 2.1.0 that changes a value. `all` and `neq`, which combine values, and `expand`, which is
 * applied before all other modifiers, are in item.ts.
 */
const table = {
  contains: widen(true, true),
  startswith: widen(false, true),
  endswith: widen(true, false),
  exists: row(['boolean'], ({ boolean }) => ({ type: 'exists', wanted: boolean }), true),
  cased: row(['text', 'field'], (value) => ({ ...value, cased: true })),
  windash: row(['text'], (value) => ({ ...value, windash: true })),
  re: row(['text'], ({ source }) => ({ type: 'regex', source, i: false, m: false, s: false }), true),
  i: flag('i'),
  m: flag('m'),
  s: flag('s'),
  base64: row(['text', 'bytes'], (value) => bytesOf(value).map((bytes) => textOf(base64(bytes)))),
  base64offset: row(['text', 'bytes'], (value) => bytesOf(value).flatMap(offsets)),
  utf16le: encode((text) => utf16(text, true)),
  wide: encode((text) => utf16(text, true)),
  utf16be: encode((text) => utf16(text, false)),
  utf16: encode(utf16WithMark),
  lt: compare('lt'),
  lte: compare('lte'),
  gt: compare('gt'),
  gte: compare('gte'),
  minute: part('minute'),
  hour: part('hour'),
  day: part('day'),
  week: part('week'),
  month: part('month'),
  year: part('year'),
  cidr: row(['text'], ({ source }) => ({ type: 'cidr', block: source }), true),
  fieldref: row(
    ['text'],
    ({ source }) => ({ type: 'field', name: source, before: false, after: false, cased: false }),
    true,
  ),
} as const satisfies Record<MomentPart | Comparison, unknown> & Record<string, unknown>;

/** The modifiers with loose types, for look-ups by names and values from rules. */
const rows: ReadonlyMap<string, Row<TypeName>> = new Map(
  Object.entries(table as unknown as Record<string, Row<TypeName>>),
);

export const valueModifiers: readonly string[] = Object.keys(table);

/**
 * Applies modifiers to a value. Returns several values if there are alternatives.
 *
 * @param modifiers - names of modifiers in `table`, in order
 * @throws RuleError with the reason for a modifier that cannot be applied
 */
export function applyModifiers(
  value: string | number | boolean | null,
  modifiers: readonly string[],
): readonly Value[] {
  let values: readonly Value[] = [initial(value)];
  modifiers.forEach((name, index) => {
    const { takes, first, apply } = rows.get(name) ?? refuse(`has the unknown modifier ${shown(name)}`);
    if (first && index > 0) refuse(`has ${name} after ${modifiers[index - 1]}: it must be the first modifier`);
    if (modifiers.indexOf(name) < index) refuse(`has ${name} twice`);
    values = values.flatMap((one) => {
      const given = takes.includes('text') && !takes.includes('number') ? numbersAsTexts(one) : one;
      if (!takes.includes(given.type)) refuse(`has ${name} for ${named(one, value)}; ${name} takes ${list(takes)}`);
      return apply(given);
    });
  });
  return values.map((one) => (one.type === 'bytes' ? textOf(latin1(one.bytes)) : one));
}

function initial(value: string | number | boolean | null): Value {
  if (value === null) return { type: 'null' };
  if (typeof value === 'number') return { type: 'number', number: value };
  if (typeof value === 'boolean') return { type: 'boolean', boolean: value };
  return { type: 'text', source: value, tokens: parsePattern(value), cased: false, windash: false };
}

/** Converts unquoted numbers to texts, for text modifiers. */
function numbersAsTexts(value: Value): Value {
  return value.type === 'number' ? textOf(String(value.number)) : value;
}

function textOf(text: string): Of<'text'> {
  return { type: 'text', source: text, tokens: text === '' ? [] : [text], cased: false, windash: false };
}

/**
 * Returns the texts to encode. Encodings do not support wildcards; `windash` gives all variants of dashes.
 */
function plainTexts({ tokens, windash }: Of<'text'>): readonly string[] {
  const text = literalOf(tokens) ?? refuse('encodes a value with wildcards: apply contains after the encoding instead');
  if (!windash) return [text];
  let texts = [''];
  for (const char of text) {
    const ways = (dashes as readonly string[]).includes(char) ? dashes : [char];
    texts = texts.flatMap((start) => ways.map((way) => start + way));
    if (texts.length > limits.maxSigmaExpandedValues)
      refuse(`encodes a value with more than ${limits.maxSigmaExpandedValues} windash variants`);
  }
  return texts;
}

function bytesOf(value: Of<'text' | 'bytes'>): readonly Uint8Array[] {
  return value.type === 'bytes' ? [value.bytes] : plainTexts(value).map(utf8);
}

function offsets(bytes: Uint8Array): readonly Value[] {
  return base64Offsets(bytes).map((text) =>
    text === '' ? refuse('encodes a value that is too short to be found in Base64') : textOf(text),
  );
}

const typeNames: Readonly<Record<TypeName, string>> = {
  text: 'a text',
  bytes: 'an encoded text',
  number: 'a number',
  boolean: 'true or false',
  null: 'null',
  exists: 'an existence check',
  comparison: 'a comparison of numbers',
  regex: 'a regular expression',
  cidr: 'a CIDR block',
  field: 'the name of a field',
};

const named = (value: Value, given: unknown): string => `${typeNames[value.type]} (${shown(given)})`;

const list = (types: readonly TypeName[]): string => types.map((type) => typeNames[type]).join(' or ');

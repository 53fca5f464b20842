import { limits } from '../../limits.ts';
import { Blocks } from './cidr.ts';
import type { Scalar, SearchItem } from './document.ts';
import { reasonOr, refuse, shown } from './fault.ts';
import { fold, foldDashes } from './fold.ts';
import { applyModifiers, type Comparison, type Value, valueModifiers } from './modifiers.ts';
import type { MomentPart } from './moment.ts';
import { literalOf, mapLiterals, patternMatcher, patternSource, type Token, widened } from './pattern.ts';
import { Automaton } from './regex/automaton.ts';
import { parseRegex } from './regex/parse-regex.ts';
import { compileRegex } from './regex/program.ts';
import { requiredLiterals } from './regex/required-literals.ts';

/** In which form a test wants the texts of a field: as they are, with case or dashes folded, or both. */
export const views = ['raw', 'folded', 'raw dashes', 'folded dashes'] as const;
export type View = (typeof views)[number];

/** A text of which it is sure that it is in what a test matches, with case folded. */
export interface Literal {
  readonly text: string;
  readonly where: 'whole' | 'start' | 'end' | 'anywhere';
}

/** What one value asks a field. */
export type Test =
  | {
      readonly kind: 'text';
      readonly view: View;
      /** What it looks for: the same for tests of a view that match the same. */
      readonly source: string;
      /** The automaton of a regular expression, from which its cost is measured. */
      readonly regex: Pick<Automaton, 'states' | 'workPerCharacter'> | undefined;
      readonly matches: (text: string) => boolean;
      /** All that it matches, where that is one text; in the form of the view. */
      readonly exact?: string;
      /** One of them is in every text that matches; undefined where nothing is sure. */
      readonly literals: readonly Literal[] | undefined;
    }
  | { readonly kind: 'blocks'; readonly blocks: Blocks }
  | { readonly kind: 'number'; readonly source: string; readonly matches: (value: number) => boolean }
  | {
      readonly kind: 'moment';
      readonly part: MomentPart;
      readonly source: string;
      readonly matches: (value: number) => boolean;
    }
  | { readonly kind: 'null' }
  | { readonly kind: 'exists'; readonly wanted: boolean }
  | {
      readonly kind: 'field';
      readonly name: string;
      readonly cased: boolean;
      readonly source: string;
      readonly matches: (text: string, other: string) => boolean;
    };

/** A field with its tests, apart from any kind of record. */
export interface CompiledItem {
  /** Undefined for a search in all values of the record. */
  readonly field: string | undefined;
  /** By `neq`: the field has a value, and none for which the tests hold. */
  readonly negated: boolean;
  readonly all: boolean;
  /** Of each value the ways in which it may look, of which one suffices. */
  readonly values: readonly (readonly Test[])[];
}

/**
 * What `%name%` stands for in values with the modifier `expand`. Values are replaced before any modifier is applied,
 * wherever `expand` stands among them: `cidr|expand` and `expand|cidr` mean the same.
 */
export type Placeholders = ReadonlyMap<string, readonly Scalar[]>;

/** How many values may still be added to those that are written. */
export interface Room {
  left: number;
}

/** For values that modifiers make of one: all of a text have it together. */
export const expansionRoom = (): Room => ({ left: limits.maxSigmaExpandedValues });

/** Why the item cannot be used, whatever placeholders stand for; undefined where it can. */
export function checkItem(item: SearchItem, room: Room): string | undefined {
  const expands = item.modifiers.includes('expand');
  const known = expands ? item.values.filter((value) => placeholdersIn(value).length === 0) : item.values;
  const result = reasonOr(() => {
    checkModifiers(item);
    compileValues(item, known, room);
  });
  return typeof result === 'object' ? result.reason : undefined;
}

/** @throws SigmaFault with what is wrong with it */
export function compileItem(item: SearchItem, placeholders: Placeholders): CompiledItem {
  checkModifiers(item);
  const { field, modifiers } = item;
  return {
    field,
    negated: modifiers.includes('neq'),
    all: modifiers.includes('all'),
    values: compileValues(item, expandedValues(item, placeholders)),
  };
}

/**
 * The values of an item with those that its placeholders stand for.
 *
 * @throws SigmaFault where nothing is known of one, or nothing is left
 */
function expandedValues({ modifiers, values }: SearchItem, placeholders: Placeholders): readonly Scalar[] {
  if (!modifiers.includes('expand')) return values;
  const expanded = values.flatMap((value) => expand(value, placeholders));
  if (expanded.length === 0 && values.length > 0)
    refuse(`has no value left, as ${shown(values.slice(0, 5).join(', '))} stands for nothing`);
  return expanded;
}

/** Modifiers that are not of single values. */
const ofTheItem = new Set(['all', 'neq', 'expand']);
/** What cannot be asked of a record as a whole. */
const ofFields = new Set([
  'exists',
  'fieldref',
  'neq',
  'lt',
  'lte',
  'gt',
  'gte',
  'cidr',
  'minute',
  'hour',
  'day',
  'week',
  'month',
  'year',
]);

function checkModifiers({ field, modifiers, values }: SearchItem): void {
  modifiers.forEach((name, index) => {
    if (!ofTheItem.has(name) && !valueModifiers.includes(name))
      refuse(`has the modifier ${shown(name)}, which is none`);
    if (modifiers.indexOf(name) < index) refuse(`has ${name} twice`);
    if (field === undefined && ofFields.has(name)) refuse(`has ${name} without a field`);
  });
  if (modifiers.includes('all') && values.length < 2) refuse('has all for a single value');
  if (modifiers.includes('exists') && values.length > 1) refuse('has exists with more than one value');
  if (modifiers.includes('exists') && modifiers.length > 1) refuse('has exists with other modifiers');
}

function compileValues(
  { field, modifiers }: SearchItem,
  values: readonly Scalar[],
  room: Room = expansionRoom(),
): readonly (readonly Test[])[] {
  const ofValues = modifiers.filter((name) => !ofTheItem.has(name));
  const anywhere =
    field === undefined && !['re', 'startswith', 'endswith'].some((name) => modifiers.includes(name));
  const modified = values.map((value) => {
    if (field === undefined && value === null) return refuse('looks for null in the whole record');
    const ways = applyModifiers(field === undefined ? String(value) : value, ofValues);
    room.left -= ways.length - 1;
    if (room.left < 0)
      refuse(`brings the text to more than ${limits.maxSigmaExpandedValues} values by its modifiers`);
    return ways;
  });
  const blocks = modified.flat().flatMap((value) => (value.type === 'cidr' ? [value.block] : []));
  if (blocks.length > 0 && !modifiers.includes('all')) return [[blocksTest(blocks)]];
  return modified.map((ways) => ways.map((way) => compileValue(anywhere ? inside(way) : way)));
}

/** Of several blocks one suffices, and they are asked at once: home networks may be a thousand. */
function blocksTest(blocks: readonly string[]): Test {
  return { kind: 'blocks', blocks: new Blocks(blocks) };
}

/** A keyword is looked for in the midst of texts. */
function inside(value: Value): Value {
  return value.type === 'text' ? { ...value, tokens: widened(value.tokens, true, true) } : value;
}

function compileValue(value: Value): Test {
  switch (value.type) {
    case 'text':
      return textTest(value.tokens, value.cased, value.windash);
    case 'number':
      return textTest([String(value.number)], false, false);
    case 'boolean':
      return textTest([String(value.boolean)], false, false);
    case 'regex':
      return regexTest(value);
    case 'cidr':
      return blocksTest([value.block]);
    case 'comparison': {
      const { number, part } = value;
      const source = `${value.how} ${number}`;
      const matches = comparers[value.how](number);
      return part === undefined
        ? { kind: 'number', source, matches }
        : { kind: 'moment', part, source, matches };
    }
    case 'field':
      return {
        kind: 'field',
        name: value.name,
        cased: value.cased,
        source: `${value.before ? '*' : ''}=${value.after ? '*' : ''}`,
        matches: references(value.before, value.after),
      };
    case 'null':
      return { kind: 'null' };
    case 'exists':
      return { kind: 'exists', wanted: value.wanted };
    case 'bytes':
      throw new Error('bytes are text when all modifiers are applied');
  }
}

const comparers: Readonly<Record<Comparison | 'eq', (bound: number) => (value: number) => boolean>> = {
  lt: (bound) => (value) => value < bound,
  lte: (bound) => (value) => value <= bound,
  gt: (bound) => (value) => value > bound,
  gte: (bound) => (value) => value >= bound,
  eq: (bound) => (value) => value === bound,
};

function references(before: boolean, after: boolean): (text: string, other: string) => boolean {
  if (before && after) return (text, other) => text.includes(other);
  if (before) return (text, other) => text.endsWith(other);
  if (after) return (text, other) => text.startsWith(other);
  return (text, other) => text === other;
}

function textTest(tokens: readonly Token[], cased: boolean, windash: boolean): Test {
  const folded = cased ? tokens : mapLiterals(tokens, fold);
  const compared = windash ? mapLiterals(folded, foldDashes) : folded;
  const view: View = windash ? (cased ? 'raw dashes' : 'folded dashes') : cased ? 'raw' : 'folded';
  const exact = literalOf(compared);
  const matches = patternMatcher(compared);
  const literals = literalsOf(tokens, windash);
  const source = exact ?? patternSource(compared);
  const test = { kind: 'text', view, source, regex: undefined, matches, literals } as const;
  return exact === undefined ? test : { ...test, exact };
}

/** The longest literal part; of texts with dashes, what is between them. */
function literalsOf(tokens: readonly Token[], windash: boolean): readonly Literal[] | undefined {
  const candidates = tokens.flatMap((token, at): Literal[] => {
    if (typeof token !== 'string') return [];
    const parts = windash ? token.split(/[-/–—―]/) : [token];
    return parts.map((part, index) => {
      const first = at === 0 && index === 0;
      const last = at === tokens.length - 1 && index === parts.length - 1;
      return { text: fold(part), where: first ? (last ? 'whole' : 'start') : last ? 'end' : 'anywhere' };
    });
  });
  if (tokens.length === 0) return [{ text: '', where: 'whole' }];
  const [longest] = candidates.toSorted((a, b) => b.text.length - a.text.length);
  return longest === undefined || longest.text === '' ? undefined : [longest];
}

function regexTest(value: Extract<Value, { readonly type: 'regex' }>): Test {
  const tree = parseRegex(value.source, value);
  const automaton = new Automaton(compileRegex(tree));
  const literals = requiredLiterals(tree)?.map((text): Literal => ({ text, where: 'anywhere' }));
  const source = `${value.i ? 'i' : ''}${value.m ? 'm' : ''}${value.s ? 's' : ''}/${value.source}`;
  const matches = (text: string): boolean => automaton.test(text);
  return { kind: 'text', view: 'raw', source, regex: automaton, matches, literals };
}

/** The backslash makes a percent sign plain. */
const placeholder = /\\%|%([A-Za-z0-9_.-]+)%/g;

function placeholdersIn(value: Scalar): string[] {
  if (typeof value !== 'string') return [];
  return [...value.matchAll(placeholder)].flatMap(([, name]) => (name === undefined ? [] : [name]));
}

/** A value that is nothing but a placeholder becomes what that stands for, numbers included. */
function expand(value: Scalar, placeholders: Placeholders): readonly Scalar[] {
  if (typeof value !== 'string') return [value];
  const names = placeholdersIn(value);
  const meaning = (name: string): readonly Scalar[] =>
    placeholders.get(name) ?? refuse(`has the placeholder ${shown(`%${name}%`)}, which nothing is known for`);
  if (names.length === 1 && value === `%${names[0]}%`) return meaning(names[0]!);
  let texts = [''];
  let at = 0;
  for (const match of value.matchAll(placeholder)) {
    const [all, name] = match;
    const before = value.slice(at, match.index);
    const ways = name === undefined ? ['%'] : meaning(name).map(String);
    texts = texts.flatMap((start) => ways.map((way) => start + before + way));
    if (texts.length > limits.maxSigmaExpandedValues)
      refuse(`becomes more than ${limits.maxSigmaExpandedValues} values by its placeholders`);
    at = match.index + all.length;
  }
  return texts.map((text) => text + value.slice(at));
}

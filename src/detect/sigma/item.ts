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

/** Forms of a field's texts for tests: unchanged, with case or dashes folded, or both folded. */
export const views = ['raw', 'folded', 'raw dashes', 'folded dashes'] as const;
export type View = (typeof views)[number];

/** A case-folded literal part of the texts that a test matches. */
export interface Literal {
  readonly text: string;
  readonly where: 'whole' | 'start' | 'end' | 'anywhere';
}

/** The test of a field for one value. */
export type Test =
  | {
      readonly kind: 'text';
      readonly view: View;
      /** The compared text or expression. Two tests with the same view and source match the same texts. */
      readonly source: string;
      /** The automaton of a regular expression, for measuring its cost. */
      readonly regex: Pick<Automaton, 'states' | 'workPerCharacter'> | undefined;
      readonly matches: (text: string) => boolean;
      /** The only text that the test matches, in the form of the view; undefined if several texts match. */
      readonly exact?: string;
      /** Literals such that each matching text contains at least one of them; undefined if no literals are known. */
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

/** A field with its tests, independent of the kind of record. */
export interface CompiledItem {
  /** The field; undefined for a search in all values of the record. */
  readonly field: string | undefined;
  /** True for `neq`: the field has a value, and the tests hold for none of its values. */
  readonly negated: boolean;
  readonly all: boolean;
  /** Alternative tests for each value. */
  readonly values: readonly (readonly Test[])[];
}

/**
 * The values of `%name%` in values with the modifier `expand`. Placeholders are replaced before any modifier
 * is applied, regardless of the position of `expand`: `cidr|expand` and `expand|cidr` mean the same.
 */
export type Placeholders = ReadonlyMap<string, readonly Scalar[]>;

/** The number of values that may be added to the written values. */
export interface Room {
  left: number;
}

/** Returns the room for values that modifiers create. All values of a text share the room. */
export const expansionRoom = (): Room => ({ left: limits.maxSigmaExpandedValues });

/** Returns why the item is invalid; undefined if it is valid. Values with placeholders are not checked. */
export function checkItem(item: SearchItem, room: Room): string | undefined {
  const expands = item.modifiers.includes('expand');
  const known = expands ? item.values.filter((value) => placeholdersIn(value).length === 0) : item.values;
  const result = reasonOr(() => {
    checkModifiers(item);
    compileValues(item, known, room);
  });
  return typeof result === 'object' ? result.reason : undefined;
}

/**
 * Compiles an item.
 *
 * @throws RuleError with the reason for an invalid item
 */
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
 * Replaces the placeholders in the values of an item.
 *
 * @throws RuleError for an undefined placeholder, or if no value remains
 */
function expandedValues({ modifiers, values }: SearchItem, placeholders: Placeholders): readonly Scalar[] {
  if (!modifiers.includes('expand')) return values;
  const expanded = values.flatMap((value) => expand(value, placeholders));
  if (expanded.length === 0 && values.length > 0)
    refuse(`has no value left, as ${shown(values.slice(0, 5).join(', '))} expands to nothing`);
  return expanded;
}

/** Modifiers that apply to the item and not to single values. */
const ofTheItem = new Set(['all', 'neq', 'expand']);
/** Modifiers that cannot apply to a whole record. */
const ofFields = new Set('exists fieldref neq lt lte gt gte cidr minute hour day week month year'.split(' '));

function checkModifiers({ field, modifiers, values }: SearchItem): void {
  modifiers.forEach((name, index) => {
    if (!ofTheItem.has(name) && !valueModifiers.includes(name)) refuse(`has the unknown modifier ${shown(name)}`);
    if (modifiers.indexOf(name) < index) refuse(`has ${name} twice`);
    if (field === undefined && ofFields.has(name)) refuse(`has ${name} without a field`);
  });
  if (modifiers.includes('all') && values.length < 2) refuse('has the modifier all, which needs at least two values');
  if (modifiers.includes('exists') && values.length > 1) refuse('has the modifier exists, which takes a single value');
  if (modifiers.includes('exists') && modifiers.length > 1)
    refuse('has the modifier exists, which cannot be combined with other modifiers');
}

function compileValues(
  { field, modifiers }: SearchItem,
  values: readonly Scalar[],
  room: Room = expansionRoom(),
): readonly (readonly Test[])[] {
  const ofValues = modifiers.filter((name) => !ofTheItem.has(name));
  const anywhere = field === undefined && !['re', 'startswith', 'endswith'].some((name) => modifiers.includes(name));
  const modified = values.map((value) => {
    if (field === undefined && value === null)
      return refuse('has null without a field, but null can be matched only in a field');
    const ways = applyModifiers(field === undefined ? String(value) : value, ofValues);
    room.left -= ways.length - 1;
    if (room.left < 0) refuse(`expands the text to more than ${limits.maxSigmaExpandedValues} values by its modifiers`);
    return ways;
  });
  const blocks = modified.flat().flatMap((value) => (value.type === 'cidr' ? [value.block] : []));
  if (blocks.length > 0 && !modifiers.includes('all')) return [[blocksTest(blocks)]];
  return modified.map((ways) => ways.map((way) => compileValue(anywhere ? inside(way) : way)));
}

/** Tests several alternative blocks together, because there may be a thousand home networks. */
function blocksTest(blocks: readonly string[]): Test {
  return { kind: 'blocks', blocks: new Blocks(blocks) };
}

/** Allows any characters before and after a value, because keywords match inside texts. */
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
      return part === undefined ? { kind: 'number', source, matches } : { kind: 'moment', part, source, matches };
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
      throw new Error('a value is still bytes after all modifiers were applied');
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

/** Returns the longest literal part; with `windash`, the longest part between dashes. */
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

/** Matches a placeholder. A backslash makes a percent sign literal. */
const placeholder = /\\%|%([A-Za-z0-9_.-]+)%/g;

function placeholdersIn(value: Scalar): string[] {
  if (typeof value !== 'string') return [];
  return [...value.matchAll(placeholder)].flatMap(([, name]) => (name === undefined ? [] : [name]));
}

/**
 * Replaces placeholders. A value that consists of a single placeholder is replaced by the placeholder's
 * values, including numbers.
 */
function expand(value: Scalar, placeholders: Placeholders): readonly Scalar[] {
  if (typeof value !== 'string') return [value];
  const names = placeholdersIn(value);
  const meaning = (name: string): readonly Scalar[] =>
    placeholders.get(name) ?? refuse(`has the placeholder ${shown(`%${name}%`)}, which is not defined`);
  if (names.length === 1 && value === `%${names[0]}%`) return meaning(names[0]!);
  let texts = [''];
  let at = 0;
  for (const match of value.matchAll(placeholder)) {
    const [all, name] = match;
    const before = value.slice(at, match.index);
    const ways = name === undefined ? ['%'] : meaning(name).map(String);
    texts = texts.flatMap((start) => ways.map((way) => start + before + way));
    if (texts.length > limits.maxSigmaExpandedValues)
      refuse(`expands to more than ${limits.maxSigmaExpandedValues} values by its placeholders`);
    at = match.index + all.length;
  }
  return texts.map((text) => text + value.slice(at));
}

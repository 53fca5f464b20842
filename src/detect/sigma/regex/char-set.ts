import { fold } from '../fold.ts';

/** Sorted, disjoint ranges of UTF-16 units: first and last unit of each range in turn. */
export type CharSet = readonly number[];

export const lastUnit = 0xffff;

export const digits: CharSet = [48, 57];
export const wordUnits: CharSet = [48, 57, 65, 90, 95, 95, 97, 122];
/** The characters of PCRE's `\s`: the characters from tab to carriage return, and space. */
export const spaces: CharSet = [9, 13, 32, 32];
export const newline: CharSet = [10, 10];

export function charSet(ranges: readonly (readonly [number, number])[]): CharSet {
  const sorted = ranges.toSorted(([a], [b]) => a - b);
  const set: number[] = [];
  for (const [first, last] of sorted) {
    const end = set.at(-1);
    if (end !== undefined && first <= end + 1) set[set.length - 1] = Math.max(end, last);
    else set.push(first, last);
  }
  return set;
}

export function union(...sets: readonly CharSet[]): CharSet {
  return charSet(sets.flatMap(rangesOf));
}

export function negate(set: CharSet): CharSet {
  const rest: number[] = [];
  let next = 0;
  for (const [first, last] of rangesOf(set)) {
    if (first > next) rest.push(next, first - 1);
    next = last + 1;
  }
  if (next <= lastUnit) rest.push(next, lastUnit);
  return rest;
}

export function has(set: CharSet, unit: number): boolean {
  for (let at = 0; at < set.length; at += 2) if (unit >= set[at]! && unit <= set[at + 1]!) return true;
  return false;
}

export function rangesOf(set: CharSet): [number, number][] {
  const ranges: [number, number][] = [];
  for (let at = 0; at < set.length; at += 2) ranges.push([set[at]!, set[at + 1]!]);
  return ranges;
}

/** Adds every unit that differs only in case. */
export function withoutCase(set: CharSet): CharSet {
  const more: [number, number][] = [];
  const { groupOf, all } = caseGroups();
  const size = rangesOf(set).reduce((sum, [first, last]) => sum + last - first + 1, 0);
  const add = (group: readonly number[]) => more.push(...group.map((unit): [number, number] => [unit, unit]));
  if (size <= fewUnits)
    for (const [first, last] of rangesOf(set))
      for (let unit = first; unit <= last; unit++) add(groupOf.get(unit) ?? []);
  else for (const group of all) if (group.some((unit) => has(set, unit))) add(group);
  return charSet([...rangesOf(set), ...more]);
}

/** Maximum size of a set whose units are looked up individually; larger sets are compared with all groups. */
const fewUnits = 64;

/** Returns the character to which all units of the set fold; undefined if they fold to several characters. */
export function foldedUnit(set: CharSet): string | undefined {
  let folded: string | undefined;
  let size = 0;
  for (const [first, last] of rangesOf(set)) {
    size += last - first + 1;
    if (size > 8) return undefined;
    for (let unit = first; unit <= last; unit++) {
      const one = fold(String.fromCharCode(unit));
      if (one.length !== 1 || (folded !== undefined && one !== folded)) return undefined;
      folded = one;
    }
  }
  return folded;
}

interface CaseGroups {
  readonly all: readonly (readonly number[])[];
  readonly groupOf: ReadonlyMap<number, readonly number[]>;
}

let groups: CaseGroups | undefined;

/** Returns groups of units that fold to the same character. Computed once, in 10 ms, on first use. */
function caseGroups(): CaseGroups {
  if (groups !== undefined) return groups;
  const byFold = new Map<string, number[]>();
  for (let unit = 0; unit <= lastUnit; unit++) {
    const char = String.fromCharCode(unit);
    const folded = fold(char);
    if (folded.length !== 1) continue;
    const group = byFold.get(folded);
    if (group === undefined) byFold.set(folded, [unit]);
    else group.push(unit);
  }
  const all = [...byFold.values()].filter(({ length }) => length > 1);
  groups = { all, groupOf: new Map(all.flatMap((group) => group.map((unit) => [unit, group]))) };
  return groups;
}

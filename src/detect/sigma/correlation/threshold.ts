import type { Threshold } from '../document.ts';

type Comparison = keyof Threshold;

const comparisons = {
  gt: (n, bound) => n > bound,
  gte: (n, bound) => n >= bound,
  lt: (n, bound) => n < bound,
  lte: (n, bound) => n <= bound,
  eq: (n, bound) => n === bound,
  neq: (n, bound) => n !== bound,
} satisfies Record<Comparison, (n: number, bound: number) => boolean>;

export function isComparison(name: string): name is Comparison {
  return Object.hasOwn(comparisons, name);
}

function boundsOf(threshold: Threshold): [Comparison, number][] {
  return Object.entries(threshold).filter((bound): bound is [Comparison, number] => isComparison(bound[0]));
}

/** Returns a function that tests whether a number is within all bounds. */
export function compileThreshold(threshold: Threshold): (n: number) => boolean {
  const tests = boundsOf(threshold).map(([name, bound]) => [comparisons[name], bound] as const);
  return (n) => tests.every(([test, bound]) => test(n, bound));
}

/** Returns true if a greater number never violates the threshold. */
export function isLowerBound(threshold: Threshold): boolean {
  return boundsOf(threshold).every(([name]) => name === 'gt' || name === 'gte');
}

/** Returns the smallest integer such that all numbers from this integer on have the same result. */
export function decidedFrom(threshold: Threshold): number {
  const above = { gt: 1, gte: 0, lt: 0, lte: 1, eq: 1, neq: 1 } satisfies Record<Comparison, number>;
  return Math.max(1, ...boundsOf(threshold).map(([name, bound]) => Math.floor(bound) + above[name]));
}

/**
 * Returns the number below which the counts of inputs and values are exact. Above this number, the oldest inputs or
 * values may be dropped.
 */
export function exactBelow(threshold: Threshold): number {
  return Math.max(8, 2 * decidedFrom(threshold) - 1);
}

const signs = { gt: '> ', gte: '≥ ', lt: '< ', lte: '≤ ', eq: '= ', neq: '≠ ' } satisfies Record<Comparison, string>;

/** Returns the number if the threshold is a single minimum; otherwise the bounds as text. */
export function shownThreshold(threshold: Threshold): number | string {
  const bounds = boundsOf(threshold);
  if (bounds.length === 1 && bounds[0]![0] === 'gte') return bounds[0]![1];
  return bounds.map(([name, bound]) => signs[name] + bound).join(', ');
}

/** Possible values of the compared number: integers, or all numbers, from `least` to `most`. */
export interface Range {
  readonly whole: boolean;
  readonly least: number;
  readonly most: number;
}

/**
 * Returns true if a number of the range meets the bounds. Tries the bounds, their neighbours and the
 * midpoints between them.
 */
export function canBeMet(threshold: Threshold, { whole, least, most }: Range): boolean {
  const meets = compileThreshold(threshold);
  const edges = [least, most, ...boundsOf(threshold).map(([, bound]) => bound)].filter(Number.isFinite);
  const beside = edges.flatMap((edge) => [edge - 1, edge, edge + 1]);
  const between = whole ? [] : edges.flatMap((one) => edges.map((other) => one / 2 + other / 2));
  return [...beside, ...between].some((n) => n >= least && n <= most && (!whole || Number.isInteger(n)) && meets(n));
}

import type { CorrelationInput } from '../../../../src/detect/sigma/correlation/correlation-input.ts';
import type { CorrelationDocument, Threshold } from '../../../../src/detect/sigma/document.ts';

/** What is expected to fire; the rest of a `Fired` is left to examples. */
export interface Expected {
  readonly how: string;
  readonly group: string;
  readonly timestamp: number;
  readonly firstTimestamp: number;
  readonly count: number;
  readonly value: number;
}

interface Group {
  inputs: CorrelationInput[];
  newest: number;
  touched: number;
  episode?: { at: number; first: number; count: number; next: number };
}

/**
 * The definition, said as plainly as possible, for one correlation that no other one names: it keeps everything and looks at
 * every window anew.
 *
 * @param holds - of a temporal type with an expression: whether it does, given which rules are there
 */
export class Naive {
  readonly #document: CorrelationDocument;
  readonly #holds: ((has: (rule: string) => boolean) => boolean) | undefined;
  readonly #groups = new Map<string, Group>();
  #clock = -Infinity;
  late = 0;

  constructor(document: CorrelationDocument, holds?: (has: (rule: string) => boolean) => boolean) {
    this.#document = document;
    this.#holds = holds;
  }

  take(inputs: readonly CorrelationInput[]): Expected[] {
    return inputs.toSorted((a, b) => a.timestamp - b.timestamp).flatMap((input) => this.#take(input) ?? []);
  }

  #take(input: CorrelationInput): Expected | undefined {
    const { timespanMs: span } = this.#document;
    const { timestamp: time } = input;
    this.#clock = Math.max(this.#clock, time);
    for (const [key, { touched }] of this.#groups)
      if (touched < this.#clock - 2 * span) this.#groups.delete(key);
    const key = input.group.join();
    const group: Group = this.#groups.get(key) ?? { inputs: [], newest: -Infinity, touched: 0 };
    this.#groups.set(key, group);
    group.touched = this.#clock;
    if (time < group.newest - span) {
      this.late++;
      return;
    }
    group.newest = Math.max(group.newest, time);
    group.inputs.push(input);
    if (group.episode !== undefined && time <= group.episode.at + span) group.episode.count++;

    const ends = group.inputs
      .map(({ timestamp }) => timestamp)
      .filter((end) => end >= time && end - span <= time);
    const end = ends.toSorted((a, b) => b - a).find((one) => this.#met(this.#window(group, one), input));
    if (end === undefined) return;
    const window = this.#window(group, end);
    const value = this.#number(window, input);
    const { episode } = group;
    if (episode === undefined || end > episode.at + span) {
      const first = Math.min(...window.map(({ timestamp }) => timestamp));
      group.episode = { at: end, first, count: window.length, next: 2 * window.length };
      return {
        how: 'begins',
        group: key,
        timestamp: end,
        firstTimestamp: first,
        count: window.length,
        value,
      };
    }
    if (episode.count < episode.next) return;
    episode.next = 2 * episode.count;
    const { first, count } = episode;
    return { how: 'grows', group: key, timestamp: end, firstTimestamp: first, count, value };
  }

  #window({ inputs }: Group, end: number): CorrelationInput[] {
    return inputs.filter(({ timestamp }) => timestamp <= end && timestamp >= end - this.#document.timespanMs);
  }

  #met(window: readonly CorrelationInput[], last: CorrelationInput): boolean {
    const { type, rules, threshold } = this.#document;
    if (this.#holds !== undefined) return this.#holds((name) => window.some(({ rule }) => rule === name));
    if (type === 'temporal_ordered') {
      const least = threshold?.gte ?? rules.length;
      return subsets(rules).some((some) => some.length === least && inOrder(window, some, -Infinity));
    }
    if (threshold === undefined) return this.#number(window, last) === rules.length;
    return within(this.#number(window, last), threshold);
  }

  #number(window: readonly CorrelationInput[], last: CorrelationInput): number {
    const { type, percentile } = this.#document;
    const numbers = window.map(({ value }) => Number(value));
    const sum = numbers.reduce((a, b) => a + b, 0);
    switch (type) {
      case 'event_count':
        return window.length;
      case 'value_count':
        return new Set(window.map(({ value }) => value)).size;
      case 'value_sum':
        return sum;
      case 'value_avg':
        return sum / numbers.length;
      case 'value_percentile': {
        if (percentile === undefined) {
          return (100 * window.filter(({ value }) => value === last.value).length) / window.length;
        }
        const rank = Math.max(1, Math.ceil((percentile / 100) * numbers.length));
        return numbers.toSorted((a, b) => a - b)[rank - 1]!;
      }
      default:
        return new Set(window.map(({ rule }) => rule)).size;
    }
  }
}

function within(n: number, { gt, gte, lt, lte, eq, neq }: Threshold): boolean {
  if (gt !== undefined && !(n > gt)) return false;
  if (gte !== undefined && !(n >= gte)) return false;
  if (lt !== undefined && !(n < lt)) return false;
  if (lte !== undefined && !(n <= lte)) return false;
  if (eq !== undefined && n !== eq) return false;
  return neq === undefined || n !== neq;
}

function subsets(rules: readonly string[]): string[][] {
  const [first, ...rest] = rules;
  if (first === undefined) return [[]];
  return subsets(rest).flatMap((some) => [some, [first, ...some]]);
}

function inOrder(window: readonly CorrelationInput[], rules: readonly string[], after: number): boolean {
  const [first, ...rest] = rules;
  if (first === undefined) return true;
  return window.some(
    ({ rule, timestamp }) => rule === first && timestamp > after && inOrder(window, rest, timestamp),
  );
}

import type { CorrelationInput } from '../../../../src/detect/sigma/correlation/correlation-input.ts';
import type { CorrelationDocument, Threshold } from '../../../../src/detect/sigma/document.ts';

/** The compared properties of an episode; other properties of a `Fired` are tested by examples. */
export interface Expected {
  readonly group: string;
  readonly timestamp: number;
  readonly firstTimestamp: number;
  readonly count: number;
  readonly value: number;
}

interface Group {
  readonly inputs: CorrelationInput[];
  newest: number;
  touched: number;
  /**
   * Number of inputs of each window that met the condition, by the end of the window. Windows are in the order in which
   * they were found.
   */
  readonly met: Map<number, number>;
}

/**
 * The simplest implementation of episodes, for a correlation that no other correlation names. Keeps all inputs, and
 * evaluates every window again for each input.
 *
 * @param reachMs - maximum age of an input, relative to the newest input of its group
 * @param holds - for a temporal type with an expression: evaluates the expression for the rules that are present
 */
export class Naive {
  readonly #document: CorrelationDocument;
  readonly #holds: ((has: (rule: string) => boolean) => boolean) | undefined;
  /** Whether more inputs can never violate the condition. */
  readonly #grows: boolean;
  readonly #reachMs: number;
  readonly #groups = new Map<string, Group>();
  readonly #gone: Group[] = [];
  #clock = -Infinity;
  late = 0;

  constructor(
    document: CorrelationDocument,
    grows: boolean,
    reachMs: number,
    holds?: (has: (rule: string) => boolean) => boolean,
  ) {
    this.#document = document;
    this.#grows = grows;
    this.#reachMs = reachMs;
    this.#holds = holds;
  }

  take(inputs: readonly CorrelationInput[]): void {
    for (const input of inputs.toSorted((a, b) => a.timestamp - b.timestamp)) this.#take(input);
  }

  /** Returns all episodes, by group and time. */
  episodes(): Expected[] {
    const all = [...this.#gone, ...this.#groups.values()].flatMap((group) => this.#episodesOf(group));
    return all.sort((a, b) => a.group.localeCompare(b.group) || a.firstTimestamp - b.firstTimestamp);
  }

  #take(input: CorrelationInput): void {
    const { timespanMs: span } = this.#document;
    const { timestamp: time } = input;
    this.#clock = Math.max(this.#clock, time);
    for (const [key, group] of this.#groups)
      if (group.touched < this.#clock - span - this.#reachMs) {
        this.#groups.delete(key);
        this.#gone.push(group);
      }
    const key = input.group.join();
    const group: Group = this.#groups.get(key) ?? {
      inputs: [],
      newest: -Infinity,
      touched: 0,
      met: new Map(),
    };
    this.#groups.set(key, group);
    group.touched = this.#clock;
    if (time < group.newest - this.#reachMs) {
      this.late++;
      return;
    }
    group.newest = Math.max(group.newest, time);
    group.inputs.push(input);
    const ends = new Set(group.inputs.map(({ timestamp }) => timestamp));
    for (const end of [...ends].toSorted((a, b) => a - b)) {
      const window = this.#window(group, end);
      if (!window.includes(input) || !this.#met(window, input)) continue;
      group.met.delete(end);
      group.met.set(end, this.#number(window, input));
    }
  }

  #episodesOf(group: Group): Expected[] {
    const { timespanMs: span } = this.#document;
    const ends = [...group.met.keys()].toSorted((a, b) => a - b);
    const begins = ends.filter((end, i) => i === 0 || end > ends[i - 1]! + span);
    return begins.map((begin, i) => {
      const its = ends.filter((end) => end >= begin && end < (begins[i + 1] ?? Infinity));
      const last = its.at(-1)!;
      const times = group.inputs
        .map(({ timestamp }) => timestamp)
        .filter((time) => time >= begin - span && time <= last);
      const values = [...group.met].filter(([end]) => its.includes(end)).map(([, value]) => value);
      return {
        group: group.inputs[0]!.group.join(),
        timestamp: last,
        firstTimestamp: Math.min(...times),
        count: times.length,
        value: this.#grows ? Math.max(...values) : values.at(-1)!,
      };
    });
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
  return window.some(({ rule, timestamp }) => rule === first && timestamp > after && inOrder(window, rest, timestamp));
}

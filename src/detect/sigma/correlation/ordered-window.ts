import { Entries } from './entries.ts';
import type { Found, GroupWindow } from './group-window.ts';
import type { Counted } from './measure.ts';
import type { Alternative } from './rule-condition.ts';
import { temporalEntries } from './temporal.ts';
import { keepEndsOfRuns } from './trim.ts';

/** How `temporal_ordered` is run; the same for all groups. */
export interface Ordering {
  readonly spanMs: number;
  /** How much older than the newest an input may be. */
  readonly reachMs: number;
  /** Inputs that a group keeps one by one. */
  readonly keep: number;
  readonly alternatives: readonly Alternative[];
  /** One for each alternative, used for one group after the other. */
  readonly sequences: readonly Sequence[];
  trim(entries: Entries<Counted>, keep: number): void;
}

export function ordering(
  { spanMs, reachMs }: Pick<Ordering, 'spanMs' | 'reachMs'>,
  rules: number,
  alternatives: readonly Alternative[],
  kept: (keep: number) => number,
): Ordering {
  return {
    spanMs,
    reachMs,
    keep: kept(Math.max(temporalEntries, 2 * rules)),
    alternatives,
    sequences: alternatives.map(({ required }) => new Sequence(required)),
    trim: keepEndsOfRuns(spanMs),
  };
}

/**
 * How far an order of rules has come: for each of them the latest time at which a sequence up to it can have begun. Each
 * rule comes after the one before it, not at the same time, which is no order (and one event may match both).
 */
class Sequence {
  /** Place in the sequence by rule. */
  readonly #places: number[] = [];
  readonly #begun: number[];
  /** The same, without the inputs of the time at which it was last changed. */
  readonly #before: number[];
  readonly #changed: number[];

  constructor(rules: readonly number[]) {
    for (const [place, rule] of rules.entries()) this.#places[rule] = place;
    this.#begun = rules.map(() => -Infinity);
    this.#before = rules.map(() => -Infinity);
    this.#changed = rules.map(() => -Infinity);
  }

  /** The latest beginning of a sequence of all rules. */
  get begun(): number {
    return this.#begun[this.#begun.length - 1]!;
  }

  reset(): void {
    this.#begun.fill(-Infinity);
    this.#before.fill(-Infinity);
    this.#changed.fill(-Infinity);
  }

  take(rule: number, time: number): void {
    const at = this.#places[rule];
    if (at === undefined) return;
    if (this.#changed[at]! < time) {
      this.#before[at] = this.#begun[at]!;
      this.#changed[at] = time;
    }
    const begun =
      at === 0 ? time : this.#changed[at - 1]! < time ? this.#begun[at - 1]! : this.#before[at - 1]!;
    this.#begun[at] = Math.max(this.#begun[at]!, begun);
  }
}

/**
 * The inputs of a group, of which the rules of an alternative must follow each other within a timespan, while none of its
 * forbidden rules is in it. They are few (see `keep`), and are gone through from the beginning for each input, which takes 4 µs.
 */
export class OrderedWindow implements GroupWindow {
  newest: number;
  readonly entries: Entries<Counted>;
  readonly #ordering: Ordering;

  constructor(ordering: Ordering, entries: Entries<Counted> = new Entries()) {
    this.#ordering = ordering;
    this.entries = entries;
    this.newest = entries.length === 0 ? -Infinity : entries.time(entries.length - 1);
  }

  take(time: number, rule: Counted, asks: boolean): number | undefined {
    const { spanMs, reachMs, keep, trim } = this.#ordering;
    this.entries.add(time, rule);
    if (time >= this.newest) {
      this.newest = time;
      const gone = this.entries.from(time - spanMs - reachMs);
      if (gone > 0) this.entries.drop(gone);
    }
    if (this.entries.length > 2 * keep) trim(this.entries, keep);
    return asks ? this.#end(time) : undefined;
  }

  /** `value` is how many different rules the window has. */
  describe(end: number): Found {
    const from = this.entries.from(end - this.#ordering.spanMs);
    const until = this.entries.after(end);
    const rules = new Set<Counted>();
    let count = 0;
    for (let i = from; i < until; i++) {
      rules.add(this.entries.value(i));
      count += this.entries.weight(i);
    }
    return { count, first: from < until ? this.entries.time(from) : end, value: rules.size };
  }

  /** The end of the newest window that contains `time` and has an alternative in its order. */
  #end(time: number): number | undefined {
    const { spanMs, alternatives, sequences } = this.#ordering;
    const { entries } = this;
    for (const sequence of sequences) sequence.reset();
    let found: number | undefined;
    for (let i = entries.from(time - spanMs); i < entries.length; i++) {
      const end = entries.time(i);
      if (end > time + spanMs) break;
      for (const sequence of sequences) sequence.take(entries.value(i) as number, end);
      const last = i === entries.length - 1 || entries.time(i + 1) !== end;
      if (end < time || !last) continue;
      const met = alternatives.some(
        ({ forbidden }, a) => sequences[a]!.begun >= end - spanMs && !this.#has(forbidden, end),
      );
      if (met) found = end;
    }
    return found;
  }

  /** Whether one of the rules is in the window that ends there. */
  #has(rules: readonly number[], end: number): boolean {
    if (rules.length === 0) return false;
    for (let i = this.entries.from(end - this.#ordering.spanMs); i < this.entries.after(end); i++) {
      if (rules.includes(this.entries.value(i) as number)) return true;
    }
    return false;
  }
}

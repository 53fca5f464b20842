import { Entries } from './entries.ts';
import type { GroupWindow, Listener } from './group-window.ts';
import type { Counted } from './measure.ts';
import type { Alternative } from './rule-condition.ts';
import { keepEndsOfRuns, type Trim } from './trim.ts';

/** The implementation of `temporal_ordered`, shared by all groups. */
export interface Ordering {
  readonly spanMs: number;
  /** Maximum age of an input, relative to the newest input. */
  readonly reachMs: number;
  readonly alternatives: readonly Alternative[];
  /** One sequence per alternative, reused for all groups. */
  readonly sequences: readonly Sequence[];
  readonly trim: Trim;
}

export function ordering(
  { spanMs, reachMs }: Pick<Ordering, 'spanMs' | 'reachMs'>,
  alternatives: readonly Alternative[],
): Ordering {
  return {
    spanMs,
    reachMs,
    alternatives,
    sequences: alternatives.map(({ required }) => new Sequence(required)),
    trim: keepEndsOfRuns(spanMs),
  };
}

/**
 * Progress of an ordered list of rules: for each rule, the latest time at which a sequence up to that rule
 * can have begun. Each rule must come after the previous rule. Equal times have no order (and one event may
 * match both rules).
 */
class Sequence {
  /** Index in the sequence by rule. */
  readonly #places: number[] = [];
  readonly #begun: number[];
  /**
   * The values of `#begun` from before the times in `#changed`. They are needed because the rules of a sequence must
   * match at different times.
   */
  readonly #before: number[];
  readonly #changed: number[];

  constructor(rules: readonly number[]) {
    for (const [place, rule] of rules.entries()) this.#places[rule] = place;
    this.#begun = rules.map(() => -Infinity);
    this.#before = rules.map(() => -Infinity);
    this.#changed = rules.map(() => -Infinity);
  }

  /** Latest beginning of a complete sequence. */
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
    const begun = at === 0 ? time : this.#changed[at - 1]! < time ? this.#begun[at - 1]! : this.#before[at - 1]!;
    this.#begun[at] = Math.max(this.#begun[at]!, begun);
  }
}

/**
 * The inputs of a group in which the rules of an alternative must follow each other within a timespan that
 * contains none of the alternative's forbidden rules. The inputs of a timespan are processed once per batch.
 */
export class OrderedWindow implements GroupWindow {
  newest: number;
  exactFrom = -Infinity;
  readonly entries: Entries<Counted>;
  readonly #ordering: Ordering;

  constructor(ordering: Ordering, entries: Entries<Counted> = new Entries()) {
    this.#ordering = ordering;
    this.entries = entries;
    this.newest = entries.length === 0 ? -Infinity : entries.time(entries.length - 1);
  }

  take(time: number, rule: Counted): boolean {
    this.entries.add(time, rule);
    this.newest = Math.max(this.newest, time);
    return true;
  }

  /** The compared number is the number of distinct rules in the window. */
  evaluate(from: number, to: number, _subject: Counted, listener: Listener): void {
    const { spanMs, alternatives, sequences } = this.#ordering;
    const { entries } = this;
    for (const sequence of sequences) sequence.reset();
    const present = new Map<Counted, number>();
    let left = entries.from(from - spanMs);
    const until = entries.after(to + spanMs);
    for (let i = left; i < until; i++) {
      const end = entries.time(i);
      for (; entries.time(left) < end - spanMs; left++) {
        const others = present.get(entries.value(left))! - 1;
        if (others > 0) present.set(entries.value(left), others);
        else present.delete(entries.value(left));
      }
      present.set(entries.value(i), (present.get(entries.value(i)) ?? 0) + 1);
      for (const sequence of sequences) sequence.take(entries.value(i) as number, end);
      const isLast = i + 1 === entries.length || entries.time(i + 1) !== end;
      if (end < from || !isLast) continue;
      const met = alternatives.some(
        ({ forbidden }, a) => sequences[a]!.begun >= end - spanMs && !forbidden.some((rule) => present.has(rule)),
      );
      if (met) listener.met(end, present.size);
    }
  }

  forget(): void {
    const { spanMs, reachMs } = this.#ordering;
    this.entries.drop(this.entries.from(this.newest - spanMs - reachMs));
  }

  trim(keep: number, counted: (time: number) => boolean): void {
    this.entries.unweigh(counted);
    this.exactFrom = Math.max(this.exactFrom, this.#ordering.trim(this.entries, keep));
  }
}

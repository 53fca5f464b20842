import { Entries } from './entries.ts';
import type { Found, GroupWindow } from './group-window.ts';
import type { Counted, Counting, Measure } from './measure.ts';

/**
 * A window that slides over the inputs of a group, with both of its ends in it:
 *
 * ```
 *   entries   x  x     x   x x       x     x  x
 *             |<--- reach --->|<--- window --->|
 *                             left          newest
 * ```
 *
 * In order, an input is added at the right end, and the measure forgets what falls out at the left, each once. A late one
 * may complete a window that ends before the newest input. Another measure then goes over the windows that it is in, input
 * by input, which takes as long as there are inputs around the late one: `lookback` at most.
 */
export class SlidingWindow implements GroupWindow {
  newest: number;
  readonly entries: Entries<Counted>;
  readonly #counting: Counting;
  #measure: Measure;
  /** The first entry that the measure has. */
  #left = 0;

  constructor(counting: Counting, entries: Entries<Counted> = new Entries()) {
    this.#counting = counting;
    this.entries = entries;
    this.#measure = counting.measure();
    this.newest = entries.length === 0 ? -Infinity : entries.time(entries.length - 1);
    this.#rebuild();
  }

  take(time: number, value: Counted, asks: boolean): number | undefined {
    const { spanMs, reachMs, keep, trim } = this.#counting;
    const entries = this.entries;
    const late = time < this.newest;
    const isInNewest = time >= this.newest - spanMs;
    entries.add(time, value);
    if (isInNewest) this.#measure.add(value, 1);
    else this.#left++;
    if (!late) {
      this.newest = time;
      while (entries.time(this.#left) < time - spanMs) this.#remove(this.#left++);
      const gone = entries.from(time - spanMs - reachMs);
      if (gone > 0) this.#drop(gone);
    }
    if (entries.length > 2 * keep) {
      trim(entries, keep);
      this.#measure = this.#counting.measure();
      this.#rebuild();
    }
    if (!asks) return;
    if (isInNewest && this.#measure.met(value)) return this.newest;
    return late ? this.#earlier(time, value) : undefined;
  }

  describe(end: number, subject: Counted): Found {
    const { spanMs, measure: begin } = this.#counting;
    const measure = begin();
    const from = this.entries.from(end - spanMs);
    const until = this.entries.after(end);
    let count = 0;
    for (let i = from; i < until; i++) {
      measure.add(this.entries.value(i), this.entries.weight(i));
      count += this.entries.weight(i);
    }
    return { count, first: from < until ? this.entries.time(from) : end, value: measure.read(subject) };
  }

  /** The end of the newest window that meets the condition, of those that contain `time` and end before the newest input. */
  #earlier(time: number, subject: Counted): number | undefined {
    const { spanMs, lookback, measure: begin } = this.#counting;
    const entries = this.entries;
    let right = Math.min(entries.after(time + spanMs), entries.from(this.newest));
    if (right - entries.from(time - spanMs) > lookback) return undefined;
    const measure = begin();
    let left = right;
    for (let added = right; right > 0; ) {
      const end = entries.time(right - 1);
      if (end < time) return undefined;
      while (left > 0 && entries.time(left - 1) >= end - spanMs)
        measure.add(entries.value(--left), entries.weight(left));
      while (added > right) measure.remove(entries.value(--added), entries.weight(added));
      if (measure.met(subject)) return end;
      while (right > 0 && entries.time(right - 1) === end) right--;
    }
    return undefined;
  }

  #add(i: number): void {
    this.#measure.add(this.entries.value(i), this.entries.weight(i));
  }

  #remove(i: number): void {
    this.#measure.remove(this.entries.value(i), this.entries.weight(i));
  }

  #drop(count: number): void {
    this.entries.drop(count);
    this.#left -= count;
  }

  #rebuild(): void {
    this.#left = this.entries.from(this.newest - this.#counting.spanMs);
    for (let i = this.#left; i < this.entries.length; i++) this.#add(i);
  }
}

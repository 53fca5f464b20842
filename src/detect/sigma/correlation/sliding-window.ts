import { Entries } from './entries.ts';
import type { Found, GroupWindow } from './group-window.ts';
import type { Counted, Counting, Measure } from './measure.ts';

/**
 * A window that slides over the inputs of a group, with both of its ends in it:
 *
 * ```
 *   entries   x  x     x   x x       x     x  x
 *             |<--- reach --->|<--- window --->|
 *        newest - 2 span      left          newest
 * ```
 *
 * In order, an input is added at the right end, and the measure forgets what falls out at the left, each once. A late one
 * may complete a window that ends before the newest input. The window is then moved back from there to it, input by
 * input, and forth again, which takes as long as inputs are newer than the late one, of which there may be `lookback`.
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
    const { spanMs, keep, trim } = this.#counting;
    const entries = this.entries;
    const late = time < this.newest;
    entries.add(time, value);
    this.#measure.add(value, 1);
    if (!late) {
      this.newest = time;
      while (entries.time(this.#left) < time - spanMs) this.#remove(this.#left++);
      const gone = entries.from(time - 2 * spanMs);
      if (gone > 0) this.#drop(gone);
    }
    if (entries.length > 2 * keep) {
      trim(entries, keep);
      this.#measure = this.#counting.measure();
      this.#rebuild();
    }
    if (!asks) return;
    if (this.#measure.met(value)) return this.newest;
    const looks = late && entries.length - entries.after(time) <= this.#counting.lookback;
    return looks ? this.#earlier(time, value) : undefined;
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
    const entries = this.entries;
    let left = this.#left;
    let right = entries.length;
    let found: number | undefined;
    while (found === undefined) {
      const end = entries.time(right - 1);
      while (right > 0 && entries.time(right - 1) === end) this.#remove(--right);
      if (right === 0 || entries.time(right - 1) < time) break;
      const earlier = entries.time(right - 1);
      while (left > 0 && entries.time(left - 1) >= earlier - this.#counting.spanMs) this.#add(--left);
      if (this.#measure.met(subject)) found = earlier;
    }
    while (right < entries.length) this.#add(right++);
    while (left < this.#left) this.#remove(left++);
    return found;
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

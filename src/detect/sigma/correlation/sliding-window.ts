import { Entries } from './entries.ts';
import type { GroupWindow, Listener } from './group-window.ts';
import type { Counted, Counting, Measure } from './measure.ts';

/**
 * A window that slides over the inputs of a group, both ends included:
 *
 * ```
 *   entries   x  x     x   x x       x     x  x
 *             |<--- reach --->|<--- window --->|
 *                             left          newest
 * ```
 *
 * Without late inputs, an input is added at the right end, and the measure removes the inputs before the left end,
 * each once. A late input changes all windows that contain it. A second measure evaluates these windows: once for all
 * late inputs of a batch that are close together.
 */
export class SlidingWindow implements GroupWindow {
  newest: number;
  exactFrom = -Infinity;
  readonly entries: Entries<Counted>;
  readonly #counting: Counting;
  #measure: Measure;
  /** Index of the first entry in the measure. */
  #left = 0;

  constructor(counting: Counting, entries: Entries<Counted> = new Entries()) {
    this.#counting = counting;
    this.entries = entries;
    this.#measure = counting.measure();
    this.newest = entries.length === 0 ? -Infinity : entries.time(entries.length - 1);
    this.#rebuild();
  }

  take(time: number, value: Counted, listener: Listener): boolean {
    const { spanMs, monotone, lookback } = this.#counting;
    const { entries } = this;
    const isLate = time < this.newest;
    const isInNewest = time >= this.newest - spanMs;
    entries.add(time, value);
    if (isInNewest) this.#measure.add(value, 1);
    else this.#left++;
    if (!isLate) {
      this.newest = time;
      while (entries.time(this.#left) < time - spanMs) this.#remove(this.#left++);
    } else if (monotone || entries.after(time + spanMs) - entries.from(time - spanMs) <= lookback) return true;
    if (isInNewest && this.#measure.met(value)) listener.met(this.newest, this.#measure.read(value));
    return false;
  }

  evaluate(from: number, to: number, subject: Counted, listener: Listener): void {
    const { spanMs, least, measure: begin } = this.#counting;
    const { entries } = this;
    let left = entries.from(from - spanMs);
    const end = entries.after(to + spanMs);
    if (end - left < least) return;
    const measure = begin();
    for (let i = left; i < end; i++) {
      const time = entries.time(i);
      while (entries.time(left) < time - spanMs) measure.remove(entries.value(left), entries.weight(left++));
      measure.add(entries.value(i), entries.weight(i));
      const isLast = i + 1 === entries.length || entries.time(i + 1) !== time;
      if (time >= from && isLast && measure.met(subject)) listener.met(time, measure.read(subject));
    }
  }

  forget(): void {
    const { spanMs, reachMs } = this.#counting;
    const since = this.newest - spanMs - reachMs;
    if (this.entries.length === 0 || this.entries.time(0) >= since) return;
    const gone = this.entries.from(since);
    this.entries.drop(gone);
    this.#left -= gone;
  }

  trim(keep: number, counted: (time: number) => boolean): void {
    const { trim, weighsInputs } = this.#counting;
    if (!weighsInputs) this.entries.unweigh(counted);
    this.exactFrom = Math.max(this.exactFrom, trim(this.entries, keep));
    this.#measure = this.#counting.measure();
    this.#rebuild();
  }

  #remove(i: number): void {
    this.#measure.remove(this.entries.value(i), this.entries.weight(i));
  }

  #rebuild(): void {
    const { entries } = this;
    this.#left = entries.from(this.newest - this.#counting.spanMs);
    for (let i = this.#left; i < entries.length; i++) this.#measure.add(entries.value(i), entries.weight(i));
  }
}

/** Upper bounds of a value's events and bytes, and the maximum errors of these bounds. */
export interface TopEntry {
  events: number;
  eventsError: number;
  bytes: number;
  bytesError: number;
}

/**
 * The values with the most events and the values with the most bytes. Uses Space-Saving (Metwally, Agrawal, El Abbadi,
 * 2005) for both measures together, with eviction in groups. At least the first `most` of each measure are kept:
 *
 * ```
 *            kept                     evicted
 *   ████████ ██████ █████ ████ │ ███ ██ ██ █ █      a new value may have been among these: it begins with
 *                              ↑ the largest        the largest evicted count, which is also its error
 * ```
 *
 * For any input in any order, an error is at most the sum of all counts divided by `most`, and 0 for at most twice
 * `most` values. Lists merge with errors added (Agarwal et al., Mergeable Summaries, 2012), with the same bound.
 */
export class TopList {
  readonly most: number;
  readonly entries = new Map<string, TopEntry>();
  /** Upper bound of the events of a value that is not in the list. */
  absentEvents = 0;
  /** Upper bound of the bytes of a value that is not in the list. */
  absentBytes = 0;

  readonly #maxBytes: number;

  /** @param maxBytes - maximum bytes of an entry */
  constructor(most: number, maxBytes: number) {
    this.most = most;
    this.#maxBytes = maxBytes;
  }

  /**
   * Adds exact counts of distinct values, which `numbers` identifies. Names are created only for values that are kept,
   * so an address in a flood of distinct addresses takes 0.1 µs.
   */
  add({ events, bytes }: Counted, numbers: Int32Array, nameOf: (number: number) => string): void {
    let leastEvents = Number.NEGATIVE_INFINITY;
    let leastBytes = Number.NEGATIVE_INFINITY;
    if (numbers.length > 2 * this.most) {
      leastEvents = bound(events, numbers, this.most);
      leastBytes = bound(bytes, numbers, this.most);
    }
    let goneEvents = 0;
    let goneBytes = 0;
    for (const number of numbers)
      if (events[number]! <= leastEvents && bytes[number]! <= leastBytes) {
        if (events[number]! > goneEvents) goneEvents = events[number]!;
        if (bytes[number]! > goneBytes) goneBytes = bytes[number]!;
      }
    const { absentEvents, absentBytes, entries } = this;
    if (goneEvents > 0) for (const entry of entries.values()) enlarge(entry, goneEvents, goneBytes);
    for (const number of numbers) {
      const met = events[number]!;
      const sum = bytes[number]!;
      if (met <= leastEvents && sum <= leastBytes) continue;
      const name = nameOf(number);
      const known = entries.get(name);
      if (known === undefined)
        entries.set(name, {
          events: met + absentEvents,
          eventsError: absentEvents,
          bytes: sum + absentBytes,
          bytesError: absentBytes,
        });
      else enlarge(known, -goneEvents, -goneBytes, met, sum);
    }
    this.absentEvents += goneEvents;
    this.absentBytes += goneBytes;
    this.trim();
  }

  merge(other: TopList): void {
    const { absentEvents, absentBytes } = this;
    if (other.absentEvents > 0 || other.absentBytes > 0)
      for (const [key, entry] of this.entries)
        if (!other.entries.has(key)) enlarge(entry, other.absentEvents, other.absentBytes);
    for (const [key, entry] of other.entries) {
      const known = this.entries.get(key);
      if (known === undefined) {
        const copy = { ...entry };
        enlarge(copy, absentEvents, absentBytes);
        this.entries.set(key, copy);
      } else {
        known.events += entry.events;
        known.eventsError += entry.eventsError;
        known.bytes += entry.bytes;
        known.bytesError += entry.bytesError;
      }
    }
    this.absentEvents += other.absentEvents;
    this.absentBytes += other.absentBytes;
    this.trim();
  }

  /**
   * Limits bytes to the maximum of an entry. If there are more than twice `most` entries, evicts those that are
   * not among the first `most` in either measure.
   */
  trim(): void {
    const { entries, most } = this;
    const maxBytes = this.#maxBytes;
    if (this.absentBytes > maxBytes) this.absentBytes = maxBytes;
    for (const entry of entries.values()) {
      if (entry.bytes > maxBytes) entry.bytes = maxBytes;
      if (entry.bytesError > maxBytes) entry.bytesError = maxBytes;
    }
    if (entries.size <= 2 * most) return;
    const values = scratchOf(entries.size);
    let i = 0;
    for (const entry of entries.values()) values[i++] = entry.events;
    const events = largest(values, i, most);
    i = 0;
    for (const entry of entries.values()) values[i++] = entry.bytes;
    const bytes = largest(values, i, most);
    for (const [key, entry] of entries) {
      if (entry.events > events || entry.bytes > bytes) continue;
      entries.delete(key);
      if (entry.events > this.absentEvents) this.absentEvents = entry.events;
      if (entry.bytes > this.absentBytes) this.absentBytes = entry.bytes;
    }
  }
}

/** Counts of each value, by number. */
interface Counted {
  readonly events: Float64Array;
  readonly bytes: Float64Array;
}

/** Adds `met` and `sum` to an entry as exact counts, and `events` and `bytes` to its upper bounds and their errors. */
function enlarge(entry: TopEntry, events: number, bytes: number, met = 0, sum = 0): void {
  entry.events += events + met;
  entry.eventsError += events;
  entry.bytes += bytes + sum;
  entry.bytesError += bytes;
}

/** Returns the value at index `most` in descending order of the values at `numbers`. */
function bound(values: Float64Array, numbers: Int32Array, most: number): number {
  const chosen = scratchOf(numbers.length);
  for (let i = 0; i < numbers.length; i++) chosen[i] = values[numbers[i]!]!;
  return largest(chosen, numbers.length, most);
}

/** Returns a buffer for `length` numbers. The next call reuses the buffer. */
function scratchOf(length: number): Float64Array {
  if (scratch.length < length) scratch = new Float64Array(2 * length);
  return scratch;
}
let scratch = new Float64Array(1024);

/**
 * Returns the number at index `rank` in descending order of the first `length` numbers. Reorders these numbers.
 * Uses quickselect (Hoare, 1961) with the median of three as pivot: 10 ns per number.
 */
export function largest(values: Float64Array, length: number, rank: number): number {
  let low = 0;
  let high = length - 1;
  while (low < high) {
    const pivot = median(values[low]!, values[(low + high) >>> 1]!, values[high]!);
    let left = low;
    let right = high;
    while (left <= right) {
      while (values[left]! > pivot) left++;
      while (values[right]! < pivot) right--;
      if (left > right) break;
      const value = values[left]!;
      values[left++] = values[right]!;
      values[right--] = value;
    }
    if (rank <= right) high = right;
    else if (rank >= left) low = left;
    else return values[rank]!;
  }
  return values[rank]!;
}

function median(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}

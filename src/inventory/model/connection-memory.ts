/** Earlier data about the connection of a report. Every report overwrites the object. */
export interface Known {
  /** Whether the connection was reported before. */
  repeated: boolean;
  /** Whether an earlier report showed that the connection was answered. */
  answeredBefore: boolean;
  /** Largest byte count of an earlier report; 0 if there was no report. */
  bytesBefore: number;
}

const slotsPerBucket = 4;
/** Number of 32-bit words of a bucket, which is one cache line. */
const bucketWords = 16;
const times = 4;
const bytesAt = 4;
/** Bit of a slot's time: the last report showed that the connection had ended. */
const endedBit = 1;
/** Number of ended connections, among the eight candidates, that are not evicted before older open connections. */
const endedKept = 2;

/**
 * Stores reported connections. Sensors report a connection repeatedly (hourly while it is open, and at its end), but it
 * must be counted once, and counted as answered once. The size is fixed: 16 bytes per connection, in buckets of four:
 *
 * ```
 * | f f f f | t t t t | bytes | bytes | bytes | bytes |     64 bytes
 *   f: 32 bits of the key's hash, 0 for a free slot
 *   t: number of its last report, 31 bits, and `endedBit`
 *   bytes: maximum so far, f64, with the sign set (even of 0) until a report says that the connection was answered
 * ```
 *
 * A key may be in either of two buckets and goes to the bucket with more room. No connection is evicted until two
 * fifths of the slots are used (with one bucket per key instead of two: a fiftieth). With half as many connections as
 * slots, 1 in 60,000 is evicted; with as many connections as slots, 1 in 12 is evicted. Each lookup confuses two keys
 * with a probability of 2 in 10^9.
 *
 * The evicted connection is one of the eight in the two buckets. Most connections of sensors that report states have
 * ended when they are first reported, and are reported again only if the sensor sends a report twice. Other connections
 * need their slots until the next report, up to an hour later. If more than two of the eight have ended, the ended
 * connection with the oldest report is evicted; otherwise the connection with the oldest report. Therefore:
 *
 * - An open connection is evicted only after reports of five other open connections in its two buckets. Until then, no
 *   number of ended connections evicts it.
 * - An ended connection is evicted only after reports of two other ended connections, or of seven other
 *   connections, in its two buckets. In a flood of connections that look open, ended connections may therefore keep up
 *   to a quarter of the slots.
 *
 * These numbers assume that the two buckets differ. For one key in `slots / 4`, both buckets are the same.
 */
export class ConnectionMemory {
  readonly slots: number;
  /** Number of connections that were evicted. */
  forgotten = 0;
  readonly #words: Uint32Array;
  readonly #doubles: Float64Array;
  /** Mask of the lower bits of `place`, which select the first bucket. */
  readonly #mask: number;
  /** Shift to the upper bits of a product of `place`, which select the second bucket. */
  readonly #shift: number;
  #reports = 0;
  readonly #known: Known = { repeated: false, answeredBefore: false, bytesBefore: 0 };

  /** @param slots - a power of two, at least 8 */
  constructor(slots: number = 2 ** 21) {
    const buckets = slots / slotsPerBucket;
    const buffer = new ArrayBuffer(4 * bucketWords * buckets);
    this.slots = slots;
    this.#words = new Uint32Array(buffer);
    this.#doubles = new Float64Array(buffer);
    this.#mask = buckets - 1;
    this.#shift = Math.clz32(buckets - 1);
  }

  /**
   * Records a report of a connection, which is identified by two independent 32-bit hashes. The result is
   * valid until the next call.
   *
   * @param ended - whether the connection has ended, so that it is probably not reported again
   */
  report(place: number, hash: number, bytes: number, answered: boolean, ended: boolean): Readonly<Known> {
    const known = this.#known;
    const fingerprint = hash === 0 ? 1 : hash >>> 0;
    const first = firstBucket(place, this.#mask);
    const second = secondBucket(place, this.#shift);
    const now = ++this.#reports << 1;
    const time = ended ? now | endedBit : now;
    let slot = this.#find(first, fingerprint);
    if (slot < 0) slot = this.#find(second, fingerprint);
    if (slot >= 0) {
      const place = bytesPlace(slot);
      const before = this.#doubles[place]!;
      known.repeated = true;
      known.answeredBefore = before > 0 || Object.is(before, 0);
      known.bytesBefore = Math.abs(before);
      this.#words[slot + times] = time;
      const most = bytes > known.bytesBefore ? bytes : known.bytesBefore;
      this.#doubles[place] = answered || known.answeredBefore ? most : -most;
      return known;
    }
    slot = this.#slotFor(first, second, now);
    this.#words[slot] = fingerprint;
    this.#words[slot + times] = time;
    this.#doubles[bytesPlace(slot)] = answered ? bytes : -bytes;
    known.repeated = false;
    known.answeredBefore = false;
    known.bytesBefore = 0;
    return known;
  }

  /**
   * Prefetches the buckets at these places, which the next reports will read. Buckets are scattered: one read from
   * memory takes 100 ns, but the processor can read ten buckets in parallel, so a report takes a third of the time. The
   * result has no meaning; it prevents the reads from being optimised away.
   */
  fetch(places: Uint32Array, from: number, to: number): number {
    const words = this.#words;
    const mask = this.#mask;
    const shift = this.#shift;
    let sum = 0;
    for (let i = from; i < to; i++) {
      const place = places[i]!;
      sum ^= words[firstBucket(place, mask)]! ^ words[secondBucket(place, shift)]!;
    }
    return sum;
  }

  clear(): void {
    // An unused buffer is not cleared, because the system allocates its pages only when they are written.
    if (this.#reports > 0) this.#words.fill(0);
    this.#reports = 0;
  }

  #find(bucket: number, fingerprint: number): number {
    const words = this.#words;
    for (let slot = bucket; slot < bucket + slotsPerBucket; slot++) if (words[slot] === fingerprint) return slot;
    return -1;
  }

  /** Returns a free slot in the emptier bucket, otherwise the slot to evict. Buckets are filled from their start. */
  #slotFor(first: number, second: number, now: number): number {
    const inFirst = this.#used(first);
    const inSecond = this.#used(second);
    if (inFirst <= inSecond && inFirst < slotsPerBucket) return first + inFirst;
    if (inSecond < slotsPerBucket) return second + inSecond;
    this.forgotten++;
    return this.#evicted(first, second, now);
  }

  #used(bucket: number): number {
    for (let used = 0; used < slotsPerBucket; used++) if (this.#words[bucket + used] === 0) return used;
    return slotsPerBucket;
  }

  #evicted(first: number, second: number, now: number): number {
    const words = this.#words;
    let oldest = first;
    let longest = -1;
    let oldestEnded = first;
    let longestEnded = -1;
    let ended = 0;
    for (let i = 0; i < 2 * slotsPerBucket; i++) {
      const slot = i < slotsPerBucket ? first + i : second + i - slotsPerBucket;
      const time = words[slot + times]!;
      // The number of reports since the slot's last report, even if the counter has wrapped.
      const since = ((now | endedBit) - time) >>> 1;
      if (since > longest) {
        longest = since;
        oldest = slot;
      }
      if ((time & endedBit) === 0) continue;
      ended++;
      if (since > longestEnded) {
        longestEnded = since;
        oldestEnded = slot;
      }
    }
    return ended > endedKept ? oldestEnded : oldest;
  }
}

const firstBucket = (place: number, mask: number): number => (place & mask) * bucketWords;
const secondBucket = (place: number, shift: number): number => (Math.imul(place, 0x9e3779b1) >>> shift) * bucketWords;

/**
 * Returns the index of a slot's bytes among the doubles: the last four of the eight doubles in its bucket.
 */
function bytesPlace(slot: number): number {
  return (slot & -bucketWords) / 2 + bytesAt + (slot & (slotsPerBucket - 1));
}

/** What is known of the connection that an event reports. Filled anew by the next question. */
export interface Known {
  /** It was reported before. */
  repeated: boolean;
  /** One of those reports said that it was answered. */
  answeredBefore: boolean;
  /** Most bytes that an earlier report of it had; 0 where there is none. */
  bytesBefore: number;
}

const slotsPerBucket = 4;
/** 32-bit words of a bucket: one line of the processor's cache. */
const bucketWords = 16;
const ages = 4;
const bytesAt = 4;

/**
 * Remembers connections that were reported, so that one that is reported again (hourly while it is open, and at its
 * end) counts once, with its bytes so far, and once as answered. A fixed size, whatever comes: 16 bytes a connection, in buckets of four:
 *
 * ```
 * | f f f f | t t t t | bytes | bytes | bytes | bytes |     64 bytes
 *   f: 32 bits of the key's hash, 0 for a free slot   t: when it was reported last
 *   bytes: most so far, f64, its sign set (of 0 too) until a report says that it was answered
 * ```
 *
 * A key may be in either of two buckets and goes where there is more room. So nothing is forgotten while two fifths of
 * the slots are used (in a single bucket of four, from a fiftieth on); of as many connections as there are half the
 * slots 1 in 60,000 is, of as many as there are slots 1 in 12. It is the one, of the eight in the way of a new one,
 * that was reported longest ago. Two keys are taken for one with a probability of 2 in 10^9 for each that is looked up.
 */
export class ConnectionMemory {
  readonly slots: number;
  /** Connections that were forgotten for others. */
  forgotten = 0;
  readonly #words: Uint32Array;
  readonly #doubles: Float64Array;
  /** The lower bits of a place are its first bucket, the upper ones of it multiplied its second. */
  readonly #mask: number;
  readonly #shift: number;
  #age = 0;
  readonly #known: Known = { repeated: false, answeredBefore: false, bytesBefore: 0 };

  /** @param slots - a power of two from 8 on */
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
   * Notes a report of the connection that has these two hashes, independent of each other and of 32 bits each.
   * The result is valid until the next call.
   */
  report(place: number, hash: number, bytes: number, answered: boolean): Readonly<Known> {
    const known = this.#known;
    const fingerprint = hash === 0 ? 1 : hash >>> 0;
    const first = firstBucket(place, this.#mask);
    const second = secondBucket(place, this.#shift);
    const age = ++this.#age >>> 0;
    let slot = this.#find(first, fingerprint);
    if (slot < 0) slot = this.#find(second, fingerprint);
    if (slot >= 0) {
      const place = bytesPlace(slot);
      const before = this.#doubles[place]!;
      known.repeated = true;
      known.answeredBefore = before > 0 || Object.is(before, 0);
      known.bytesBefore = Math.abs(before);
      this.#words[slot + ages] = age;
      const most = bytes > known.bytesBefore ? bytes : known.bytesBefore;
      this.#doubles[place] = answered || known.answeredBefore ? most : -most;
      return known;
    }
    slot = this.#slotFor(first, second, age);
    this.#words[slot] = fingerprint;
    this.#words[slot + ages] = age;
    this.#doubles[bytesPlace(slot)] = answered ? bytes : -bytes;
    known.repeated = false;
    known.answeredBefore = false;
    known.bytesBefore = 0;
    return known;
  }

  /**
   * Reads the buckets that reports with these places will look into. They are far apart: reading one takes 100 ns from
   * memory, during which a processor that has nothing else to do fetches ten others, so that told of them beforehand, a
   * report takes a third of the time. The result means nothing; without one, the reading would be compiled away.
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
    // Pages that were never written to take no memory, and stay so.
    if (this.#age > 0) this.#words.fill(0);
    this.#age = 0;
  }

  #find(bucket: number, fingerprint: number): number {
    const words = this.#words;
    for (let slot = bucket; slot < bucket + slotsPerBucket; slot++)
      if (words[slot] === fingerprint) return slot;
    return -1;
  }

  /** A free slot in the emptier bucket, else that of the oldest of both. Buckets are filled from their start. */
  #slotFor(first: number, second: number, now: number): number {
    const inFirst = this.#used(first);
    const inSecond = this.#used(second);
    if (inFirst <= inSecond && inFirst < slotsPerBucket) return first + inFirst;
    if (inSecond < slotsPerBucket) return second + inSecond;
    this.forgotten++;
    const a = this.#oldest(first, now);
    const b = this.#oldest(second, now);
    return this.#since(a, now) >= this.#since(b, now) ? a : b;
  }

  #used(bucket: number): number {
    for (let used = 0; used < slotsPerBucket; used++) if (this.#words[bucket + used] === 0) return used;
    return slotsPerBucket;
  }

  #oldest(bucket: number, now: number): number {
    let oldest = bucket;
    for (let slot = bucket + 1; slot < bucket + slotsPerBucket; slot++)
      if (this.#since(slot, now) > this.#since(oldest, now)) oldest = slot;
    return oldest;
  }

  /** Reports since; right across the wrap of the counter. */
  #since(slot: number, now: number): number {
    return (now - this.#words[slot + ages]!) >>> 0;
  }
}

const firstBucket = (place: number, mask: number): number => (place & mask) * bucketWords;
const secondBucket = (place: number, shift: number): number =>
  (Math.imul(place, 0x9e3779b1) >>> shift) * bucketWords;

/** Where the bytes of a slot are among the doubles: its bucket has eight of them, the last four are these. */
function bytesPlace(slot: number): number {
  return (slot & -bucketWords) / 2 + bytesAt + (slot & (slotsPerBucket - 1));
}

import { finish } from '../../../sketch/hash.ts';

/** The number of used slots per bucket, and the slots one after another, seven words each. Plain data. */
export interface ConnectionSlotsState {
  readonly used: Uint8Array;
  readonly words: Uint32Array;
}

/** Identifies a pair. */
export interface PairHash {
  /** 32 bits of the hash of the source address. */
  src: number;
  /** 32 bits of the hash of the destination address. */
  dst: number;
  /** 24 bits that identify port, transport and direction. */
  what: number;
}

/** A stored connection. */
export interface KeptConnection {
  /** Time, epoch seconds. */
  second: number;
  srcBytes: number;
  dstBytes: number;
  /** Lower 32 bits of the sequence. */
  seq: number;
}

const inBucket = 32;
// Offsets in a bucket: each word is stored for all slots together.
const srcAt = 0;
const dstAt = inBucket;
const whatAt = 2 * inBucket;
const secondAt = 3 * inBucket;
const srcBytesAt = 4 * inBucket;
const dstBytesAt = 5 * inBucket;
const seqAt = 6 * inBucket;
const words = 7;
const bucketWords = words * inBucket;

const whatBits = 0xff_ffff;
/** Flag of a pair that was seen in several hours. */
const cameBack = 0x100_0000;
/**
 * Stored instead of a second if the pair has a record. The word of the originator's bytes then contains the
 * record's number.
 */
const recorded = 0xffff_ffff;
const noRecord = 0xffff_ffff;
const hourS = 3600;

/**
 * Stores connections of pairs with few connections in a fixed size, 28 bytes per connection. If a pair has a record
 * elsewhere, its slot contains the number of the record. Buckets of 32 slots are filled from their start:
 *
 * ```
 * | src × 32 | dst × 32 | what × 32 | second × 32 | bytes × 32, f32 | bytes × 32, f32 | seq × 32 |    896 bytes
 *   hashes of both addresses  24 bits and whether the pair was seen in several hours
 * ```
 *
 * A pair may be in two buckets, and each connection goes to the bucket with more room, so that no connection is dropped
 * until nineteen of twenty slots are used. Then a new connection replaces one of the 64 connections in both buckets.
 * The first choice is a connection older than the window, then the oldest connection of a pair seen in one hour only,
 * then the oldest connection of any other pair. Records are not replaced.
 *
 * Two random pairs are confused with a probability of 2^-72. An attacker can choose addresses so that pairs of the
 * attacker's own addresses are confused.
 */
export class ConnectionSlots {
  readonly slots: number;
  /** Number of connections within the window that were dropped to make room. */
  forgotten = 0;
  /** Used slots. */
  size = 0;
  /** Number of stored connections of the pair that was looked up last. */
  count = 0;
  readonly #hours: number;
  readonly #mask: number;
  readonly #shift: number;
  readonly #words: Uint32Array;
  readonly #floats: Float32Array;
  readonly #used: Uint8Array;
  // The pair that was looked up last, its two buckets, and the positions of its slots, ascending within each bucket.
  readonly #pair: PairHash = { src: 0, dst: 0, what: 0 };
  #first = 0;
  #second = 0;
  readonly #found = new Int32Array(2 * inBucket);

  /**
   * @param slots - a power of two, at least 128
   * @param hours - length of the window, which ends with the newest connection of the pair; older connections are
   *   dropped
   */
  constructor(slots: number, hours: number) {
    const buckets = slots / inBucket;
    const buffer = new ArrayBuffer(4 * words * slots);
    this.slots = slots;
    this.#hours = hours;
    this.#words = new Uint32Array(buffer);
    this.#floats = new Float32Array(buffer);
    this.#used = new Uint8Array(buckets);
    this.#mask = buckets - 1;
    this.#shift = Math.clz32(buckets - 1);
  }

  /** Returns the number of a pair's record, or `noRecord`, and selects the pair for the following calls. */
  look({ src, dst, what }: Readonly<PairHash>): number {
    const pair = this.#pair;
    pair.src = src;
    pair.dst = dst;
    pair.what = what;
    const place = placeOf(src, dst, what);
    this.#first = place & this.#mask;
    this.#second = Math.imul(place, 0x9e3779b1) >>> this.#shift;
    this.count = 0;
    const record = this.#scan(this.#first);
    if (record !== noRecord || this.#second === this.#first) return record;
    return this.#scan(this.#second);
  }

  /**
   * Drops connections that the new connection moves out of the pair's window. Returns false if the new
   * connection is late.
   */
  advance(second: number): boolean {
    const hour = Math.floor(second / hourS);
    let isOld = false;
    for (let i = 0; i < this.count; i++) {
      const other = Math.floor(this.#words[this.#found[i]! + secondAt]! / hourS);
      if (hour <= other - this.#hours) return false;
      isOld ||= other <= hour - this.#hours;
    }
    if (!isOld) return true;
    for (let i = this.count - 1; i >= 0; i--) {
      const slot = this.#found[i]!;
      const other = Math.floor(this.#words[slot + secondAt]! / hourS);
      if (other <= hour - this.#hours) this.#remove(slot);
    }
    this.look(this.#pair);
    return true;
  }

  /** Adds a connection of the selected pair. */
  add(second: number, srcBytes: number, dstBytes: number, seq: number): void {
    const hour = Math.floor(second / hourS);
    let isBack = false;
    for (let i = 0; i < this.count; i++)
      isBack ||= Math.floor(this.#words[this.#found[i]! + secondAt]! / hourS) !== hour;
    if (isBack) for (let i = 0; i < this.count; i++) this.#words[this.#found[i]! + whatAt]! |= cameBack;
    const slot = this.#room(second, seq);
    if (slot < 0) return;
    this.#fill(slot, second, seq, isBack ? cameBack : 0);
    this.#floats[slot + srcBytesAt] = srcBytes;
    this.#floats[slot + dstBytesAt] = dstBytes;
  }

  /** Removes the connections of the selected pair and returns them. */
  take(): KeptConnection[] {
    const taken: KeptConnection[] = [];
    for (let i = this.count - 1; i >= 0; i--) {
      const slot = this.#found[i]!;
      taken.push(this.#at(slot));
      this.#remove(slot);
    }
    this.count = 0;
    return taken;
  }

  /** Stores the record number of a pair that has no more connections in slots. */
  record(number: number): void {
    const slot = this.#room(0, 0);
    if (slot < 0) return;
    this.#fill(slot, recorded, 0, 0);
    this.#words[slot + srcBytesAt] = number;
  }

  /** Replaces the record number of the selected pair. Returns false if the pair has no record. */
  renumber(number: number): boolean {
    const slot = this.#recordOf(this.#first);
    const at = slot < 0 ? this.#recordOf(this.#second) : slot;
    if (at < 0) return false;
    this.#words[at + srcBytesAt] = number;
    return true;
  }

  /** Removes the record number of the selected pair. */
  unrecord(): void {
    const slot = this.#recordOf(this.#first);
    const at = slot < 0 ? this.#recordOf(this.#second) : slot;
    if (at >= 0) this.#remove(at);
  }

  /** Visits both address hashes of each connection and record. A pair may be visited more than once. */
  ends(visit: (src: number, dst: number) => void): void {
    for (let bucket = 0; bucket <= this.#mask; bucket++) {
      const start = bucket * bucketWords;
      for (let slot = start; slot < start + this.#used[bucket]!; slot++)
        visit(this.#words[slot + srcAt]!, this.#words[slot + dstAt]!);
    }
  }

  /** Visits every stored connection. */
  each(visit: (pair: Readonly<PairHash>, connection: KeptConnection) => void): void {
    const all = this.#words;
    for (let bucket = 0; bucket <= this.#mask; bucket++) {
      const start = bucket * bucketWords;
      for (let slot = start; slot < start + this.#used[bucket]!; slot++) {
        if (all[slot + secondAt] === recorded) continue;
        const what = all[slot + whatAt]! & whatBits;
        visit({ src: all[slot + srcAt]!, dst: all[slot + dstAt]!, what }, this.#at(slot));
      }
    }
  }

  state(): ConnectionSlotsState {
    const packed = new Uint32Array(words * this.size);
    let at = 0;
    for (let bucket = 0; bucket <= this.#mask; bucket++) {
      const start = bucket * bucketWords;
      for (let slot = start; slot < start + this.#used[bucket]!; slot++)
        for (let word = 0; word < words; word++) packed[at++] = this.#words[slot + word * inBucket]!;
    }
    return { used: this.#used.slice(), words: packed };
  }

  /** Restores the state of an object with the same number of slots. Records must be renumbered afterwards. */
  restore(state: ConnectionSlotsState): void {
    this.#used.set(state.used);
    this.size = state.words.length / words;
    let at = 0;
    for (let bucket = 0; bucket <= this.#mask; bucket++) {
      const start = bucket * bucketWords;
      for (let slot = start; slot < start + this.#used[bucket]!; slot++)
        for (let word = 0; word < words; word++) this.#words[slot + word * inBucket] = state.words[at++]!;
    }
  }

  #scan(bucket: number): number {
    const all = this.#words;
    const { src, dst, what } = this.#pair;
    const start = bucket * bucketWords;
    const end = start + this.#used[bucket]!;
    for (let slot = start; slot < end; slot++) {
      if (all[slot] !== src || all[slot + dstAt] !== dst || (all[slot + whatAt]! & whatBits) !== what) continue;
      if (all[slot + secondAt] === recorded) return all[slot + srcBytesAt]!;
      this.#found[this.count++] = slot;
    }
    return noRecord;
  }

  #recordOf(bucket: number): number {
    const all = this.#words;
    const { src, dst, what } = this.#pair;
    const start = bucket * bucketWords;
    for (let slot = start; slot < start + this.#used[bucket]!; slot++)
      if (
        all[slot] === src &&
        all[slot + dstAt] === dst &&
        (all[slot + whatAt]! & whatBits) === what &&
        all[slot + secondAt] === recorded
      )
        return slot;
    return -1;
  }

  #at(slot: number): KeptConnection {
    return {
      second: this.#words[slot + secondAt]!,
      srcBytes: this.#floats[slot + srcBytesAt]!,
      dstBytes: this.#floats[slot + dstBytesAt]!,
      seq: this.#words[slot + seqAt]!,
    };
  }

  #fill(slot: number, second: number, seq: number, back: number): void {
    const { src, dst, what } = this.#pair;
    this.#words[slot + srcAt] = src;
    this.#words[slot + dstAt] = dst;
    this.#words[slot + whatAt] = what | back;
    this.#words[slot + secondAt] = second;
    this.#words[slot + seqAt] = seq;
  }

  /** Removes a slot by moving the last slot of the bucket to its place. */
  #remove(slot: number): void {
    const bucket = Math.floor(slot / bucketWords);
    const last = bucket * bucketWords + --this.#used[bucket]!;
    for (let word = 0; word < bucketWords; word += inBucket) this.#words[slot + word] = this.#words[last + word]!;
    this.size--;
  }

  /** Returns a slot for one more connection, or a negative number if both buckets contain only records. */
  #room(second: number, seq: number): number {
    const first = this.#used[this.#first]!;
    const other = this.#used[this.#second]!;
    const bucket = first <= other ? this.#first : this.#second;
    if (this.#used[bucket]! < inBucket) {
      this.size++;
      return bucket * bucketWords + this.#used[bucket]!++;
    }
    return this.#leastOf(second, seq >>> 0);
  }

  #leastOf(second: number, seq: number): number {
    const all = this.#words;
    let least = -1;
    let leastWorth = 2;
    let leastAge = -1;
    for (const bucket of [this.#first, this.#second])
      for (let slot = bucket * bucketWords; slot < bucket * bucketWords + inBucket; slot++) {
        const at = all[slot + secondAt]!;
        if (at === recorded) continue;
        const isOld = second - at > this.#hours * hourS;
        const worth = isOld ? 0 : (all[slot + whatAt]! & cameBack) === 0 ? 1 : 2;
        if (worth > leastWorth) continue;
        const age = (seq - all[slot + seqAt]!) >>> 0;
        if (worth === leastWorth && age <= leastAge) continue;
        least = slot;
        leastWorth = worth;
        leastAge = age;
      }
    if (least >= 0 && leastWorth > 0) this.forgotten++;
    return least;
  }
}

/** Hashes all parts with the finaliser of MurmurHash3. */
function placeOf(src: number, dst: number, what: number): number {
  return finish(src ^ Math.imul(dst, 0x85ebca6b) ^ Math.imul(what, 0x9e3779b1));
}

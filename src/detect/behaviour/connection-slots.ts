import { finish } from '../../sketch/hash.ts';

/** Plain data: by bucket how many slots are used, and these one after another, seven words each. */
export interface ConnectionSlotsState {
  readonly used: Uint8Array;
  readonly words: Uint32Array;
}

/** Which pair: what it is told apart by. */
export interface PairHash {
  /** 32 bits of each end's address. */
  src: number;
  dst: number;
  /** 24 bits of all else. */
  what: number;
}

/** A connection that is kept. */
export interface KeptConnection {
  /** Epoch seconds. */
  second: number;
  srcBytes: number;
  dstBytes: number;
  /** Its lower 32 bits. */
  seq: number;
}

const inBucket = 32;
/** Where in a bucket each word of its slots is. */
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
/** Of a pair that came back in another hour. */
const cameBack = 0x100_0000;
/** In place of a second: the pair has a record, whose number is where the originator's bytes are. */
const recorded = 0xffff_ffff;
const noRecord = 0xffff_ffff;
const hourS = 3600;

/**
 * Connections of pairs that have had few, in a fixed size, 28 bytes each; of a pair that has a record elsewhere its
 * number. In buckets of 32 slots, used from the start on:
 *
 * ```
 * | src × 32 | dst × 32 | what × 32 | second × 32 | bytes × 32, f32 | bytes × 32, f32 | seq × 32 |    896 bytes
 *   hashes of both ends   24 bits and whether the pair came back in another hour
 * ```
 *
 * A pair may be in two buckets, and each connection goes where there is more room; so nothing is lost until nineteen of
 * twenty slots are used. Then goes, of the 64 in the way of a new one, what is older than the window; else the
 * connection that came longest ago of a pair that was seen in one hour only; else that of any other. Records don't go.
 *
 * Two pairs are taken for one with a probability of 2^-72 for two at random; who chooses addresses can make some of his
 * own so.
 */
export class ConnectionSlots {
  readonly slots: number;
  /** Connections within the window that were forgotten for others. */
  forgotten = 0;
  /** Slots that are used. */
  size = 0;
  /** Of the pair that was looked for last, how many connections are kept. */
  count = 0;
  readonly #hours: number;
  readonly #mask: number;
  readonly #shift: number;
  readonly #words: Uint32Array;
  readonly #floats: Float32Array;
  readonly #used: Uint8Array;
  /** What was looked for last, its buckets, and where its slots are, in ascending order within each. */
  readonly #pair: PairHash = { src: 0, dst: 0, what: 0 };
  #first = 0;
  #second = 0;
  readonly #found = new Int32Array(2 * inBucket);

  /**
   * @param slots - a power of two from 128 on
   * @param hours - of the window: what began earlier, as seen from the pair's newest connection, is of no use
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

  /** The number of a pair's record, `noRecord` where it has none; what follows is of this pair. */
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

  /** Drops what is older than the window of the pair when this connection is in it; false where this one is. */
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

  /** One more connection of the pair. */
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

  /** Gives the connections of the pair away. */
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

  /** Notes the record of a pair that has no connections here any more. */
  record(number: number): void {
    const slot = this.#room(0, 0);
    if (slot < 0) return;
    this.#fill(slot, recorded, 0, 0);
    this.#words[slot + srcBytesAt] = number;
  }

  /** Another number, of the record of the pair that was looked for last: it has one. */
  renumber(number: number): boolean {
    const slot = this.#recordOf(this.#first);
    const at = slot < 0 ? this.#recordOf(this.#second) : slot;
    if (at < 0) return false;
    this.#words[at + srcBytesAt] = number;
    return true;
  }

  /** The record of the pair that was looked for last is gone. */
  unrecord(): void {
    const slot = this.#recordOf(this.#first);
    const at = slot < 0 ? this.#recordOf(this.#second) : slot;
    if (at >= 0) this.#remove(at);
  }

  /** Both ends of each connection and record: some more than once. */
  ends(visit: (src: number, dst: number) => void): void {
    for (let bucket = 0; bucket <= this.#mask; bucket++) {
      const start = bucket * bucketWords;
      for (let slot = start; slot < start + this.#used[bucket]!; slot++)
        visit(this.#words[slot + srcAt]!, this.#words[slot + dstAt]!);
    }
  }

  /** Every connection that is kept. */
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

  /** Of as many slots. Records have to be numbered anew. */
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
      if (all[slot] !== src || all[slot + dstAt] !== dst || (all[slot + whatAt]! & whatBits) !== what)
        continue;
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

  /** The last of its bucket takes its place. */
  #remove(slot: number): void {
    const bucket = Math.floor(slot / bucketWords);
    const last = bucket * bucketWords + --this.#used[bucket]!;
    for (let word = 0; word < bucketWords; word += inBucket)
      this.#words[slot + word] = this.#words[last + word]!;
    this.size--;
  }

  /** A slot for one more; below 0 where there are records only. */
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

/** The finish of MurmurHash3 over all of it. */
function placeOf(src: number, dst: number, what: number): number {
  return finish(src ^ Math.imul(dst, 0x85ebca6b) ^ Math.imul(what, 0x9e3779b1));
}

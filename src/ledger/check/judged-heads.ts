import { equalHashes, type Hash } from '../../tlog/tree.ts';
import { verifyHead } from '../heads.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import { lowerBound } from '../storage/lower-bound.ts';
import type { SignedHead } from '../storage/storage.ts';
import type { KnownHeads } from './known-heads.ts';

/** Signed heads that are dropped: larger than the recovered log, or with another root. */
export interface DroppedHeads {
  readonly count: number;
  /** The first hundred dropped heads, by size and time. */
  readonly first: readonly SignedHead[];
  readonly largest: SignedHead | undefined;
}

/** Yields, in each call, the next heads up to a size, by size and time. The size must be that of the caller's tree. */
export type KeptHeads = (size: number, root: () => Hash) => Generator<SignedHead>;

const maxListed = 100;

/** Maximum cached runs of refused heads, 1.6 MB. Heads refused after that are verified again. */
const maxRuns = 100_000;

/**
 * Compares all known heads with the roots of a growing tree. Verifying signature and root of a head takes 100 µs, so
 * the result is cached for a second pass over the heads: refused heads as runs of numbers, up to a limit.
 */
export class HeadVerdictCache {
  readonly #known: KnownHeads;
  readonly #keys: KeyRing;
  readonly #refused: NumberRuns;
  readonly #pass: HeadsPass;
  readonly #first: SignedHead[] = [];
  #count = 0;
  #largest: SignedHead | undefined;
  #last: SignedHead | undefined;

  constructor(known: KnownHeads, keys: KeyRing, maxRefused = maxRuns) {
    this.#known = known;
    this.#keys = keys;
    this.#refused = new NumberRuns(maxRefused);
    this.#pass = new HeadsPass(known, keys);
  }

  /** Compares the next heads, of up to `size` leaves, with the root of the tree. The tree must have `size` leaves. */
  compare(size: number, root: () => Hash): void {
    for (const { number, head } of this.#pass.upTo(size)) {
      const isNew = this.#pass.isNew(head);
      if (isNew && equalHashes(head.root, root())) this.#last = head;
      else this.#refuse(number, isNew ? head : undefined);
    }
  }

  /** Drops the remaining heads, because the tree is complete. */
  end(): void {
    for (const { number, head } of this.#pass.upTo(Number.POSITIVE_INFINITY))
      this.#refuse(number, this.#pass.isNew(head) ? head : undefined);
  }

  /**
   * The largest head that matches the leaves; the newest if several heads have that size; undefined if no head matches.
   */
  get last(): SignedHead | undefined {
    return this.#last;
  }

  get dropped(): DroppedHeads {
    return { count: this.#count, first: this.#first, largest: this.#largest };
  }

  /** Returns the heads that match the leaves, for another pass. Call after `end`. */
  kept(): KeptHeads {
    const pass = new HeadsPass(this.#known, this.#keys);
    const refused = this.#refused;
    return function* upTo(size, root) {
      for (const { number, head } of pass.upTo(size)) {
        if (!refused.knows(number)) {
          if (pass.isNew(head) && equalHashes(head.root, root())) yield head;
        } else if (!refused.has(number)) {
          pass.note(head);
          yield head;
        }
      }
    };
  }

  /** Records a refused head. @param dropped - the head, unless it is unsigned or a duplicate */
  #refuse(number: number, dropped: SignedHead | undefined): void {
    this.#refused.add(number);
    if (dropped === undefined) return;
    this.#count += 1;
    if (this.#first.length < maxListed) this.#first.push(dropped);
    if (this.#largest === undefined || dropped.size > this.#largest.size) this.#largest = dropped;
  }
}

/** One pass over all heads. */
class HeadsPass {
  readonly #heads: Iterator<SignedHead, unknown>;
  readonly #keys: KeyRing;
  #next: SignedHead | undefined;
  #number = 0;
  /** Signed heads of the current size and time. */
  #here: SignedHead[] = [];

  constructor(known: KnownHeads, keys: KeyRing) {
    this.#heads = known.all();
    this.#keys = keys;
    this.#step();
  }

  *upTo(size: number): Generator<{ readonly number: number; readonly head: SignedHead }> {
    while (this.#next !== undefined && this.#next.size <= size) {
      const head = this.#next;
      this.#step();
      yield { number: this.#number++, head };
    }
  }

  /**
   * Returns whether the head is signed by a key of the log and is not a duplicate. Must be called in order, once for
   * each head.
   */
  isNew(head: SignedHead): boolean {
    const isHere = this.#here.some((one) => isSame(one, head));
    if (isHere || !verifyHead(head, this.#keys)) return false;
    this.note(head);
    return true;
  }

  /** Records a head that is known to be signed and new. */
  note(head: SignedHead): void {
    const [one] = this.#here;
    if (one?.size !== head.size || one.timestampNs !== head.timestampNs) this.#here = [];
    this.#here.push(head);
  }

  #step(): void {
    const { value, done } = this.#heads.next();
    this.#next = done === true ? undefined : (value as SignedHead);
  }
}

function isSame(a: SignedHead, b: SignedHead): boolean {
  return a.size === b.size && a.timestampNs === b.timestampNs && a.keyId === b.keyId && equalHashes(a.root, b.root);
}

/** Numbers added in ascending order, stored as runs of consecutive numbers. */
class NumberRuns {
  readonly #limit: number;
  readonly #from: number[] = [];
  readonly #before: number[] = [];
  /** The first number that exceeded the limit. */
  #end = Number.POSITIVE_INFINITY;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(number: number): void {
    if (!this.knows(number)) return;
    const last = this.#before.length - 1;
    if (this.#before[last] === number) this.#before[last] = number + 1;
    else if (this.#from.length === this.#limit) this.#end = number;
    else {
      this.#from.push(number);
      this.#before.push(number + 1);
    }
  }

  knows(number: number): boolean {
    return number < this.#end;
  }

  has(number: number): boolean {
    const at = lowerBound(this.#before.length, (i) => this.#before[i]!, number + 1);
    return this.#from[at] !== undefined && this.#from[at] <= number;
  }
}

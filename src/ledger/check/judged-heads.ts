import { equalHashes, type Hash } from '../../tlog/tree.ts';
import { verifyHead } from '../heads.ts';
import type { KeyRing } from '../keys/key-ring.ts';
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

/** Compares all known heads with the roots of a growing tree. Verifying signature and root of a head takes 100 µs. */
export class HeadVerdicts {
  readonly #known: KnownHeads;
  readonly #keys: KeyRing;
  readonly #pass: HeadsPass;
  readonly #first: SignedHead[] = [];
  #count = 0;
  #largest: SignedHead | undefined;
  #last: SignedHead | undefined;

  constructor(known: KnownHeads, keys: KeyRing) {
    this.#known = known;
    this.#keys = keys;
    this.#pass = new HeadsPass(known, keys);
  }

  /** Compares the next heads, of up to `size` leaves, with the root of the tree. The tree must have `size` leaves. */
  compare(size: number, root: () => Hash): void {
    for (const head of this.#pass.upTo(size)) {
      if (equalHashes(head.root, root())) this.#last = head;
      else this.#drop(head);
    }
  }

  /** Drops the remaining heads, because the tree is complete. */
  end(): void {
    for (const head of this.#pass.upTo(Number.POSITIVE_INFINITY)) this.#drop(head);
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

  /** Returns the heads that match the leaves, for another pass, which verifies them again. */
  kept(): KeptHeads {
    const pass = new HeadsPass(this.#known, this.#keys);
    return function* upTo(size, root) {
      for (const head of pass.upTo(size)) if (equalHashes(head.root, root())) yield head;
    };
  }

  #drop(head: SignedHead): void {
    this.#count += 1;
    if (this.#first.length < maxListed) this.#first.push(head);
    if (this.#largest === undefined || head.size > this.#largest.size) this.#largest = head;
  }
}

/** One pass over all heads that are signed by a key of the log, without duplicates. */
class HeadsPass {
  readonly #heads: Iterator<SignedHead, unknown>;
  readonly #keys: KeyRing;
  #next: SignedHead | undefined;
  /** Signed heads of the current size and time. */
  #here: SignedHead[] = [];

  constructor(known: KnownHeads, keys: KeyRing) {
    this.#heads = known.all();
    this.#keys = keys;
    this.#step();
  }

  /** Yields the next heads, of up to `size` leaves. */
  *upTo(size: number): Generator<SignedHead> {
    for (let head = this.#next; head !== undefined && head.size <= size; head = this.#next) {
      this.#step();
      if (this.#isNew(head)) yield head;
    }
  }

  #isNew(head: SignedHead): boolean {
    if (this.#here.some((one) => isSame(one, head)) || !verifyHead(head, this.#keys)) return false;
    const [one] = this.#here;
    if (one?.size !== head.size || one.timestampNs !== head.timestampNs) this.#here = [];
    this.#here.push(head);
    return true;
  }

  #step(): void {
    const { value, done } = this.#heads.next();
    this.#next = done === true ? undefined : (value as SignedHead);
  }
}

function isSame(a: SignedHead, b: SignedHead): boolean {
  return a.size === b.size && a.timestampNs === b.timestampNs && a.keyId === b.keyId && equalHashes(a.root, b.root);
}

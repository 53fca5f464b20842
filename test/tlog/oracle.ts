/** RFC 6962 section 2.1, implemented literally: recursive, from the leaves, slow. */
import { createHash } from 'node:crypto';

export function sha256(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(createHash('sha256').update(bytes).digest());
}

function concat(...parts: Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

function largestPowerOfTwoBelow(n: number): number {
  let k = 1;
  while (k * 2 < n) k *= 2;
  return k;
}

/** Returns MTH(D[n]). */
export function mth(leaves: readonly Uint8Array[]): Uint8Array {
  const n = leaves.length;
  if (n === 0) return sha256(new Uint8Array(0));
  if (n === 1) return sha256(concat(Uint8Array.of(0), leaves[0]!));
  const k = largestPowerOfTwoBelow(n);
  return sha256(concat(Uint8Array.of(1), mth(leaves.slice(0, k)), mth(leaves.slice(k))));
}

/** Returns PATH(m, D[n]). */
export function path(m: number, leaves: readonly Uint8Array[]): Uint8Array[] {
  const n = leaves.length;
  if (n === 1) return [];
  const k = largestPowerOfTwoBelow(n);
  return m < k
    ? [...path(m, leaves.slice(0, k)), mth(leaves.slice(k))]
    : [...path(m - k, leaves.slice(k)), mth(leaves.slice(0, k))];
}

/** Returns PROOF(m, D[n]). */
export function proof(m: number, leaves: readonly Uint8Array[]): Uint8Array[] {
  return subproof(m, leaves, true);
}

function subproof(m: number, leaves: readonly Uint8Array[], whole: boolean): Uint8Array[] {
  const n = leaves.length;
  if (m === n) return whole ? [] : [mth(leaves)];
  const k = largestPowerOfTwoBelow(n);
  return m <= k
    ? [...subproof(m, leaves.slice(0, k), whole), mth(leaves.slice(k))]
    : [...subproof(m - k, leaves.slice(k), false), mth(leaves.slice(0, k))];
}

/** Computes roots, paths and proofs like the functions above, with a cache for the roots of subtrees. */
export class Oracle {
  readonly #leaves: readonly Uint8Array[];
  readonly #known = new Map<string, Uint8Array>();

  constructor(leaves: readonly Uint8Array[]) {
    this.#leaves = leaves;
  }

  /** Returns MTH(D[from:to]). */
  root(from: number, to: number): Uint8Array {
    const name = `${from}:${to}`;
    let hash = this.#known.get(name);
    if (hash === undefined) {
      const n = to - from;
      if (n < 2) hash = mth(this.#leaves.slice(from, to));
      else {
        const middle = from + largestPowerOfTwoBelow(n);
        hash = sha256(concat(Uint8Array.of(1), this.root(from, middle), this.root(middle, to)));
      }
      this.#known.set(name, hash);
    }
    return hash;
  }

  path(m: number, from: number, to: number): Uint8Array[] {
    if (to - from === 1) return [];
    const middle = from + largestPowerOfTwoBelow(to - from);
    return m < middle
      ? [...this.path(m, from, middle), this.root(middle, to)]
      : [...this.path(m, middle, to), this.root(from, middle)];
  }

  proof(m: number, from: number, to: number, whole = true): Uint8Array[] {
    if (m === to) return whole ? [] : [this.root(from, to)];
    const middle = from + largestPowerOfTwoBelow(to - from);
    return m <= middle
      ? [...this.proof(m, from, middle, whole), this.root(middle, to)]
      : [...this.proof(m, middle, to, false), this.root(from, middle)];
  }
}

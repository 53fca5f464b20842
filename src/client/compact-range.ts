import { type Coordinate, foldRoot, type Hash, type Hasher, nodeHash, rootPlan } from '../tlog/tree.ts';

/**
 * A tree that grows, of which only the right edge is kept: one hash for each bit set in its size, so at most 53. What
 * an auditor keeps of entries that it has seen, to go on from there without them.
 *
 * Owner of the edge. Takes the list that it is given.
 */
export class CompactRange {
  readonly #sha256: Hasher;
  readonly #edge: Hash[];
  #size: number;

  /** `edge`: the hashes of `rootPlan(size)`, in that order. */
  constructor(sha256: Hasher, size = 0, edge: readonly Hash[] = []) {
    if (edge.length !== rootPlan(size).length)
      throw new Error(`${edge.length} hashes on the edge of ${size}`);
    this.#sha256 = sha256;
    this.#size = size;
    this.#edge = [...edge];
  }

  get size(): number {
    return this.#size;
  }

  get edge(): readonly Hash[] {
    return this.#edge;
  }

  root(): Hash {
    return foldRoot(this.#sha256, this.#size, this.#edge);
  }

  /** Adds a leaf; `onNode` is called for it and for each node that it completes, from the leaf up. */
  append(leaf: Hash, onNode?: (at: Coordinate, hash: Hash) => void): void {
    let hash = leaf;
    let index = this.#size;
    let level = 0;
    onNode?.({ level, index }, hash);
    for (; index % 2 === 1; onNode?.({ level, index }, hash)) {
      hash = nodeHash(this.#sha256, this.#edge.pop()!, hash);
      index = (index - 1) / 2;
      level += 1;
    }
    this.#edge.push(hash);
    this.#size += 1;
  }
}

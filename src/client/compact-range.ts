import { type Coordinate, foldRoot, type Hash, type Hasher, nodeHash, rootPlan } from '../tlog/tree.ts';

/**
 * The right edge of a growing tree: one hash per bit set in its size, at most 53. It allows an auditor to
 * continue from verified entries without storing them.
 */
export class CompactRange {
  readonly #sha256: Hasher;
  readonly #edge: Hash[];
  #size: number;

  /** Creates the right edge. @param edge - the hashes of `rootPlan(size)`, in that order */
  constructor(sha256: Hasher, size = 0, edge: readonly Hash[] = []) {
    if (edge.length !== rootPlan(size).length)
      throw new Error(`an edge for size ${size} cannot have ${edge.length} hashes`);
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

  /** Appends a leaf. `onNode` is called for the leaf and for each node that it completes, bottom-up. */
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

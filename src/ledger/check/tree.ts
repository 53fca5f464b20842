import { sha256 } from '../../crypto/sha256.ts';
import { GrowingTree } from '../../tlog/growing-tree.ts';
import { equalHashes, foldEdge, type Hash } from '../../tlog/tree.ts';
import { segmentLeaves } from '../storage/leaf-index.ts';
import type { CheckInput } from './check-input.ts';
import type { ExternalHead } from './external-heads.ts';
import { findRow } from './row-cursor.ts';
import { numbersKey } from './row-keys.ts';
import type { SegmentResult } from './segment.ts';
import { segmentLevels } from './segment-tree.ts';
import { unpackRoots } from './wanted-roots.ts';

/**
 * Joins segments, in order, to the whole tree: the pages of nodes above them, and the roots of all heads. The
 * root at a size within a segment is folded from the complete subtrees of earlier segments and the segment's
 * own root, because RFC 6962 folds the right edge from the right.
 */
export class TreeJoin {
  readonly #input: CheckInput;
  readonly #size: number;
  readonly #witnesses: readonly ExternalHead[];
  /** A tree whose leaves are the roots of whole segments. */
  readonly #above = GrowingTree.load(sha256, 0, () => undefined)!;
  /** Right edge of `#above`, largest subtree first. */
  #edge: readonly Hash[] = [];
  #broken = false;

  constructor(input: CheckInput, size: number, witnesses: readonly ExternalHead[]) {
    this.#input = input;
    this.#size = size;
    this.#witnesses = witnesses;
  }

  add(part: SegmentResult): void {
    if (this.#broken) return;
    for (const { size, root, signed } of unpackRoots(part.roots))
      this.#compare(size, this.#rootOf(size - part.first, root), signed);
    if (part.root === undefined) this.#broken = true;
    else if (part.leaves === segmentLeaves) this.#append(part.root);
  }

  /** Compares the pages above the segments with the stored pages. */
  end(): void {
    if (this.#broken || this.#size < segmentLeaves) return;
    const { file, tables, findings } = this.#input;
    const table = tables.get('pages');
    for (const { level, index, bytes } of this.#above.takePages()) {
      const stored = table && findRow(file, table, numbersKey([level + segmentLevels, index]));
      const name = `page ${level + segmentLevels}/${index} of the nodes`;
      if (stored === undefined) findings.add('node_missing', `${name} is missing`, index);
      else if (Buffer.compare(stored, bytes) !== 0)
        findings.add('node_altered', `${name} does not match the entries`, index);
    }
  }

  #append(root: Hash): void {
    this.#above.append(root);
    this.#edge = this.#above.edge();
  }

  #rootOf(leaves: number, own: Hash): Hash {
    return leaves === 0 ? this.#above.root() : foldEdge(sha256, [...this.#edge, own]);
  }

  #compare(size: number, root: Hash, signed: Hash | undefined): void {
    const { findings } = this.#input;
    if (signed !== undefined) {
      if (equalHashes(signed, root)) return;
      findings.add('head_root', `the root of the head of ${size} leaves does not match the entries`, size);
      return;
    }
    for (const { head, source, root: code } of this.#witnesses) {
      if (head.size !== size || equalHashes(head.root, root)) continue;
      findings.add(code, `the root of the head of ${size} leaves in ${source} does not match the entries`, size);
    }
  }
}

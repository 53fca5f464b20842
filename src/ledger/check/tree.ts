import { sha256 } from '../../crypto/sha256.ts';
import { GrowingTree } from '../../tlog/growing-tree.ts';
import { equalHashes, foldEdge, type Hash, nodeHash } from '../../tlog/tree.ts';
import { segmentLeaves } from '../storage/leaf-index.ts';
import type { DatabaseFile, Table } from './database-file.ts';
import type { ExternalHead } from './external-heads.ts';
import type { Findings } from './findings.ts';
import { findRow } from './row-cursor.ts';
import { numbersKey } from './row-keys.ts';
import type { SegmentResult } from './segment.ts';
import { segmentLevels } from './segment-tree.ts';
import { unpackRoots } from './wanted-roots.ts';

/** A complete subtree over segments. */
interface Subtree {
  readonly segments: number;
  readonly hash: Hash;
}

/**
 * Joins segments, in order, to the whole tree: the pages of nodes above them, and the roots of all heads. The
 * root at a size within a segment is folded from the complete subtrees of earlier segments and the segment's
 * own root, because RFC 6962 folds the right edge from the right.
 */
export class TreeJoin {
  readonly #input: {
    readonly file: DatabaseFile;
    readonly tables: ReadonlyMap<string, Table>;
    readonly findings: Findings;
  };
  readonly #size: number;
  readonly #witnesses: readonly ExternalHead[];
  /** A tree whose leaves are the roots of whole segments. */
  readonly #above = GrowingTree.load(sha256, 0, () => undefined)!;
  /** Right edge of the tree, largest subtree first. */
  readonly #edge: Subtree[] = [];
  #broken = false;

  constructor(
    input: {
      readonly file: DatabaseFile;
      readonly tables: ReadonlyMap<string, Table>;
      readonly findings: Findings;
    },
    size: number,
    witnesses: readonly ExternalHead[],
  ) {
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
    let subtree: Subtree = { segments: 1, hash: root };
    for (let left = this.#edge.at(-1); left?.segments === subtree.segments; left = this.#edge.at(-1)) {
      this.#edge.pop();
      subtree = { segments: 2 * left.segments, hash: nodeHash(sha256, left.hash, subtree.hash) };
    }
    this.#edge.push(subtree);
  }

  #rootOf(leaves: number, own: Hash): Hash {
    const before = this.#edge.map(({ hash }) => hash);
    if (leaves === 0) return before.length === 0 ? sha256(new Uint8Array(0)) : foldEdge(sha256, before);
    return foldEdge(sha256, [...before, own]);
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

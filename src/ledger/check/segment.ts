import { join } from 'node:path';
import { pageColumns } from '../../tlog/page.ts';
import type { Hash } from '../../tlog/tree.ts';
import { KeyRing } from '../keys/key-ring.ts';
import { segmentLeaves } from '../storage/leaf-index.ts';
import { DatabaseFile, type PageDamage, type Table } from './database-file.ts';
import { EntriesCheck } from './entries.ts';
import { wholePieceBytes } from './file-pieces.ts';
import { Findings, type FoundThings } from './findings.ts';
import { checkSignature, readHeads } from './heads.ts';
import { type IndexSums, SegmentIndexes } from './indexes.ts';
import { RootRecorder } from './wanted-roots.ts';

/**
 * A part of the log that can be checked independently: 65,536 leaves, two complete levels of pages of nodes.
 */
export interface SegmentJob {
  /** Index of the segment's first leaf, a multiple of 65,536. */
  readonly first: number;
  /** Size of the log's last head. */
  readonly size: number;
  readonly signatures: boolean;
  readonly seeds: readonly [number, number];
  /** First id of the segment's share of the index by id. Default: the first id of the index. */
  readonly idsFrom?: string;
  /** First id beyond the segment's share of the index by id. Default: no limit. */
  readonly idsBefore?: string;
  /** Further sizes at which a root is needed, ascending. */
  readonly alsoAt: readonly number[];
}

export interface SegmentResult extends IndexSums {
  readonly first: number;
  readonly leaves: number;
  /** Root of the segment's own leaves; undefined if a leaf is unknown. */
  readonly root: Hash | undefined;
  /**
   * Roots at each head in the segment and each size in `alsoAt` (wanted-roots.ts). There are no roots after an unknown
   * leaf.
   */
  readonly roots: Uint8Array;
  readonly found: FoundThings;
  readonly damages: readonly PageDamage[];
}

/** Tasks of the worker threads of `fsck`. */
export interface FsckTasks {
  check(job: SegmentJob): Promise<SegmentResult>;
}

/** Reads a log segment by segment. Owns an open file. */
export class SegmentReader {
  readonly #file: DatabaseFile;
  readonly #tables: ReadonlyMap<string, Table>;
  readonly #keys: KeyRing;

  constructor({ dataDir, ledgerPath }: { readonly dataDir: string; readonly ledgerPath: string }) {
    this.#keys = KeyRing.load(join(dataDir, 'keys'));
    this.#file = new DatabaseFile(ledgerPath, { isDirect: true, pieceBytes: wholePieceBytes });
    this.#tables = this.#file.tables(() => {}); // damage is reported by fsck.ts
  }

  close(): void {
    this.#file.close();
  }

  /** Checks one segment. `onStep` is called after each page of 256 leaves. */
  async check(
    job: SegmentJob,
    onStep: (leaves: number) => Promise<void> | undefined = () => undefined,
  ): Promise<SegmentResult> {
    const { first, size, signatures } = job;
    const findings = new Findings();
    const damages: PageDamage[] = [];
    const onDamage = (damage: PageDamage): void => void damages.push(damage);
    const shared = { file: this.#file, tables: this.#tables, findings, onDamage };
    const leaves = Math.min(segmentLeaves, size - first);
    const indexes = new SegmentIndexes({ ...shared, ...job });
    // Malformed rows are reported by `checkHeads`, which reads all of them.
    const heads = () => readHeads({ ...shared, findings: new Findings() }, first === 0 ? 0 : first + 1, first + leaves);
    const wanted = new RootRecorder(heads(), job.alsoAt);
    const check = new EntriesCheck({
      ...{ ...shared, keys: this.#keys, indexes, first, leaves, signatures },
      onSize: (at, root) => wanted.reached(first + at, root),
    });
    wanted.reached(first, () => new Uint8Array(0)); // a head of an empty tree would precede all leaves
    while (!check.done) {
      check.step();
      indexes.readIds(pageColumns);
      await onStep(check.leaves);
    }
    check.end();
    indexes.readIds();
    indexes.checkRuns();
    for (const head of heads()) checkSignature(head, this.#keys, findings);
    return {
      ...{ first, leaves, root: check.root, roots: wanted.packed, ...indexes.sums, damages },
      found: { list: findings.list, counts: findings.counts },
    };
  }
}

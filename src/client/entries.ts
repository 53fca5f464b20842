import type { Ed25519Verifier } from '../tlog/note.ts';
import { pageColumns } from '../tlog/page.ts';
import { equalHashes } from '../tlog/tree.ts';
import { Fault } from './fault.ts';
import type { KeySet } from './key-set.ts';
import { emptyTree, LeafAudit, type TreeEdge } from './leaf-audit.ts';
import { type LogSource, patient } from './log-source.ts';
import { placeOfMismatch, TileAudit, type TileMismatch } from './tile-audit.ts';
import { fetchEntryBundle } from './tiles.ts';
import type { SignedHead } from './tree-head.ts';

/** Bundles of entries under way at once: enough to hide the network; each may have 16 MB, real ones some 100 kB. */
const concurrency = 4;

export interface EntriesOptions {
  /** The tree whose entries were checked before. Default: the empty one, so that all are. */
  readonly start?: TreeEdge;
  /** Verifies the signatures of entries instead of @noble/ed25519 (1 ms each), under the same policy. */
  readonly verify?: Ed25519Verifier;
  /** Called after each bundle: indices below `next` are done, up to `end`. */
  onProgress?(next: number, end: number): void;
}

export interface CheckedRange {
  /** Where to go on the next time. */
  readonly tree: TreeEdge;
  /** Entries that a key signed which was revoked later. */
  readonly byRevokedKeys: number;
}

/**
 * Fetches every entry from the start up to the head, in bundles (C2SP tlog-tiles), and the tiles over them: the form,
 * signature and id of each entry, the root that all of them give, and every hash of every tile that grew. Reading
 * entries needs a role. Memory doesn't grow with the log.
 */
export async function auditEntries(
  log: LogSource,
  signed: { readonly head: SignedHead; readonly keys: KeySet },
  options: EntriesOptions = {},
): Promise<CheckedRange | Fault> {
  const { start = emptyTree, verify, onProgress } = options;
  const { head, keys } = signed;
  if (start.size > head.size) throw new Error(`entries from ${start.size} on in a tree of ${head.size}`);
  const source = patient(log);
  const leaves = new LeafAudit(keys, start, verify);
  const tiles = new TileAudit(source, start.size);
  for await (const entries of bundles(source, start.size, head.size)) {
    if (entries instanceof Fault) return entries;
    for (const canonical of entries) {
      const entry = leaves.add(canonical, tiles.onNode);
      if (entry instanceof Fault) return entry;
    }
    const failed = await tiles.checkFull();
    if (failed !== undefined) return failed;
    onProgress?.(leaves.size, head.size);
  }
  const failed = await tiles.checkPartial(leaves.tree);
  if (failed !== undefined) return failed;
  const { mismatch } = tiles;
  if (!equalHashes(leaves.root(), head.root)) return wrongRoot(mismatch, start.size, head.size);
  if (mismatch !== undefined)
    return new Fault('WRONG_TILE', `${placeOfMismatch(mismatch)} is not what the entries give`);
  return { tree: leaves.tree, byRevokedKeys: leaves.byRevokedKeys };
}

/** The entries of [from, to), in order, a bundle at a time; ends with the first fault. */
export async function* bundles(
  log: LogSource,
  from: number,
  to: number,
): AsyncGenerator<Uint8Array[] | Fault, void> {
  if (from >= to) return;
  const waiting: Promise<Uint8Array[] | Fault>[] = [];
  let next = Math.floor(from / pageColumns);
  const ask = (): void => {
    const width = Math.min(pageColumns, to - next * pageColumns);
    if (width > 0) waiting.push(fetchEntryBundle(log, next++, width));
  };
  for (let i = 0; i < concurrency; i++) ask();
  let skip = from % pageColumns;
  for (let first = waiting.shift(); first !== undefined; first = waiting.shift()) {
    const entries = await first;
    ask();
    yield entries instanceof Fault ? entries : entries.slice(skip);
    if (entries instanceof Fault) return;
    skip = 0;
  }
}

/** The head's root is signed, so it is the entries that are others: where a leaf differs from its tile, that one. */
function wrongRoot(mismatch: TileMismatch | undefined, from: number, size: number): Fault {
  if (mismatch?.tile.level === 0 && mismatch.column !== undefined) {
    const index = mismatch.tile.index * pageColumns + mismatch.column;
    return new Fault('NOT_INCLUDED', `entry ${index} is not the one whose hash is in the tree of ${size}`);
  }
  const where = mismatch === undefined ? '' : `; ${placeOfMismatch(mismatch)} differs`;
  return new Fault('WRONG_ROOT', `the entries from ${from} on give another root for size ${size}${where}`);
}

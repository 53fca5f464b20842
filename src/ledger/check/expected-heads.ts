import { caught } from '../../errors.ts';
import { parseCheckpoint } from '../../tlog/checkpoint.ts';
import { TlogError } from '../../tlog/fault.ts';
import { parseNote } from '../../tlog/note.ts';
import { equalHashes } from '../../tlog/tree.ts';
import type { Regression } from '../journal.ts';
import type { SignedHead } from '../storage/storage.ts';
import type { KeyHistory } from './key-history.ts';

/** Lookup in the history of heads. */
export interface HeadLookup {
  /** Returns the head with this size and time; undefined if the history lacks it. */
  headAt(size: number, timestampNs: bigint): SignedHead | undefined;
  /** Returns the first head signed for a size; undefined if the history has no head of that size. */
  firstHeadOf(size: number): SignedHead | undefined;
}

export interface ExpectedHeads {
  /** Number of leaves of the log. */
  readonly size: number;
  /** Signed heads in anchor and journal. A head is written there only after it is in the history. */
  readonly named: readonly { readonly head: SignedHead; readonly source: string }[];
  /** The checkpoint stored in ledger.mdb, which was made from a head. */
  readonly kept: string | undefined;
  readonly history: KeyHistory;
  /** The last restore or rebuild. Heads of sizes above its `to_size`, up to `from_size`, were abandoned. */
  readonly regression: Regression | undefined;
}

/**
 * Yields heads that the history must have but lacks: heads in anchor and journal, the head of the checkpoint, and the
 * last head of each retired tree-head key, which is the first head of its size.
 */
export function* missingHeads(
  heads: HeadLookup,
  { size, named, kept, history, regression }: ExpectedHeads,
): Generator<{ readonly size: number; readonly message: string }> {
  const lost = [...history.lost];
  if (regression !== undefined) lost.push({ after: regression.to_size, to: regression.from_size });
  const isGivenUp = (at: number) => lost.some(({ after, to }) => at > after && at <= to);
  for (const { head, source } of named)
    if (head.size <= size && heads.headAt(head.size, head.timestampNs) === undefined)
      yield missing(head.size, `${source} has it`);
  const checkpoint = kept === undefined ? undefined : checkpointOf(kept);
  if (checkpoint !== undefined && checkpoint.size > 0 && checkpoint.size <= size) {
    const head = heads.firstHeadOf(checkpoint.size);
    if (head === undefined || !equalHashes(head.root, checkpoint.root))
      yield missing(checkpoint.size, 'a checkpoint was made from it');
  }
  for (const { kid, toSize } of history.retired)
    if (toSize > 0 && toSize <= size && !isGivenUp(toSize) && heads.firstHeadOf(toSize)?.keyId !== kid)
      yield missing(toSize, `it was the last head that key ${kid} signed`);
}

function missing(size: number, reason: string): { size: number; message: string } {
  return { size, message: `the history lacks a head of ${size} leaves: ${reason}` };
}

function checkpointOf(note: string): { readonly size: number; readonly root: Uint8Array } | undefined {
  return caught(TlogError, undefined, () => parseCheckpoint(parseNote(note).text));
}

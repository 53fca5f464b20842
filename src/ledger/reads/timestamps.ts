import type { EntryData } from '../../contract/resources/log-entry-data.ts';
import { caught } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { parseCheckpoint } from '../../tlog/checkpoint.ts';
import { TlogError } from '../../tlog/fault.ts';
import { parseNote } from '../../tlog/note.ts';
import { equalHashes } from '../../tlog/tree.ts';
import type { BundleTimestamps, StoredLeaf } from '../ledger.ts';
import type { LedgerStorage } from '../storage/storage.ts';
import type { Prover } from './prover.ts';
import type { VerifiedNodes } from './verified-nodes.ts';

type Timestamped = EntryData<'checkpoint.timestamped'>;

const kind = 'checkpoint.timestamped';

/**
 * Returns the RFC 3161 timestamps that bracket a leaf in the tree of `size` leaves. For each authority, these are its
 * last timestamp in the log before the leaf, and its first timestamp of a checkpoint that covers the leaf. Reads at
 * most `limits.nearbyTimestamps` entries before and after the leaf.
 */
export function timestampsAround(
  { storage, nodes, prover }: { storage: LedgerStorage; nodes: VerifiedNodes; prover: Prover },
  leafIndex: number,
  size: number,
): BundleTimestamps {
  const { kinds } = storage;
  const end = kinds.countBelow(kind, size);
  const place = kinds.countBelow(kind, leafIndex, 0, end);
  const near = limits.nearbyTimestamps;
  const read = (indices: readonly number[]) =>
    indices.flatMap((index) => {
      const leaf = prover.leafAt(index, [kind]);
      const data = timestampOf(leaf);
      return data === undefined ? [] : [{ leaf, data }];
    });
  const before = firstOfEach(read(kinds.range(kind, Math.max(0, place - near), place).reverse()));
  const covering = read(kinds.range(kind, place, Math.min(end, place + near))).filter(({ data }) =>
    covers(nodes, data, leafIndex, size),
  );
  return {
    not_before: before.map(({ leaf }) => ({
      leaf,
      audit_path: prover.inclusion({ leaf_index: leaf.leaf_index }, size).audit_path,
    })),
    not_after: firstOfEach(covering).map(({ data }) => {
      const { size: covered } = parseCheckpoint(parseNote(data.checkpoint).text);
      const { audit_path } = prover.inclusion({ leaf_index: leafIndex }, covered);
      const { authority, gen_time, checkpoint, token } = data;
      return { authority, gen_time, checkpoint, token, audit_path };
    }),
  };
}

/** Returns the timestamp in an entry; undefined if its data was too long for the entry and was left out. */
function timestampOf({ canonical }: StoredLeaf): Timestamped | undefined {
  const { data } = JSON.parse(Buffer.from(canonical).toString('utf8')) as { data: Partial<Timestamped> };
  return data.checkpoint === undefined || data.token === undefined ? undefined : (data as Timestamped);
}

/** Returns whether the checkpoint belongs to this tree and covers the leaf. */
function covers(nodes: VerifiedNodes, { checkpoint }: Timestamped, leafIndex: number, size: number): boolean {
  return caught(TlogError, false, () => {
    const { size: covered, root } = parseCheckpoint(parseNote(checkpoint).text);
    return covered > leafIndex && covered <= size && equalHashes(root, nodes.rootAt(covered));
  });
}

function firstOfEach<T extends { readonly data: Timestamped }>(found: readonly T[]): T[] {
  const seen = new Set<string>();
  return found.filter(({ data: { authority } }) => !seen.has(authority) && seen.add(authority));
}

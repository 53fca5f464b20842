import type { ExpiryReason } from '../../contract/vocabulary.ts';
import type { Table } from '../../events/records.ts';
import { limits } from '../../limits.ts';
import type { BlockDirectory } from './block-directory.ts';

/** The oldest block of a table. */
export interface OldBlock {
  readonly table: Table;
  /** Sequences [from, to). */
  readonly from: number;
  readonly to: number;
  /** When its first and last events were received, corrected for clock errors: epoch milliseconds. */
  readonly receivedFrom: number;
  readonly received: number;
  /** Bytes of the block and of its table, before LMDB rounds up to pages. */
  readonly bytes: number;
  readonly tableBytes: number;
}

/** The bounds of retention. */
export interface Bounds {
  /** Milliseconds since an event was received; 0 for no limit. */
  readonly maxAgeMs: number;
  /** Maximum bytes on disk of all events. */
  readonly maxBytes: number;
}

/**
 * Chooses the next block to remove among the oldest of each table, and the reason.
 *
 * Age is measured from when an event was received: its own time is a claim of the sender, by which it would
 * be removed at once (1970) or never (2100). To free space, the block received first is removed, whichever
 * its table is, so that both tables reach back equally far. A table within its share is left alone, so that a
 * flood of one kind of event cannot displace the other.
 *
 * @param over - bytes above `maxBytes`
 */
export function chooseExpired(
  oldest: readonly OldBlock[],
  { maxAgeMs }: Pick<Bounds, 'maxAgeMs'>,
  over: number,
  nowMs: number,
): { readonly block: OldBlock; readonly reason: ExpiryReason } | undefined {
  const first = oldest.toSorted((a, b) => a.received - b.received);
  const block = first[0];
  if (block === undefined) return undefined;
  if (maxAgeMs > 0 && block.received < nowMs - maxAgeMs) return { block, reason: 'age' };
  if (over <= 0) return undefined;
  const all = oldest.reduce((sum, { tableBytes }) => sum + tableBytes, 0);
  const beyond = first.find(({ tableBytes }) => tableBytes > all * limits.retainedTableShare);
  return { block: beyond ?? block, reason: 'bytes' };
}

/**
 * Returns when the oldest block of a directory was received. A time in the future came from a clock that was
 * ahead: the time of the next block with a plausible time, which was received later, is used instead.
 */
export function believedTime(
  { count, received }: Pick<BlockDirectory, 'count' | 'received'>,
  nowMs: number,
): number {
  for (let block = 0; block < count; block++) if (received[block]! <= nowMs) return received[block]!;
  return nowMs;
}

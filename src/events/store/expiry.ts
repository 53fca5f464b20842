import type { ExpiryReason } from '../../contract/vocabulary.ts';
import { limits } from '../../limits.ts';
import type { Table } from '../records.ts';
import type { BlockDirectory } from './block-directory.ts';

/** The oldest block of a table. */
export interface OldBlock {
  readonly table: Table;
  /** First sequence of the block. */
  readonly from: number;
  /** Sequence after the last row of the block. */
  readonly to: number;
  /** Receipt time of the first event, corrected for clock errors, epoch milliseconds. */
  readonly receivedFrom: number;
  /** Receipt time of the last event, corrected for clock errors, epoch milliseconds. */
  readonly received: number;
  /** Bytes of the block, before LMDB rounds up to pages. */
  readonly bytes: number;
  /** Total bytes of the table's blocks. */
  readonly tableBytes: number;
}

/** The bounds of retention. */
export interface Bounds {
  /** Maximum time since an event was received, in milliseconds; 0 for no limit. */
  readonly maxAgeMs: number;
  /** Maximum bytes on disk of all events. */
  readonly maxBytes: number;
}

/**
 * Chooses the next block to remove, among the oldest blocks of the tables. Returns the block and the reason.
 *
 * Age is measured from the time of receipt. The event time is set by the sender: by event time, an event of 1970
 * would be removed immediately, and an event of 2100 never. To free space, the block that was received first is
 * removed, regardless of its table, so that both tables cover equal periods. A table within its share is exempt, so
 * that a flood of one kind of event cannot evict events of the other kind.
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
 * ahead. In that case, the time of the next block with a plausible time, which was received later, is used
 * instead.
 */
export function believedTime({ count, received }: Pick<BlockDirectory, 'count' | 'received'>, nowMs: number): number {
  for (let block = 0; block < count; block++) if (received[block]! <= nowMs) return received[block]!;
  return nowMs;
}

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
  /** When the first and the last of its events were received, as far as that can be believed: epoch milliseconds. */
  readonly receivedFrom: number;
  readonly received: number;
  /** Its own bytes, and those of its table, before LMDB rounds up to pages. */
  readonly bytes: number;
  readonly tableBytes: number;
}

/** How much is kept. */
export interface Bounds {
  /** Milliseconds since an event was received; 0 for no such bound. */
  readonly maxAgeMs: number;
  /** Bytes on disk of all events. */
  readonly maxBytes: number;
}

/**
 * Which block goes next, of the oldest of each table, and why.
 *
 * Age goes by when an event was received: its own time is the sender's claim, by which it would vanish at once (1970) or
 * never (2100). For want of room the block goes that was received first, whichever its table is, so that both reach back
 * equally far; but a table that has no more than its share is left alone, so that a flood of the one kind can't drive
 * out the other.
 *
 * @param over - bytes past `maxBytes`
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
 * When the oldest block of a directory was received. A time that has not come yet was that of a clock which was ahead:
 * then the block is as old as the next with a time that can be, which came later.
 */
export function believedTime(
  { count, received }: Pick<BlockDirectory, 'count' | 'received'>,
  nowMs: number,
): number {
  for (let block = 0; block < count; block++) if (received[block]! <= nowMs) return received[block]!;
  return nowMs;
}

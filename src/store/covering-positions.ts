import type { EventTables } from '../events/store/tables.ts';
import type { LogTables } from './log-tables.ts';
import type { CoveringPosition } from './store.ts';

/** Returns the positions of entries that cover receipts or events and have left the outbox, newest first. */
export function lastCoveringPositions(
  kind: CoveringPosition['kind'],
  {
    receiptBatches,
    eventSeals,
    outboxIds,
  }: Pick<LogTables, 'receiptBatches' | 'outboxIds'> & Pick<EventTables, 'eventSeals'>,
  limit: number,
  below?: number,
): CoveringPosition[] {
  const positions: CoveringPosition[] = [];
  const range = { reverse: true, ...(below === undefined ? {} : { start: below - 1 }) };
  const rows = kind === 'receipts' ? receiptBatches.getRange(range) : eventSeals.getRange(range);
  for (const { key, value } of rows) {
    if (positions.length === limit) break;
    const { entry_id } = value;
    if (!outboxIds.doesExist(entry_id)) positions.push({ kind, place: key, entry_id });
  }
  return positions;
}

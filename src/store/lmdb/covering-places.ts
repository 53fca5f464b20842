import type { CoveringPlace } from '../store.ts';
import type { Tables } from './tables.ts';

/** Returns entries that cover receipts or events and have left the outbox, newest first. */
export function lastCoveringPlaces(
  kind: CoveringPlace['kind'],
  { receiptBatches, eventSeals, outboxIds }: Pick<Tables, 'receiptBatches' | 'eventSeals' | 'outboxIds'>,
  limit: number,
  below?: number,
): CoveringPlace[] {
  const places: CoveringPlace[] = [];
  const range = { reverse: true, ...(below === undefined ? {} : { start: below - 1 }) };
  const rows = kind === 'receipts' ? receiptBatches.getRange(range) : eventSeals.getRange(range);
  for (const { key, value } of rows) {
    if (places.length === limit) break;
    const { entry_id } = value;
    if (!outboxIds.doesExist(entry_id)) places.push({ kind, place: key, entry_id });
  }
  return places;
}

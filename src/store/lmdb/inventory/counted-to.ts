import type { Table } from '../../../events/records.ts';
import type { Tables } from '../tables.ts';

/**
 * Returns the first sequence that the inventory has not processed. If the row that stores it is damaged,
 * returns that of the next event: skipping a few pending events is better than counting all events twice.
 */
export function countedTo(
  { inventoryState }: Pick<Tables, 'inventoryState'>,
  events: { next(table: Table): number },
  table: Table,
): number {
  const known = inventoryState.get(table)?.next_seq;
  return known ?? (inventoryState.doesExist(table) ? events.next(table) : 1);
}

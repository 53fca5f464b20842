import type { Table } from '../events/records.ts';
import type { InventoryTables } from '../inventory/store/tables.ts';

/**
 * Returns the first sequence that the inventory has not processed. If the row that stores this sequence is
 * damaged, returns the sequence of the next event: skipping a few pending events is better than processing
 * all events twice.
 */
export function processedTo(
  { inventoryState }: Pick<InventoryTables, 'inventoryState'>,
  events: { next(table: Table): number },
  table: Table,
): number {
  const known = inventoryState.get(table)?.next_seq;
  return known ?? (inventoryState.doesExist(table) ? events.next(table) : 1);
}

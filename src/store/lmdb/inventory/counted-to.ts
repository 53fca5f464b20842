import type { Table } from '../../../events/records.ts';
import type { Tables } from '../tables.ts';

/**
 * The first sequence that the inventory has not counted. Where the row that tells is damaged, that of the next event: to
 * leave out the few events that waited is better than to count all of them twice.
 */
export function countedTo(
  { inventoryState }: Pick<Tables, 'inventoryState'>,
  events: { next(table: Table): number },
  table: Table,
): number {
  const known = inventoryState.get(table)?.next_seq;
  return known ?? (inventoryState.doesExist(table) ? events.next(table) : 1);
}

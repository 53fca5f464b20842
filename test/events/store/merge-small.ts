import type { Table } from '../../../src/events/records.ts';
import { DamagedBlockError } from '../../../src/events/store/damaged-range.ts';
import type { EventStore } from '../../../src/events/store/event-store.ts';

/**
 * Merges one run of small blocks of a table, or sets a damaged block of the run aside. Returns false if no run is worth
 * merging.
 */
export function mergeSmall(events: EventStore, table: Table): boolean {
  const [run] = events.smallBlocks(table);
  if (run === undefined) return false;
  try {
    const merged = events.merged(run);
    events.blockStore.transaction(() => events.replace(run, merged));
  } catch (error) {
    if (!(error instanceof DamagedBlockError)) throw error;
    events.blockStore.transaction(() => events.check(table, error.firstSeq));
  }
  return true;
}

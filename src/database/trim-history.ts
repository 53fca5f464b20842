import { within } from './grouped-rows.ts';
import type { Rows } from './rows.ts';

/** A table of history rows, keyed by owner and an increasing number. */
type HistoryTable<V> = Pick<Rows<V, [string, number]>, 'getRange' | 'removeSync'>;

/**
 * Returns the number of rows that are removed together when the limit is reached, to spread the cost of finding
 * the oldest rows.
 */
export const slackOf = (limit: number): number => Math.ceil(limit / 10);

/**
 * Removes the oldest rows of a history, so that `limit` rows are left. Rows of users' changes are removed
 * last. Must be called within a transaction.
 */
export function trimHistory<V>(
  table: HistoryTable<V>,
  of: string,
  limit: number,
  isByPerson: (row: V) => boolean,
): { readonly removed: number; readonly left: number } {
  const rows = Array.from(table.getRange(within<number>(of)), ({ key, value }) => ({
    key,
    byPerson: Number(isByPerson(value)),
  }));
  const gone = rows
    .toSorted((a, b) => a.byPerson - b.byPerson || a.key[1] - b.key[1])
    .slice(0, Math.max(rows.length - limit, 0));
  for (const { key } of gone) table.removeSync(key);
  return { removed: gone.length, left: rows.length - gone.length };
}

import type { ScanRow } from './scans.ts';

/**
 * Counts live scans that are missing from the list because they were requested after it was fetched; scans on later
 * pages of the list are not new.
 *
 * @param list - an unfiltered list; `fetchedAt` in epoch milliseconds
 */
export function freshCount(
  live: Iterable<ScanRow>,
  list: { readonly rows: readonly ScanRow[]; readonly hasMore: boolean; readonly fetchedAt: number },
): number {
  const listed = new Set(list.rows.map(({ id }) => id));
  return [...live].filter(
    ({ id, attributes }) => !listed.has(id) && (!list.hasMore || Date.parse(attributes.requested_at) > list.fetchedAt),
  ).length;
}

import type { ScanRow } from './scans.ts';

/**
 * How many scans that were told of live the list lacks because it was asked for before them. What is only further down it
 * is not new.
 *
 * @param list - without filters, which would leave scans out; `askedAt` in epoch milliseconds
 */
export function freshCount(
  told: Iterable<ScanRow>,
  list: { readonly rows: readonly ScanRow[]; readonly hasMore: boolean; readonly askedAt: number },
): number {
  const listed = new Set(list.rows.map(({ id }) => id));
  return [...told].filter(
    ({ id, attributes }) =>
      !listed.has(id) && (!list.hasMore || Date.parse(attributes.requested_at) > list.askedAt),
  ).length;
}

import type { Scan, ScanRow } from './scans.ts';

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

type State = Pick<Scan, 'status' | 'progress'>;

/** Returns whether a state of a scan precedes its known state, as in a response that arrives after live data. */
export const isOlder = (scan: State, known: State): boolean => advance(scan) < advance(known);

const advance = ({ status, progress }: State): number =>
  status === 'queued'
    ? -1
    : status === 'running'
      ? progress.probes_done + progress.hosts_done
      : Number.POSITIVE_INFINITY;

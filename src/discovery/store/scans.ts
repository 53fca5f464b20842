import type { Scan } from '../../contract/resources/scan.ts';
import { jsonPage } from '../../database/json-page.ts';
import { boundsOnlyTime } from '../../database/lists/filter.ts';
import { pageFrom, pageOf, type Row } from '../../database/lists/list.ts';
import { entryCount, lastSequence } from '../../database/rows.ts';
import { positionsByTime } from '../../database/time-pages.ts';
import { limits } from '../../limits.ts';
import type { ListFilter, ListPage, ListQuery, Replay, ScanUpdate, StoredScan } from '../../store/store.ts';
import { compileScanFilter, scanList } from '../lists/scans.ts';
import type { ScanTables } from './tables.ts';

/** A scan as stored. */
export interface ScanRow {
  /** Position in the sequence of changes: the key of `scanLog` that names this scan. */
  readonly seq: number;
  readonly scan: Scan;
}

/** Finished scans no longer change, and may be removed. */
const isOver = ({ status }: Scan): boolean => status !== 'queued' && status !== 'running';

/**
 * Plans to store a new scan, or the new state of a scan. Beyond `max`, the oldest finished scans are removed;
 * `forgot` is called for each removed scan.
 */
export function planScan(
  tables: ScanTables,
  { id, ...scan }: StoredScan,
  forgot: () => void,
  max: number = limits.maxScans,
): () => ScanUpdate {
  return () => {
    const { scans, scanLog, scanTimes } = tables;
    const before = scans.get(id);
    const seq = lastSequence(scanLog) + 1;
    scanLog.putSync(seq, id);
    if (before === undefined) scanTimes.putSync([Date.parse(scan.requested_at), id], true);
    else scanLog.removeSync(before.seq);
    scans.putSync(id, { seq, scan });
    if (before === undefined) forgetOldest(tables, max, forgot);
    return { seq, scan: { id, ...scan } };
  };
}

function forgetOldest({ scans, scanLog, scanTimes }: ScanTables, max: number, forgot: () => void): void {
  let excess = entryCount(scans) - max;
  if (excess <= 0) return;
  for (const key of [...scanTimes.getKeys({ limit: excess + limits.maxQueuedScans + 1 })]) {
    const row = scans.get(key[1])!;
    if (excess === 0 || !isOver(row.scan)) continue;
    scans.removeSync(key[1]);
    scanLog.removeSync(row.seq);
    scanTimes.removeSync(key);
    forgot();
    excess--;
  }
}

export function lastScan({ scans, scanTimes }: ScanTables): StoredScan | undefined {
  for (const [, id] of scanTimes.getKeys({ reverse: true, limit: 1 })) return { id, ...scans.get(id)!.scan };
  return undefined;
}

/** Returns the waiting and running scans, in the order in which they were requested. */
export function unfinishedScans({ scans }: ScanTables): StoredScan[] {
  const found: StoredScan[] = [];
  for (const { key: id, value } of scans.getRange()) if (!isOver(value.scan)) found.push({ id, ...value.scan });
  return found.sort((a, b) =>
    a.requested_at < b.requested_at || (a.requested_at === b.requested_at && a.id < b.id) ? -1 : 1,
  );
}

/**
 * Returns one page of scans with the exact total. Reads only the page if the scans are sorted by time of request, and
 * are either not filtered or filtered only by time.
 */
export function listScans(tables: ScanTables, query: ListQuery, cancelled: () => boolean): ListPage {
  const { shown, ...rest } =
    query.sort === 'requested_at' && boundsOnlyTime(query)
      ? pageFrom(scanList, query, (after, offset) => positionsByTime(tables.scanTimes, query, after, offset))
      : pageOf(scanList, rows(tables), query, cancelled);
  const scans = shown.map(({ id }) => ({ id, type: scanList.type, attributes: tables.scans.get(id)!.scan }));
  return { json: jsonPage(scans, query), ...rest };
}

function* rows({ scans }: ScanTables): Generator<Row<Scan>> {
  for (const { key, value } of scans.getRange()) yield { id: key, item: value.scan };
}

/** Returns the latest state of each matching scan that changed after `since`, in order of change. */
export function replayScans(tables: ScanTables, since: number, filter: ListFilter, limit: number): Replay<Scan> {
  const wanted = compileScanFilter(filter);
  const head = lastSequence(tables.scanLog);
  const events: { seq: number; id: string; data: Scan }[] = [];
  let next = Math.max(since, 0);
  for (const { key, value: id } of tables.scanLog.getRange({ start: next, exclusiveStart: true })) {
    if (events.length === limit) return { events, next, head, lost: 0 };
    const { scan } = tables.scans.get(id)!;
    if (wanted(scan)) events.push({ seq: key, id, data: scan });
    next = key;
  }
  return { events, next: head, head, lost: 0 };
}

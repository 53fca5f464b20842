import { expect, test } from 'vitest';
import { freshCount, isOlder } from '../../../src/console/pages/discovery/fresh.ts';
import type { Scan, ScanRow } from '../../../src/console/pages/discovery/scans.ts';

const at = (second: number) => `2026-11-22T08:00:${String(second).padStart(2, '0')}.000Z`;
const fetchedAt = Date.parse(at(30));
const scan = (id: string, second: number) =>
  ({ type: 'scan', id, attributes: { requested_at: at(second) } }) as ScanRow;

test('scans requested after the list was fetched are new', () => {
  const live = [scan('listed', 40), scan('later', 31), scan('further down', 10)];
  expect(freshCount(live, { rows: [scan('listed', 40)], hasMore: true, fetchedAt })).toBe(1);
});

test('scans missing from a complete list are new, whatever their time', () => {
  expect(freshCount([scan('a', 10), scan('b', 20)], { rows: [scan('a', 10)], hasMore: false, fetchedAt })).toBe(1);
});

test('an earlier state of a scan is older than a later state, and no state is older than itself', () => {
  const state = (status: Scan['status'], probes_done: number) => ({
    status,
    progress: { hosts_total: 1, hosts_done: 0, probes_total: 100, probes_done },
  });
  const states = [state('queued', 0), state('running', 0), state('running', 50), state('cancelled', 50)];
  const older = states.map((scan) => states.map((known) => isOlder(scan, known)));
  expect(older).toEqual(states.map((_, scan) => states.map((_, known) => scan < known)));
});

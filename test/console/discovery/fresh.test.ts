import { expect, test } from 'vitest';
import { freshCount } from '../../../src/console/pages/discovery/fresh.ts';
import type { ScanRow } from '../../../src/console/pages/discovery/scans.ts';

const at = (second: number) => `2026-11-22T08:00:${String(second).padStart(2, '0')}.000Z`;
const askedAt = Date.parse(at(30));
const scan = (id: string, second: number) =>
  ({ type: 'scan', id, attributes: { requested_at: at(second) } }) as ScanRow;

test('scans are new that were requested after the list was asked for', () => {
  const told = [scan('listed', 40), scan('later', 31), scan('further down', 10)];
  expect(freshCount(told, { rows: [scan('listed', 40)], hasMore: true, askedAt })).toBe(1);
});

test('where the whole list is there, what it lacks is new, whatever the clocks say', () => {
  expect(freshCount([scan('a', 10), scan('b', 20)], { rows: [scan('a', 10)], hasMore: false, askedAt })).toBe(
    1,
  );
});

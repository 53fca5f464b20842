/** Exports of complete event lists in parts, whatever the blocks contain. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { mulberry32 } from '../../../bench/conn-records.ts';
import { openDatabase } from '../../../src/database/lmdb.ts';
import { BlockBuilder } from '../../../src/events/format/block-builder.ts';
import type { EventFilter } from '../../../src/events/query/filter.ts';
import { EventStore } from '../../../src/events/store/event-store.ts';
import type { EventExportPlace, SortOrder } from '../../../src/store/store.ts';
import { networkRecord } from '../../store/records.ts';
import { mergeSmall } from './merge-small.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

function open() {
  const folder = mkdtempSync(join(tmpdir(), 'candor-export-'));
  const env = openDatabase(join(folder, 'siem.mdb'));
  const events = new EventStore(env);
  closers.push(async () => {
    await env.close();
    rmSync(folder, { recursive: true });
  });
  const append = (times: readonly number[]) => {
    const builder = new BlockBuilder('network', 0);
    for (const [i, timestamp] of times.entries()) builder.add(networkRecord({ timestamp, dst_port: i % 3 }));
    env.transactionSync(() => events.append(builder.finish()));
  };
  return { events, append };
}

const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const listed = (events: EventStore, filter: EventFilter, order: SortOrder) =>
  JSON.parse(decode(events.list({ table: 'network', filter, order, per_page: 1_000_000, page: 1 }).json));

function exported(
  events: EventStore,
  filter: EventFilter,
  order: SortOrder,
  { size = 7, scanRows = 30, meanwhile = () => {} } = {},
): { items: unknown[]; parts: number; largest: number } {
  const items: unknown[] = [];
  let place: EventExportPlace | undefined;
  let parts = 0;
  let largest = 0;
  do {
    const query = { table: 'network', filter, order, ...(place === undefined ? {} : { place }) } as const;
    const { lines, next } = events.export(query, size, scanRows);
    const part = decode(lines).split('\n').slice(0, -1);
    items.push(...part.map((line) => JSON.parse(line)));
    largest = Math.max(largest, part.length);
    parts++;
    place = next;
    meanwhile();
  } while (place !== undefined);
  return { items, parts, largest };
}

const filters: EventFilter[] = [
  { terms: [] },
  { terms: [{ field: 'dst_port', values: [2] }] },
  { terms: [{ field: 'dst_port', values: [9] }] },
  { terms: [], from: 1010, to: 1060 },
];

test.each([
  ['in order', (i: number) => 1000 + i],
  ['of few milliseconds', (i: number) => 1000 + Math.floor(i / 90)],
  ['of one millisecond', () => 1000],
  ['in any order', (_: number, random: () => number) => 1000 + Math.floor(random() * 80)],
  ['late by up to three blocks', (i: number, random: () => number) => 2000 + i - Math.floor(random() * 60)],
])('events %s are exported once each, in the order of the list', (_name, timeOf) => {
  const { events, append } = open();
  const random = mulberry32(7);
  for (let block = 0; block < 15; block++) append(Array.from({ length: 20 }, (_, i) => timeOf(20 * block + i, random)));
  for (const filter of filters)
    for (const order of ['asc', 'desc'] as const) {
      const { items, largest } = exported(events, filter, order);
      expect(items).toEqual(listed(events, filter, order));
      expect(largest).toBeLessThanOrEqual(7);
    }
});

test('events stored during an export are not in the export', () => {
  const { events, append } = open();
  append(Array.from({ length: 50 }, (_, i) => 1000 + i));
  for (const order of ['asc', 'desc'] as const) {
    const before = listed(events, { terms: [] }, order);
    const meanwhile = () => append([999, 1010, 1049, 1050, 5000]);
    expect(exported(events, { terms: [] }, order, { meanwhile }).items).toEqual(before);
  }
});

test('if few events match, a part ends after a number of rows, and the next part continues', () => {
  const { events, append } = open();
  for (let block = 0; block < 20; block++) append(Array.from({ length: 20 }, (_, i) => 1000 + 20 * block + i));
  const none: EventFilter = { terms: [{ field: 'dst_port', values: [2] }], q: 'nowhere' };
  expect(exported(events, none, 'desc', { scanRows: 100 })).toMatchObject({ items: [], parts: 4 });
  expect(exported(events, none, 'desc', { scanRows: 1_000_000 }).parts).toBe(1);
});

test('merges during an export do not change the export', () => {
  const { events, append } = open();
  for (let block = 0; block < 40; block++) append(Array.from({ length: 5 }, (_, i) => 1000 + 5 * block + i));
  const before = listed(events, { terms: [] }, 'desc');
  const meanwhile = () => void mergeSmall(events, 'network');
  expect(exported(events, { terms: [] }, 'desc', { meanwhile }).items).toEqual(before);
});

/** Damaged blocks and rows over HTTP: all intact data is served, and responses say what is missing. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Status } from '../../src/contract/resources/status.ts';
import type { OperationId } from '../../src/contract/routes.ts';
import { openDatabase, type RootDatabase } from '../../src/database/lmdb.ts';
import { openReader } from '../../src/store/reader.ts';
import { adminOf, openService, type Service } from './service.ts';

const start = Date.parse('2026-11-20T10:00:00Z');
const hour = 3_600_000;
const perBlock = 5;

let service: Service;
let token: string;
let root: RootDatabase;

const conn = (n: number) => ({
  ts: (start + Math.floor(n / perBlock) * hour + n * 1000) / 1000,
  uid: `C${n}`,
  'id.orig_h': `10.0.0.${n}`,
  'id.orig_p': 40_000,
  'id.resp_h': '198.51.100.7',
  'id.resp_p': 443,
  proto: 'tcp',
  conn_state: 'SF',
});

beforeAll(async () => {
  service = await openService();
  token = await adminOf(service);
  for (let block = 0; block < 3; block++) {
    const lines = Array.from({ length: perBlock }, (_, i) => JSON.stringify(conn(perBlock * block + i)));
    const headers = { 'content-type': 'application/x-ndjson' };
    await service.call('ingest', 'POST /api/v1/ingest', { token, text: lines.join('\n'), headers });
  }
  root = openDatabase(join(service.services.config.data_dir, 'siem.mdb'));
});
afterAll(async () => {
  await root.close();
  await service.close();
});

/** Flips a bit in the middle of a stored value, and returns a function that restores it. */
function flip(table: string, key: string | number[]): () => void {
  const values = root.openDB<Buffer, string | number[]>({ name: table, encoding: 'binary' });
  const value = Buffer.from(values.get(key)!);
  const flipped = Buffer.from(value);
  flipped[flipped.length >>> 1]! ^= 4;
  values.putSync(key, flipped);
  return () => void values.putSync(key, value);
}

const get = async (operation: OperationId, path: string) => {
  const { status, body, headers } = await service.call(operation, `GET ${path}`, { token });
  return { status, headers, body: body as never as Body };
};
interface Body {
  readonly data: { readonly id: string; readonly attributes: unknown }[];
  readonly meta: { readonly damaged_events?: unknown };
  readonly error: unknown;
}

const events = '/api/v1/events/network';
const statusOf = async () =>
  ((await get('getStatus', '/api/v1/status')).body.data as never as { attributes: Status }).attributes;

test('queries leave out a damaged block and say so; requests for its events return an error', async () => {
  // Uses another reader, so that the service has cached nothing when the block is damaged.
  const other = openReader(service.services.config.data_dir);
  const asked = { table: 'network', filter: { terms: [] }, order: 'desc', per_page: 50, page: 1 } as const;
  const before = JSON.parse(Buffer.from(other.listEvents(asked).json).toString()) as Body['data'];
  other.close();
  expect(before).toHaveLength(3 * perBlock);
  const second = perBlock + 1;
  flip('event-headers', [0, second]);

  const sound = [...before.slice(0, perBlock), ...before.slice(2 * perBlock)];
  const list = await get('listNetworkEvents', events);
  expect(list.body.data).toEqual(sound);
  expect(list.body.meta).toMatchObject({ damaged_events: [{ events: perBlock }] });
  const histogram = await get('getNetworkEventHistogram', `${events}/histogram`);
  expect(histogram.body.meta).toMatchObject({ damaged_events: [{ events: perBlock }] });
  const values = await get('getNetworkEventValues', `${events}/values?by=src_ip`);
  expect(values.body.meta).toMatchObject({ damaged_events: [{ events: perBlock }] });
  const exported = await fetch(`${service.url}${events}`, {
    headers: { authorization: `Bearer ${token}`, accept: 'application/x-ndjson' },
  });
  expect(exported.headers.get('x-damaged-events')).toBe(`${perBlock}`);
  expect((await exported.text()).trim().split('\n')).toHaveLength(2 * perBlock);
  const one = await get('getNetworkEvent', `${events}/${before[perBlock]!.id}`);
  expect([one.status, one.body.error]).toEqual([
    500,
    expect.objectContaining({ code: 'INTERNAL', details: { reason: 'data_damaged', table: 'network' } }),
  ]);

  const { store, ledger, verdict } = await statusOf();
  expect(store).toMatchObject({ damaged_events: perBlock, network_events: 2 * perBlock });
  expect(ledger.findings).toMatchObject([
    { code: 'store_damaged', message: expect.stringContaining('5 network events of unknown time (block 6)') },
  ]);
  expect(verdict.well).toBe(false);
});

test('a damaged part is reported with the time of its events, which limits the affected queries', async () => {
  const parts = root.openDB<Buffer, number[]>({ name: 'event-parts', encoding: 'binary' });
  const third = 2 * perBlock + 1;
  const [key] = [...parts.getKeys({ start: [0, third], end: [0, third + 1] })];
  flip('event-parts', key!);
  await service.store.reportDamage({ table: 'network', block: third });
  const damaged = { events: perBlock, from: '2026-11-20T12:00:10.000Z', to: '2026-11-20T12:00:14.000Z' };
  const within = await get('listNetworkEvents', `${events}?from=2026-11-20T12:00:00Z`);
  expect(within.body.meta.damaged_events).toContainEqual(damaged);
  const without = await get('listNetworkEvents', `${events}?to=2026-11-20T12:00:00Z`);
  expect(without.body.meta.damaged_events ?? []).not.toContainEqual(damaged);
  // New events are stored and served.
  const text = JSON.stringify(conn(40));
  const sent = await service.call('ingest', 'POST /api/v1/ingest', {
    token,
    text,
    headers: { 'content-type': 'application/x-ndjson' },
  });
  expect(sent.status).toBe(200);
  expect((await get('listNetworkEvents', events)).body.data).toHaveLength(perBlock + 1);
});

test('the list of principals responds 500 while one of its rows is damaged', async () => {
  const principals = root.openDB<Buffer, string>({ name: 'principals', encoding: 'binary' });
  const [id] = [...principals.getKeys()];
  const restore = flip('principals', id!);
  const list = await service.call('listPrincipals', 'GET /api/v1/principals', { token });
  expect(list.status).toBe(500);
  restore();
  expect((await service.call('listPrincipals', 'GET /api/v1/principals', { token })).status).toBe(200);
});

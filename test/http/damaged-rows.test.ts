/**
 * Damaged alert rows over HTTP: bodies are stored even if a finding belongs to a damaged row, and responses omit the
 * damaged alerts and say so.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Status } from '../../src/contract/resources/status.ts';
import type { OperationId } from '../../src/contract/routes.ts';
import { openDatabase, type RootDatabase } from '../../src/database/lmdb.ts';
import { adminOf, openService, type Service } from './service.ts';

let service: Service;
let token: string;
let root: RootDatabase;
let damaged: string;

const eve = (n: number) =>
  JSON.stringify({
    timestamp: new Date(Date.now() - 1000).toISOString(),
    event_type: 'alert',
    src_ip: `203.0.113.${n}`,
    src_port: 443,
    dest_ip: `10.0.1.${n}`,
    dest_port: 51_000,
    proto: 'TCP',
    alert: { signature_id: 2_000_000 + n, gid: 1, rev: 1, signature: `ET ${n}`, category: 'x', severity: 2 },
  });
const conn = (n: number) =>
  JSON.stringify({
    ts: Date.now() / 1000 - 1,
    uid: `C${n}`,
    'id.orig_h': '10.0.3.1',
    'id.orig_p': 40_000 + n,
    'id.resp_h': '10.0.3.2',
    'id.resp_p': 443,
    proto: 'tcp',
    conn_state: 'SF',
  });

interface Body {
  readonly data: {
    readonly id: string;
    readonly attributes: { readonly src_ip?: string; readonly count: number };
  }[];
  readonly meta: { readonly damaged_rows?: number };
  readonly error?: { readonly details: unknown };
}

const get = async (operation: OperationId, path: string) => {
  const { status, body } = await service.call(operation, `GET ${path}`, { token });
  return { status, body: body as Body };
};
const send = (lines: readonly string[]) =>
  service.call('ingest', 'POST /api/v1/ingest', {
    token,
    text: lines.join('\n'),
    headers: { 'content-type': 'application/x-ndjson' },
  });

function flip(table: string, key: string): void {
  const rows = root.openDB<Buffer, string>({ name: table, encoding: 'binary' });
  const value = Buffer.from(rows.get(key)!);
  value[value.length >>> 1]! ^= 4;
  rows.putSync(key, value);
}

beforeAll(async () => {
  service = await openService();
  token = await adminOf(service);
  expect((await send([1, 2, 3, 4].map(eve))).status).toBe(200);
  const { body } = await get('listAlerts', '/api/v1/alerts');
  damaged = body.data.find(({ attributes }) => attributes.src_ip === '203.0.113.2')!.id;
  root = openDatabase(join(service.services.config.data_dir, 'siem.mdb'));
  flip('alerts', damaged);
});
afterAll(async () => {
  await root.close();
  await service.close();
});

test('lists, the histogram, groups and risk leave the damaged alert out and say so', async () => {
  const newest = await get('listAlerts', '/api/v1/alerts');
  expect(newest.body.meta.damaged_rows).toBe(1);
  expect(newest.body.data.map(({ attributes }) => attributes.src_ip).sort()).toEqual([
    '203.0.113.1',
    '203.0.113.3',
    '203.0.113.4',
  ]);
  const sorted = await get('listAlerts', '/api/v1/alerts?sort=severity&per_page=2');
  expect(sorted.body).toMatchObject({ pagination: { total: 3 }, meta: { damaged_rows: 1 } });
  const searched = await get('getAlertHistogram', '/api/v1/alerts/histogram?q=ET');
  expect(searched.body).toMatchObject({ data: { attributes: { total: 3 } }, meta: { damaged_rows: 1 } });
  const risk = await get('getRiskScore', '/api/v1/analytics/risk-score');
  expect(risk).toMatchObject({ status: 200, body: { meta: { damaged_rows: 1 } } });
  flip('alert-facts', damaged);
  const groups = await get('groupAlerts', '/api/v1/alerts/groups?by=rule_id');
  expect(groups).toMatchObject({ status: 200, body: { meta: { damaged_rows: 1 } } });
  const histogram = await get('getAlertHistogram', '/api/v1/alerts/histogram');
  expect(histogram.body).toMatchObject({ data: { attributes: { total: 3 } }, meta: { damaged_rows: 1 } });
  const assets = await get('listAssets', '/api/v1/assets');
  expect(assets.body.meta).not.toHaveProperty('damaged_rows');
});

test('reading, changing or exporting the damaged alert returns an error', async () => {
  const one = await get('getAlert', `/api/v1/alerts/${damaged}`);
  const expected = { status: 500, body: { error: { details: { reason: 'data_damaged', table: 'alerts' } } } };
  expect(one).toMatchObject(expected);
  const json = { status: 'resolved' };
  expect(await service.call('updateAlert', `PUT /api/v1/alerts/${damaged}`, { token, json })).toMatchObject(expected);
  expect(await service.call('exportAlerts', 'GET /api/v1/alerts/export', { token })).toMatchObject(expected);
});

test.each(['alerts', 'alert-keys'])(
  'a body whose finding belongs to a damaged row of %s is stored, and opens a new alert',
  async (table) => {
    const known = await get('listAlerts', '/api/v1/alerts?src_ip=203.0.113.3');
    const { dedup_key } = known.body.data[0]!.attributes as unknown as { dedup_key: string };
    const ip = table === 'alerts' ? '203.0.113.2' : '203.0.113.3';
    if (table === 'alert-keys') flip(table, dedup_key);
    const before = (await service.store.status()).events.network;
    const n = Number(ip.at(-1));
    for (const lines of [
      [eve(n), eve(1), conn(before)],
      [eve(n), eve(n)],
    ])
      expect(await send(lines)).toMatchObject({ status: 200, body: { data: { rejected: 0 } } });
    expect((await service.store.status()).events.network).toBe(before + 5);
    const alerts = await get('listAlerts', `/api/v1/alerts?src_ip=${ip}`);
    expect(alerts.body.data.map(({ attributes }) => attributes.count).sort()).toEqual(
      table === 'alerts' ? [3] : [1, 3],
    );
    const { halted, rows } = (await service.store.status()).damage;
    expect(halted).toBeUndefined();
    expect(rows).toContain(table === 'alerts' ? `alerts ${damaged}` : `alert-keys ${dedup_key}`);
    const status = await get('getStatus', '/api/v1/status');
    const { findings } = (status.body.data as never as { attributes: Status }).attributes.ledger;
    expect(findings).toMatchObject([{ code: 'store_damaged', message: expect.stringContaining(damaged) }]);
  },
);

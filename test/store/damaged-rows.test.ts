/**
 * Damaged rows of siem.mdb: a body that needs the rows is stored, and reads that do not need the rows are
 * served.
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openDatabase, type RootDatabase } from '../../src/database/lmdb.ts';
import { RecordRules } from '../../src/detect/record-rules.ts';
import { packDerived } from '../../src/events/derived-data.ts';
import { parseBody } from '../../src/ingest/parse-body.ts';
import type { DetectionRules } from '../../src/rules/detection-rules.ts';
import { openReader } from '../../src/store/reader.ts';
import type { IngestBatch, StoreReader } from '../../src/store/store.ts';
import { openTables } from '../../src/store/tables.ts';
import { openStore } from '../../src/store/writer.ts';
import { uuid7 } from '../../src/uuid.ts';
import { adminOf, openService } from '../http/service.ts';
import { detectors, home } from '../ingest/ingesting.ts';

const folder = mkdtempSync(join(tmpdir(), 'candor-rows-'));
const whole = join(folder, 'whole');
/** Names of all tables of rows, and of the tables of ids, headers and parts of events. */
const tables = await (async () => {
  const root = openDatabase(join(folder, 'empty.mdb'));
  openTables(root);
  const names = [...root.getKeys()].map(String);
  await root.close();
  return [...names, 'event-ids', 'event-headers', 'event-parts'];
})();
const eventIds = [1, 2].map((n) => `0199aa00-0000-4000-8000-00000000000${n}`);
const now = Date.now();
let rules: RecordRules;
let inEffect: Parameters<RecordRules['at']>[0];
let sensor: string;

const eve = (n: number) => ({
  timestamp: new Date(now - 5000 + n).toISOString(),
  event_type: 'alert',
  src_ip: `203.0.113.${n}`,
  src_port: 443,
  dest_ip: `10.0.1.${n}`,
  dest_port: 51_000,
  proto: 'TCP',
  alert: { signature_id: 2_000_000 + n, gid: 1, rev: 1, signature: `ET ${n}`, category: 'x', severity: 1 },
});
const conn = (n: number, more: object = {}) => ({
  ts: now / 1000 - 10 + n / 1000,
  uid: `C${now}${n}`,
  'id.orig_h': `10.3.0.${1 + (n % 20)}`,
  'id.orig_p': 1024 + n,
  'id.resp_h': '10.3.1.1',
  'id.resp_p': 22,
  proto: 'tcp',
  conn_state: 'SF',
  orig_bytes: 10,
  resp_bytes: 10,
  duration: 1,
  ...more,
});
/** Returns a port scan: 80 ports of one host, starting at `first`. */
const scan = (first: number) =>
  Array.from({ length: 80 }, (_, n) =>
    conn(100 + first + n, {
      'id.orig_h': '10.0.9.50',
      'id.resp_h': '10.0.0.5',
      'id.resp_p': first + n,
      conn_state: 'REJ',
    }),
  );
const put = (n: number) => ({
  _path: 'http',
  ts: now / 1000 - 10 + n / 1000,
  uid: `H${n}`,
  'id.orig_h': '203.0.113.8',
  'id.orig_p': 40_000,
  'id.resp_h': `198.51.100.${n}`,
  'id.resp_p': 80,
  method: 'PUT',
});
const lookup = {
  _path: 'dns',
  ts: now / 1000 - 9,
  uid: `D${now}`,
  'id.orig_h': '10.3.0.1',
  'id.orig_p': 53_000,
};
const dns = { ...lookup, 'id.resp_h': '10.3.1.53', 'id.resp_p': 53, proto: 'udp', query: 'a.bad.example' };
const withId = (id: string) => ({
  type: 'network_event',
  id,
  timestamp: new Date(now).toISOString(),
  transport: 'tcp',
  src_ip: '10.3.0.1',
  dst_ip: '10.3.1.1',
  dst_port: 22,
});
const dhcp = {
  _path: 'dhcp',
  ts: now / 1000 - 8,
  mac: '02:00:5e:00:53:01',
  assigned_addr: '10.3.0.1',
  host_name: 'laptop',
  msg_types: ['ACK'],
};

function batch(records: readonly object[], key: string): IngestBatch {
  const own = new Uint8Array(Buffer.from(records.map((record) => JSON.stringify(record)).join('\n'))).buffer;
  const input = {
    pieces: [own],
    length: own.byteLength,
    mediaType: 'ndjson',
    receivedAt: Date.now(),
  } as const;
  const parsed = parseBody(
    { ...input, home, digest: false, sensor: 'sensor', sensorId: sensor },
    { ...detectors, rules: rules.at(inEffect) },
  );
  const received = { received_at: new Date().toISOString(), sensor: { id: sensor, name: 'sensor' } };
  return {
    ...parsed,
    ...packDerived(parsed),
    idempotency: { key, digest: key.padStart(64, '0') },
    receipt: { id: uuid7(Date.now()), sha256: key.padStart(64, '0'), bytes: 1, ...received },
  } as never;
}

const first = () => [
  ...Array.from({ length: 4 }, (_, n) => eve(n + 1)),
  ...Array.from({ length: 40 }, (_, n) => conn(n)),
  ...scan(1000),
  ...[1, 2, 3].map(put),
  ...[dns, withId(eventIds[0]!), dhcp],
];
/** Returns a second body with the findings, hosts and ids of the first body, but other events. */
const second = () => [
  ...Array.from({ length: 4 }, (_, n) => eve(n + 1)),
  ...Array.from({ length: 40 }, (_, n) => conn(200 + n)),
  ...scan(2000),
  ...[4, 5, 6].map(put),
  ...[dns, withId(eventIds[1]!), dhcp],
];

beforeAll(async () => {
  const service = await openService();
  const token = await adminOf(service);
  const call = async (operation: Parameters<typeof service.call>[0], target: string, json: unknown) => {
    const { status, body } = await service.call(operation, target, { token, json });
    if (status > 201) throw new Error(`${target}: ${status} ${JSON.stringify(body)}`);
    return (body as { data: { id: string } }).data;
  };
  const base = crypto.randomUUID();
  const uploads = 'logsource: {product: zeek, service: http}, detection: {s: {method: PUT}, condition: s}';
  const counts = 'type: value_count, group-by: [src_ip], timespan: 5m, condition: {field: dst_ip, gte: 2}';
  for (const source of [
    `{title: Upload, id: ${base}, ${uploads}}`,
    `{title: Uploads, id: ${crypto.randomUUID()}, level: medium, correlation: {rules: [${base}], ${counts}}}`,
  ])
    await call('createRule', 'POST /api/v1/rules', { source });
  await call('createIntel', 'POST /api/v1/intel', { name: 'Bad', content: 'bad.example\n' });
  const ends = new Date(Date.now() + 3_600_000).toISOString();
  const silence = { matcher: { ip: ['192.0.2.0/24'] }, reason: 'tests', expires_at: ends };
  await call('createSilence', 'POST /api/v1/silences', silence);
  rules = new RecordRules();
  inEffect = (service.services.rules as DetectionRules).inEffect;
  sensor = service.reader.storedPrincipals(1, 10).principals[0]!.id;
  await service.store.commit(batch(first(), '1'));
  const alerts = () => service.call('listAlerts', 'GET /api/v1/alerts', { token });
  const listed = async () => ((await alerts()).body as { data: { id: string }[] }).data;
  await vi.waitFor(async () => expect((await listed()).length).toBeGreaterThan(5), 60_000);
  const [one] = await listed();
  await call('updateAlert', `PUT /api/v1/alerts/${one!.id}`, {
    status: 'in_progress',
    verdict: 'true_positive',
  });
  await call('addAlertNote', `POST /api/v1/alerts/${one!.id}/notes`, { text: 'seen' });
  await service.store.commit(batch([conn(900), put(9)], '2'));
  mkdirSync(whole);
  await service.store.copyTo(whole);
  await service.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Flips a bit in the middle of every row of a table. */
function flip(root: RootDatabase, table: string): void {
  const keys = { keyEncoding: 'binary', encoding: 'binary' } as const;
  const rows = root.openDB<Buffer, Buffer>({ name: table, ...keys });
  const stored = Array.from(rows.getRange(), ({ key, value }) => [Buffer.from(key), Buffer.from(value)] as const);
  root.transactionSync(() => {
    for (const [key, value] of stored) {
      value[Math.max(0, value.length - 8) >>> 1]! ^= 4;
      rows.putSync(key, value);
    }
  });
}

async function damagedCopy(...tables: readonly string[]): Promise<string> {
  const dataDir = mkdtempSync(join(folder, 'copy-'));
  copyFileSync(join(whole, 'siem.mdb'), join(dataDir, 'siem.mdb'));
  const root = openDatabase(join(dataDir, 'siem.mdb'));
  for (const table of tables) flip(root, table);
  await root.close();
  return dataDir;
}

const page = { terms: [], sort: 'last_seen', order: 'desc', page: 1, per_page: 100 } as const;

/** Reads each list and all figures. */
function served(reader: StoreReader): void {
  const pages = [
    reader.listAlerts(page),
    reader.listAlerts({ ...page, sort: 'severity' }),
    reader.listAssets(page),
    reader.listServices(page),
  ];
  for (const { json } of pages) expect(JSON.parse(Buffer.from(json).toString())).toBeInstanceOf(Array);
  reader.listSilences({ ...page, sort: 'created_at' }, Date.now());
  reader.alertHistogram({ filter: { terms: [] }, buckets: 10, now: Date.now() });
  reader.risks();
  reader.triageModel();
  reader.replayAlerts(0, { terms: [] }, 100);
  reader.topology({ group_by: 'host', limit: 100, from: 0, to: Date.now() } as never);
  reader.rollups({ from: now - 3_600_000, to: Date.now() + 3_600_000, buckets: 10 } as never);
}

const options = { alertWindowMs: 3_600_000, home, scrub: 'by hand' } as const;

/** Tables that every start reads. If one of them is damaged, the start fails. */
const refuse = ['intel-state', 'principal-names'];

test.each(tables.filter((table) => !refuse.includes(table)))(
  'a body is stored while all rows of %s are damaged, before and after another start',
  async (table) => {
    const dataDir = await damagedCopy(table);
    for (const key of ['3', '1']) {
      const store = openStore({ dataDir, ...options });
      const reader = openReader(dataDir);
      try {
        const before = reader.head('events.network');
        const { replayed } = await store.commit(batch(key === '1' ? first() : second(), key));
        expect(replayed).toBe(key === '1' && table !== 'answers');
        await store.commit(batch([conn(300)], `${key}0`));
        const after = await store.status();
        expect(reader.head('events.network')).toBeGreaterThan(before);
        expect(after.damage.halted).toBeUndefined();
        expect(after.damage.rows.filter((row) => !row.startsWith(`${table} `))).toEqual([]);
        served(reader);
      } finally {
        reader.close();
        await store.close();
      }
    }
    rmSync(dataDir, { recursive: true });
  },
);

test.each(refuse)('a store with damaged rows of %s does not open, and names the table', async (table) => {
  const dataDir = await damagedCopy(table);
  expect(() => openStore({ dataDir, ...options }).close()).toThrow(new RegExp(`row .* of table ${table}`));
});

test('neither a start nor an aborted transaction ends the store when the index of open alerts refers to damaged rows', async () => {
  const dataDir = await damagedCopy('alerts', 'asset-counters');
  const store = openStore({ dataDir, ...options });
  const root = openDatabase(join(dataDir, 'siem.mdb'));
  try {
    await store.commit(batch(second(), '3'));
    const [row] = await store.outbox(1);
    for (const table of ['alerts', 'asset-counters', 'outbox-ids']) flip(root, table);
    const place = { leaf_index: 1, tree_size: 2, leaf_hash: '0'.repeat(64) };
    await expect(store.settle([{ id: row!.id, ...place }])).rejects.toMatchObject({
      details: { reason: 'data_damaged', table: 'outbox-ids' },
    });
    const { network } = (await store.status()).events;
    await store.commit(batch([conn(300)], '4'));
    expect((await store.status()).events.network).toBe(network + 1);
  } finally {
    await root.close();
    await store.close();
  }
});

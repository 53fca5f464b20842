import { describe, expect, test } from 'vitest';
import { scanQuery } from '../../../src/contract/parameters.ts';
import { decodeQuery, parseList } from '../../../src/contract/query.ts';
import type { Scan } from '../../../src/contract/resources/scan.ts';
import { openDatabase } from '../../../src/database/lmdb.ts';
import { planScan } from '../../../src/discovery/store/scans.ts';
import type { ScannedHost, StoredScan, StoreReader } from '../../../src/store/store.ts';
import { openTables } from '../../../src/store/tables.ts';
import { uuid7 } from '../../../src/uuid.ts';
import { hour, opened, type Resource, resources, start } from '../../store/opened.ts';

function scanAt(n: number, more: Partial<StoredScan> = {}): StoredScan {
  return {
    ...{
      id: uuid7(start + n),
      targets: ['10.0.0.0/24'],
      ports: '22',
      rate: 10,
      engine: 'connect',
      status: 'completed',
    },
    progress: { hosts_total: 254, hosts_done: 254, probes_total: 254, probes_done: 254 },
    ...{ requested_by: 'ana', requested_at: new Date(start + n * hour).toISOString() },
    ...more,
  };
}

const list = (reader: StoreReader, text: string) => {
  const { filter, ...rest } = parseList(scanQuery, decodeQuery(text));
  const page = reader.listScans({ ...filter, ...rest });
  return { ids: resources<Scan>(page).map(({ id }) => id), ...page };
};

describe('scans', () => {
  test('are listed newest first, filtered, sorted and paged', async () => {
    const { store, reader } = opened();
    const scans = [
      scanAt(0),
      scanAt(1, { targets: ['10.0.1.7', '2001:db8::/64'], requested_by: 'bo' }),
      scanAt(2, { status: 'failed', error: 'x', engine: 'nmap' }),
      scanAt(3, { status: 'queued' }),
    ];
    for (const scan of scans) await store.saveScan(scan);
    const ids = scans.map(({ id }) => id);
    const of = (...numbers: number[]) => numbers.map((n) => ids[n]);
    expect(list(reader, '').ids).toEqual(of(3, 2, 1, 0));
    expect(list(reader, 'sort=requested_at').ids).toEqual(of(0, 1, 2, 3));
    expect(list(reader, 'sort=status').ids).toEqual(of(3, 0, 1, 2));
    expect(list(reader, 'status=failed&status=queued').ids).toEqual(of(3, 2));
    expect(list(reader, 'engine=nmap').ids).toEqual(of(2));
    expect(list(reader, 'requested_by=bo').ids).toEqual(of(1));
    expect(list(reader, 'target=10.0.0.200').ids).toEqual(of(3, 2, 0));
    expect(list(reader, 'target=10.0.0.0/8&requested_by=bo').ids).toEqual(of(1));
    expect(list(reader, 'target=2001:db8::1').ids).toEqual(of(1));
    expect(list(reader, 'target=2001:db9::1').ids).toEqual([]);
    expect(list(reader, 'q=10.0.1').ids).toEqual(of(1));
    expect(list(reader, `from=${start + hour}&to=${start + 3 * hour}`).ids).toEqual(of(2, 1));
    const first = list(reader, 'per_page=3');
    expect(first).toMatchObject({ total: 4, ids: of(3, 2, 1) });
    expect(list(reader, `per_page=3&cursor=${first.next_cursor}`).ids).toEqual(of(0));
    expect(reader.lastScan()).toEqual(scans[3]);
    expect(reader.unfinishedScans()).toEqual([scans[3]]);
    expect(reader.getScan(ids[1]!.toUpperCase())?.requested_by).toBe('bo');
    expect(reader.getScan('nonsense')).toBeUndefined();
  });

  test('have numbered changes that are announced, and a replay has the last state of each scan', async () => {
    const { store, reader, notices } = opened();
    const [one, other] = [scanAt(0, { status: 'queued' }), scanAt(1, { status: 'queued' })];
    const states = [one, other, { ...one, status: 'running' as const }, { ...one, status: 'completed' as const }];
    for (const scan of states) await store.saveScan(scan);
    expect(notices.flatMap(({ scans }) => scans)).toEqual(states.map((scan, n) => ({ seq: n + 1, scan })));
    expect(reader.head('discovery')).toBe(4);
    const all = reader.replayScans(0, { terms: [] }, 10);
    expect(all).toMatchObject({ next: 4, head: 4, lost: 0 });
    expect(all.events.map(({ seq, id, data }) => [seq, id, data.status])).toEqual([
      [2, other.id, 'queued'],
      [4, one.id, 'completed'],
    ]);
    expect(reader.replayScans(2, { terms: [] }, 10).events.map(({ seq }) => seq)).toEqual([4]);
    expect(reader.replayScans(0, { terms: [{ field: 'status', values: ['queued'] }] }, 10).events).toHaveLength(1);
    expect(reader.replayScans(0, { terms: [] }, 1)).toMatchObject({ next: 2, events: [{ seq: 2 }] });
  });

  test('are removed above the limit, oldest finished scans first', async () => {
    const { store, dataDir, reader } = opened();
    await store.close();
    const root = openDatabase(`${dataDir}/siem.mdb`);
    const tables = openTables(root);
    let forgotten = 0;
    const save = (scan: StoredScan) => root.transactionSync(() => planScan(tables, scan, () => forgotten++, 3)());
    save(scanAt(0, { status: 'queued' }));
    for (const n of [1, 2, 3, 4]) save(scanAt(n));
    await root.close();
    expect(forgotten).toBe(2);
    const left = [scanAt(4), scanAt(3), scanAt(0)].map(({ requested_at }) => requested_at);
    expect(resources<Scan>(list(reader, '')).map(({ attributes }) => attributes.requested_at)).toEqual(left);
    expect(reader.replayScans(0, { terms: [] }, 10).events).toHaveLength(3);
  });
});

describe('scan results', () => {
  const host: ScannedHost = {
    ...{ ip: '10.0.0.7', at: start, hostnames: ['web.example.org'], os: 'Linux' },
    services: [
      { port: 22, transport: 'tcp', name: 'ssh', product: 'OpenSSH', version: '9.6' },
      { port: 443, transport: 'tcp', name: 'https', certificate_names: ['www.example.org'] },
    ],
    closed: Uint16Array.of(80),
  };
  const everyService = { terms: [], sort: 'port', order: 'asc', page: 1, per_page: 100 } as const;
  const everyAsset = { ...everyService, sort: 'name' } as const;
  const attributes = (page: { json: Uint8Array }) =>
    resources<Record<string, unknown>>(page).map((one: Resource<Record<string, unknown>>) => one.attributes);

  test('become one asset with its services, even if recorded twice', async () => {
    const { store, reader } = opened();
    const scanId = uuid7(start);
    expect(await store.recordScan(scanId, [host])).toEqual({
      assets_created: 1,
      assets_updated: 0,
      services_found: 2,
    });
    const again = { ...host, at: start + hour, closed: Uint16Array.of(80) };
    expect(await store.recordScan(scanId, [again])).toEqual({
      assets_created: 0,
      assets_updated: 1,
      services_found: 2,
    });
    const [asset, ...others] = attributes(reader.listAssets(everyAsset));
    expect(others).toEqual([]);
    expect(asset).toMatchObject({
      ...{ ip_addresses: ['10.0.0.7'], source: 'scan', state: 'staged', os: 'Linux', service_count: 2 },
      hostnames: expect.arrayContaining(['web.example.org', 'www.example.org']),
    });
    expect(attributes(reader.listServices(everyService))).toMatchObject([
      {
        port: 22,
        state: 'open',
        source: 'scan',
        name: 'ssh',
        product: 'OpenSSH',
        version: '9.6',
        connections: 0,
      },
      { port: 443, state: 'open', source: 'scan', name: 'https' },
    ]);
  });

  test('close a known service whose port refuses connections, and reopen it later', async () => {
    const { store, reader } = opened();
    const states = () => attributes(reader.listServices(everyService)).map(({ port, state }) => `${port} ${state}`);
    await store.recordScan('a', [host]);
    const refusing = { ...host, at: start + 1, services: [], closed: Uint16Array.of(22, 80, 8080) };
    await store.recordScan('b', [refusing]);
    expect(states()).toEqual(['22 closed', '443 open']);
    expect(attributes(reader.listAssets(everyAsset))[0]).toMatchObject({ service_count: 1 });
    await store.recordScan('c', [{ ...host, at: start + 2 }]);
    expect(states()).toEqual(['22 open', '443 open']);
  });

  test('of many hosts are recorded together', async () => {
    const { store, reader } = opened();
    const hosts = Array.from({ length: 500 }, (_, n) => ({
      ...host,
      ...{
        ip: `10.0.${n >> 8}.${n & 255}`,
        hostnames: [],
        closed: Uint16Array.from({ length: 1000 }, (_none, p) => 1000 + p),
      },
    }));
    expect(await store.recordScan('a', hosts)).toEqual({
      assets_created: 500,
      assets_updated: 0,
      services_found: 1000,
    });
    expect(reader.listAssets(everyAsset).total).toBe(500);
    expect(reader.listServices(everyService).total).toBe(1000);
  });
});

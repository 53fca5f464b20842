import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyTopologyUpdate } from '../../../src/client/topology.ts';
import type { Topology } from '../../../src/contract/resources/topology.ts';
import { openDatabase } from '../../../src/database/lmdb.ts';
import { BlockBuilder } from '../../../src/events/format/block-builder.ts';
import type { NetworkRecord } from '../../../src/events/records.ts';
import { openReader } from '../../../src/store/reader.ts';
import type { Store, StoreReader } from '../../../src/store/store.ts';
import { openTables } from '../../../src/store/tables.ts';
import { updateOf } from '../../../src/topology/model/update.ts';
import {
  everything as all,
  analyst,
  batchOf,
  hour,
  opened,
  openProcessed,
  resources,
  start,
} from '../../store/opened.ts';
import { networkRecord } from '../../store/records.ts';
import { comparable, everything } from './plain-graph.ts';

/** A midnight long before the time of the store's clock. */
const before = start - 240 * hour;
const established = { state: 'closed', conn_state: 'SF', transport: 'tcp' } as const;

function flow(src: string, dst: string, changes: Partial<NetworkRecord> = {}): NetworkRecord {
  const home = (ip: string) => ip.startsWith('10.');
  const direction = home(src) ? (home(dst) ? 'internal' : 'outbound') : home(dst) ? 'inbound' : 'external';
  return networkRecord({
    src_ip: src,
    dst_ip: dst,
    src_bytes: 100,
    dst_bytes: 50,
    direction,
    ...established,
    ...changes,
  });
}

function blockOf(records: readonly NetworkRecord[]): ArrayBuffer {
  const builder = new BlockBuilder('network', start);
  for (const record of records) builder.add(record);
  return builder.finish();
}

const commit = (store: Store, records: readonly NetworkRecord[]) =>
  store.commit(batchOf([], { blocks: [blockOf(records)] }));

const idle = () => new Promise((resolve) => setTimeout(resolve, 60));

/** Returns the snapshot after all later updates. */
function caughtUp(reader: StoreReader, snapshot: Topology, groupBy: 'host' | 'subnet' = 'host'): Topology {
  let now = snapshot;
  for (const { seq, step } of reader.topologySteps(snapshot.seq, 1000)) {
    expect(seq).toBeGreaterThan(now.seq);
    const update = updateOf(step!, { groupBy, ends: [] });
    if (update !== undefined) now = applyTopologyUpdate(now, update);
  }
  return now;
}

describe('the graph of the store', () => {
  it('has hosts, networks, edges and names', async () => {
    const { store, reader } = opened();
    await commit(store, [
      flow('10.0.0.1', '10.0.0.2', { app_protocol: 'ssh' }),
      flow('10.0.0.1', '10.0.0.2', {
        timestamp: start + 5,
        dst_port: 80,
        duration_ms: 10,
        app_protocol: 'http',
      }),
      flow('10.0.0.1', '203.0.113.7', { dst_port: 443 }),
      flow('198.51.100.9', '10.0.0.77', { conn_state: 'S0', state: 'attempt', dst_bytes: 0 }),
    ]);
    const graph = reader.topology(everything);
    expect(graph).toMatchObject({ seq: 1, truncated: false });
    const nodes = Object.fromEntries(graph.nodes.map((node) => [node.id, node]));
    expect(Object.keys(nodes).sort()).toEqual(
      ['10.0.0.0/24', '10.0.0.1', '10.0.0.2', '198.51.100.0/24', '203.0.113.0/24'].sort(),
    );
    expect(nodes['10.0.0.1']).toMatchObject({
      kind: 'asset',
      ip: '10.0.0.1',
      label: '10.0.0.1',
      degree: 2,
      bytes: 450,
      risk_level: 'low',
    });
    expect(nodes['10.0.0.1']!.asset_id).toBe(reader.assets.at('10.0.0.1', start));
    expect(nodes['10.0.0.0/24']).toMatchObject({ kind: 'subnet', degree: 1 });
    expect(nodes['203.0.113.0/24']).toMatchObject({ kind: 'external', label: '203.0.113.0/24' });
    expect(graph.edges.find(({ target }) => target === '10.0.0.2')).toEqual({
      source: '10.0.0.1',
      target: '10.0.0.2',
      ports: [22, 80],
      protocols: ['http', 'ssh'],
      connections: 2,
      bytes: 300,
      first_seen: new Date(start).toISOString(),
      last_seen: new Date(start + 15).toISOString(),
    });
    const subnets = reader.topology({ ...everything, group_by: 'subnet' });
    expect(subnets.nodes.map(({ id }) => id).sort()).toEqual(['10.0.0.0/24', '198.51.100.0/24', '203.0.113.0/24']);
  });

  it('can be limited to hours, days, and the surroundings of an asset', async () => {
    const { store, reader } = opened();
    await commit(store, [
      flow('10.0.0.1', '10.0.0.2', { timestamp: before }),
      flow('10.0.0.2', '10.0.0.3', { timestamp: before + hour }),
      flow('10.0.0.3', '10.0.0.4', { timestamp: before + 26 * hour - 1 }),
      flow('10.0.0.8', '10.0.0.9', { timestamp: start + 25 * hour }),
    ]);
    const targets = (query: object) =>
      reader
        .topology({ ...everything, ...query })
        .edges.map(({ target }) => target)
        .sort();
    expect(targets({ from: before, to: before + 1 })).toEqual(['10.0.0.2']);
    expect(targets({ from: before + 1 })).toEqual(['10.0.0.2', '10.0.0.3', '10.0.0.4']);
    expect(targets({ from: before + hour, to: before + 26 * hour })).toEqual(['10.0.0.3', '10.0.0.4']);
    expect(targets({ to: before + hour })).toEqual(['10.0.0.2']);
    expect(targets({ from: before - 50 * hour, to: before - 49 * hour })).toEqual([]);
    // The flow is dated ahead of the server clock, so it does not belong to any hour.
    expect(targets({})).toEqual(['10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.9']);
    const focus = reader.assets.at('10.0.0.1', start)!;
    expect(targets({ focus, depth: 1 })).toEqual(['10.0.0.2']);
    expect(targets({ focus, depth: 2 })).toEqual(['10.0.0.2', '10.0.0.3']);
    expect(targets({ focus, depth: 3 })).toEqual(['10.0.0.2', '10.0.0.3', '10.0.0.4']);
    expect(() => targets({ focus: '0199b1c2-0000-7000-8000-000000000000' })).toThrow(
      expect.objectContaining({ code: 'NOT_FOUND' }),
    );
    expect(reader.topology({ ...everything, from: before + 1, to: before + 2 })).toMatchObject({
      from: new Date(before).toISOString(),
      to: new Date(before + hour).toISOString(),
    });
  });

  it('around an asset starts from the current addresses of the asset', async () => {
    const { store, reader } = opened();
    await commit(store, [flow('10.0.0.1', '10.0.0.2', { src_mac: '00:11:22:33:44:01', timestamp: before })]);
    const first = reader.assets.at('10.0.0.1', start)!;
    await commit(store, [flow('10.0.0.1', '10.0.0.3', { src_mac: '00:11:22:33:44:02', timestamp: before + 2 * hour })]);
    reader.assets.refresh();
    const second = reader.assets.at('10.0.0.1', start)!;
    expect(second).not.toBe(first);
    const around = (focus: string, query = {}) => reader.topology({ ...everything, focus, depth: 1, ...query });
    expect(around(first)).toMatchObject({ nodes: [], edges: [] });
    expect(around(second).edges.length).toBe(2);
    expect(around(second.toUpperCase()).edges.length).toBe(2);
    // Owners are determined at the end of a range, as are the names of nodes.
    expect(around(first, { from: before, to: before + hour }).nodes).toContainEqual(
      expect.objectContaining({ id: '10.0.0.1', asset_id: first }),
    );
    await store.mergeAssets(first, second, analyst);
    expect(() => around(first)).toThrow(
      expect.objectContaining({ code: 'NOT_FOUND', details: { merged_into: second } }),
    );
  });

  it('counts a connection with several reports once, with the bytes of the last report', async () => {
    const { store, reader } = opened();
    const report = (bytes: number) =>
      flow('10.0.0.1', '10.0.0.2', { connection_id: 'CabcdefghijklmnoQ', src_bytes: bytes, dst_bytes: 0 });
    await commit(store, [report(10), report(20)]);
    for (let i = 3; i <= 72; i++) await commit(store, [report(10 * i)]);
    const { edges } = reader.topology(everything);
    expect(edges).toMatchObject([{ connections: 1, bytes: 720 }]);
  });

  it('is the same when its runs have been merged, and equals the result of the updates', async () => {
    const { store, reader } = opened();
    const snapshot = reader.topology(everything);
    const records: NetworkRecord[] = [];
    for (let i = 0; i < 120; i++) {
      const batch = Array.from({ length: 1 + (i % 7) }, (_, k) =>
        flow(`10.0.${i % 3}.${k}`, k % 2 ? `203.0.${i % 50}.9` : '10.0.9.9', {
          timestamp: before + ((i * 37) % 90) * hour,
          dst_port: 1 + ((i * k) % 40),
        }),
      );
      records.push(...batch);
      await commit(store, batch);
      if (i % 40 === 39) await idle();
    }
    await idle();
    const graph = reader.topology(everything);
    expect(graph.seq).toBe(120);
    expect(graph.edges.reduce((sum, { connections }) => sum + connections, 0)).toBe(records.length);
    expect(comparable(caughtUp(reader, snapshot))).toEqual(comparable(graph));
    const once = opened();
    await commit(once.store, records);
    const plain = (topology: Topology) =>
      comparable({ ...topology, nodes: topology.nodes.map(({ asset_id, ...node }) => node) });
    for (const range of [{}, { from: before + 3 * hour, to: before + 70 * hour }, { to: before + 30 * hour }]) {
      const query = { ...everything, ...range };
      expect(plain(reader.topology(query))).toEqual(plain(once.reader.topology(query)));
    }
  });

  it('notifies subscribers when names of hosts change', async () => {
    const { store, reader } = opened();
    await commit(store, [flow('10.0.0.1', '10.0.0.2')]);
    const snapshot = reader.topology(everything);
    const asset = reader.assets.at('10.0.0.2', start)!;
    await store.changeAsset(asset, { name: 'mail', criticality: 'high' }, analyst);
    expect(caughtUp(reader, snapshot).nodes.find(({ id }) => id === '10.0.0.2')).toMatchObject({
      label: 'mail',
    });
    await store.mergeAssets(asset, reader.assets.at('10.0.0.1', start)!, analyst);
    await commit(store, [flow('10.0.0.1', '10.0.0.5')]);
    await store.removeAsset(reader.assets.at('10.0.0.1', start)!);
    const now = reader.topology(everything);
    expect(now.nodes.find(({ id }) => id === '10.0.0.2')).toMatchObject({ label: '10.0.0.2' });
    expect(comparable(caughtUp(reader, snapshot))).toEqual(comparable(now));
  });

  it('has a step without additions for an update above the size limit of subscriptions', async () => {
    const { store, reader } = opened();
    await commit(
      store,
      Array.from({ length: 2000 }, (_, i) => flow('10.0.0.1', `203.${i >> 8}.${i & 255}.1`)),
    );
    await commit(store, [flow('10.0.0.1', '10.0.0.2')]);
    const steps = reader.topologySteps(0, 10);
    expect(steps.map(({ seq, step }) => [seq, step === undefined])).toEqual([
      [1, true],
      [2, false],
    ]);
    expect(reader.topology({ ...everything, limit: 1 }).nodes[0]).toMatchObject({
      id: '10.0.0.1',
      degree: 2001,
    });
  });

  it('counts a connection at the network until the connection is answered, and at the host afterwards', async () => {
    const { store, reader, dataDir } = opened();
    const report = (conn_state: string, src_bytes: number) =>
      flow('10.0.0.1', '10.0.0.2', {
        connection_id: 'CabcdefghijklmnoR',
        conn_state,
        src_bytes,
        dst_bytes: 0,
      });
    const edges = (from: StoreReader) =>
      Object.fromEntries(
        from.topology(everything).edges.map(({ target, connections, bytes }) => [target, [connections, bytes]]),
      );
    await commit(store, [report('S0', 60)]);
    expect(edges(reader)).toEqual({ '10.0.0.0/24': [1, 60] });
    await store.close();
    const again = await openProcessed({ dataDir, alertWindowMs: hour });
    await commit(again, [report('SF', 400)]);
    await commit(again, [report('SF', 500)]);
    const reading = openReader(dataDir);
    expect(edges(reading)).toEqual({ '10.0.0.0/24': [1, 60], '10.0.0.2': [1, 440] });
    const services = reading.listServices({ ...all, sort: 'ip' });
    expect(resources(services)).toMatchObject([{ attributes: { connections: 1 } }]);
    reading.close();
    await again.close();
  });

  it('continues after a restart, with a growing sequence', async () => {
    const { store, reader, dataDir } = opened();
    await commit(store, [flow('10.0.0.1', '10.0.0.2')]);
    const snapshot = reader.topology(everything);
    await store.close();
    const again = await openProcessed({ dataDir, alertWindowMs: hour });
    const reading = openReader(dataDir);
    await commit(again, [flow('10.0.0.1', '10.0.0.2'), flow('10.0.0.1', '10.0.0.3')]);
    const now = reading.topology(everything);
    expect(now.seq).toBe(2);
    expect(comparable(caughtUp(reading, snapshot))).toEqual(comparable(now));
    expect(now.nodes.find(({ id }) => id === '10.0.0.1')!.degree).toBe(2);
    reading.close();
    await again.close();
  });

  it('is available after a start that removes the rows of an interrupted merge', async () => {
    const { store, reader, dataDir } = opened();
    await commit(store, [flow('10.0.0.1', '10.0.0.2')]);
    const snapshot = reader.topology(everything);
    reader.close();
    await store.close();
    const root = openDatabase(`${dataDir}/siem.mdb`);
    openTables(root).topologySegments.putSync(1_000_000, Buffer.from('left'));
    await root.close();
    const again = await openProcessed({ dataDir, alertWindowMs: hour });
    const reading = openReader(dataDir);
    expect(comparable(reading.topology(everything))).toEqual(comparable(snapshot));
    reading.close();
    await again.close();
  });
});

const anyRecord = fc
  .record({
    src: fc.constantFrom('10.0.0.1', '10.0.0.2', '10.0.1.1', '203.0.113.1', '198.51.100.1'),
    dst: fc.constantFrom('10.0.0.1', '10.0.0.2', '10.0.1.1', '203.0.113.1', '224.0.0.1'),
    dst_port: fc.nat(65_535),
    conn_state: fc.constantFrom('SF', 'S0', 'REJ'),
    timestamp: fc.constantFrom(start, start - hour, start + 30 * hour, 0, 253_402_300_799_999),
    app_protocol: fc.constantFrom('dns', 'ssl', undefined),
    connection_id: fc.constantFrom('C1', 'C2', undefined),
  })
  .map(({ src, dst, ...rest }) => flow(src, dst, rest));
const action = fc.oneof(
  { weight: 5, arbitrary: fc.record({ commit: fc.array(anyRecord, { minLength: 1, maxLength: 12 }) }) },
  fc.record({ rename: fc.constantFrom('10.0.0.1', '10.0.0.2'), name: fc.constantFrom('a', 'b', 'c') }),
  fc.record({ remove: fc.constantFrom('10.0.0.1', '10.0.1.1') }),
  fc.constant({ restart: true }),
  fc.constant({ wait: true }),
);

it('updates lead from any snapshot to the newest snapshot, for any events, even across restarts', async () => {
  const { dataDir, store: first, reader: firstReader } = opened();
  await first.close();
  firstReader.close();
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 3, maxLength: 25 }), fc.nat(20), async (actions, when) => {
      let store: Store = await openProcessed({ dataDir, alertWindowMs: hour, clock: () => start });
      let reader = openReader(dataDir);
      const snapshots = (['host', 'subnet'] as const).map((group_by) => ({
        group_by,
        graph: reader.topology({ ...everything, group_by }),
      }));
      for (const [i, one] of actions.entries()) {
        if (i === when)
          for (const snapshot of snapshots)
            snapshot.graph = reader.topology({ ...everything, group_by: snapshot.group_by });
        const assetOf = (ip: string) => {
          reader.assets.refresh();
          return reader.assets.at(ip, Number.MAX_SAFE_INTEGER);
        };
        if ('commit' in one) await commit(store, one.commit);
        else if ('rename' in one) {
          const id = assetOf(one.rename);
          if (id !== undefined) await store.changeAsset(id, { name: one.name }, analyst);
        } else if ('remove' in one) {
          const id = assetOf(one.remove);
          if (id !== undefined) await store.removeAsset(id);
        } else if ('restart' in one) {
          reader.close();
          await store.close();
          store = await openProcessed({ dataDir, alertWindowMs: hour, clock: () => start });
          reader = openReader(dataDir);
        } else await new Promise((resolve) => setTimeout(resolve, 15));
      }
      for (const { group_by, graph } of snapshots)
        expect(comparable(caughtUp(reader, graph, group_by))).toEqual(
          comparable(reader.topology({ ...everything, group_by })),
        );
      reader.close();
      await store.close();
    }),
    { numRuns: 15 },
  );
});

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { dashboard as fullDashboard } from '../../../src/analytics/dashboard.ts';
import { trends } from '../../../src/analytics/trends.ts';
import type { WindowQuery } from '../../../src/analytics/window.ts';
import type { Alert } from '../../../src/contract/resources/alert.ts';
import type { Asset } from '../../../src/contract/resources/asset.ts';
import type { NetworkEvent } from '../../../src/contract/resources/network-event.ts';
import type { Service } from '../../../src/contract/resources/service.ts';
import { alertStatuses, severities, windows } from '../../../src/contract/vocabulary.ts';
import { openDatabase } from '../../../src/database/lmdb.ts';
import { BlockBuilder } from '../../../src/events/format/block-builder.ts';
import type { DnsRecord, NetworkRecord } from '../../../src/events/records.ts';
import { openReader } from '../../../src/store/reader.ts';
import type { IngestBatch, Store, StoreReader } from '../../../src/store/store.ts';
import { databaseFile, openTables } from '../../../src/store/tables.ts';
import {
  analyst,
  batchOf,
  everything,
  finding,
  newest,
  opened,
  openProcessed,
  resources,
  start,
} from '../../store/opened.ts';
import { networkRecord } from '../../store/records.ts';
import { dnsRecord } from './dns-records.ts';
import { type PlainFigures, plainFigures, type Received } from './plain-figures.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

const dashboard = (reader: StoreReader, query: WindowQuery) =>
  fullDashboard(reader, { ...query, ledger_size: 0, ingest: { accepted: 0, rejected: 0, ignored: 0 } });

/** Time between the start and the receipt of an event: none, short, long, too long, and negative. */
const ages = fc.oneof(
  fc.integer({ min: 0, max: 20 * minute }),
  fc.integer({ min: 0, max: 4 * hour }),
  fc.integer({ min: 0, max: 63 * day }),
  fc.integer({ min: -10 * minute, max: 0 }),
  fc.constantFrom(0, minute, hour, day, -400 * day, 5000 * day),
);
const flows = fc.array(
  fc.record({
    age: ages,
    src: fc.integer({ min: 1, max: 6 }),
    dst: fc.integer({ min: 1, max: 6 }),
    port: fc.constantFrom(22, 80, 443, undefined),
    transport: fc.constantFrom('tcp', 'udp', 'icmp'),
    state: fc.constantFrom('attempt', 'closed', 'reset', 'refused', 'failed', undefined),
    bytes: fc.integer({ min: 0, max: 5000 }),
    connection: fc.constantFrom(undefined, undefined, 'C1', 'C2'),
  }),
  { minLength: 1, maxLength: 12 },
);
const questions = fc.array(
  fc.record({
    age: ages,
    query: fc.constantFrom('www.Example.com', 'a.b.example.co.uk.', 'printer', '.', undefined),
    rcode: fc.constantFrom(0, 3, undefined),
  }),
  { maxLength: 5 },
);
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('commit'), flows, questions, findings: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('undone'), flows, questions }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait'), ms: fc.nat(2 * hour) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen') }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('sort'),
      asset: fc.nat(),
      into: fc.nat(),
      removed: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('judge'),
      alert: fc.nat(),
      status: fc.nat(),
      severity: fc.nat(),
    }),
  },
);

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;
type Flow = typeof flows extends fc.Arbitrary<(infer F)[]> ? F : never;
type Question = typeof questions extends fc.Arbitrary<(infer Q)[]> ? Q : never;

const recordOf = (now: number, { age, src, dst, port, transport, state, bytes, connection }: Flow): NetworkRecord =>
  networkRecord({
    timestamp: now - age,
    src_ip: `10.0.0.${src}`,
    dst_ip: dst < 3 ? `10.0.0.${dst}` : `2001:db8::${dst}`,
    dst_port: port,
    transport,
    state,
    src_bytes: bytes,
    dst_bytes: state === 'closed' ? 100 : 0,
    direction: dst < 3 ? 'internal' : 'outbound',
    connection_id: connection,
  });

const questionOf = (now: number, { age, query, rcode }: Question): DnsRecord =>
  dnsRecord({ timestamp: now - age, query, rcode });

function blocksOf(network: readonly NetworkRecord[], dns: readonly DnsRecord[], now: number): ArrayBuffer[] {
  const networkBlock = new BlockBuilder('network', now);
  for (const record of network) networkBlock.add(record);
  if (dns.length === 0) return [networkBlock.finish()];
  const dnsBlock = new BlockBuilder('dns', now);
  for (const record of dns) dnsBlock.add(record);
  return [networkBlock.finish(), dnsBlock.finish()];
}

test('the rollups equal a count of the events, for any order of events, across restarts and aborted transactions', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 60, maxLength: 90 }), async (steps) => {
      const world = await lived(steps);
      try {
        compare(world.reader, world.network, world.dns, world.clock.now);
      } finally {
        await world.close();
      }
    }),
    { numRuns: 4, endOnFailure: true },
  );
});

async function lived(steps: readonly Step[]) {
  const { dataDir, clock, store: first, reader: firstReader } = opened({ home: ['10.0.0.0/8'] });
  let store: Store = first;
  let reader = firstReader;
  const network: Received<NetworkRecord>[] = [];
  const dns: Received<DnsRecord>[] = [];
  const reopen = async () => {
    reader.close();
    await store.close();
    store = await openProcessed({ dataDir, alertWindowMs: hour, clock: () => clock.now, home: ['10.0.0.0/8'] });
    reader = openReader(dataDir);
  };
  for (const one of steps)
    switch (one.kind) {
      case 'wait':
        clock.now += one.ms;
        break;
      case 'reopen':
        await reopen();
        break;
      case 'sort': {
        const assets = resources<Asset>(reader.listAssets({ ...newest, sort: 'first_seen', per_page: 1000 }));
        const [asset, into] = [one.asset, one.into].map((n) => assets[n % Math.max(1, assets.length)]);
        if (asset === undefined || into === undefined) break;
        if (one.removed) await store.removeAsset(asset.id);
        else if (asset.id !== into.id) await store.mergeAssets(asset.id, into.id, analyst);
        break;
      }
      case 'judge': {
        const alerts = resources<Alert>(reader.listAlerts({ ...everything, per_page: 1000 }));
        const alert = alerts[one.alert % Math.max(1, alerts.length)];
        if (alert === undefined) break;
        const status = alertStatuses[one.status % alertStatuses.length]!;
        const severity = severities[one.severity % severities.length]!;
        await store.changeAlert(alert.id, { status, severity }, analyst).catch(() => undefined);
        break;
      }
      default: {
        const now = clock.now;
        const records = one.flows.map((flow) => recordOf(now, flow));
        const asked = one.questions.map((question) => questionOf(now, question));
        const findings = Array.from({ length: one.kind === 'commit' ? one.findings : 1 }, (_, i) =>
          finding({
            rule_id: `${i} ${network.length % 5}`,
            severity: severities[i]!,
            timestamp: now - i * 20 * minute,
          }),
        );
        // A finding that refers to a missing event fails in the middle of its transaction.
        const lost = one.kind === 'undone' ? [finding({ event: { block: 7, row: 0 } })] : [];
        const batch: IngestBatch = batchOf([...findings, ...lost], { blocks: blocksOf(records, asked, now) });
        const outcome = await store.commit(batch).then(
          () => 'kept',
          () => 'undone',
        );
        expect(outcome).toBe(one.kind === 'commit' ? 'kept' : 'undone');
        if (outcome === 'undone') break;
        for (const record of records) network.push({ record, at: now });
        for (const record of asked) dns.push({ record, at: now });
      }
    }
  // Closing writes all figures in memory.
  await reopen();
  const close = async () => {
    reader.close();
    await store.close();
  };
  return { reader, clock, network, dns, close };
}

/** Returns the time at which an alert was last seen, or last changed if that is earlier. */
const countedAt = ({ last_seen, updated_at }: Alert) => (last_seen < updated_at ? last_seen : updated_at);

function compare(
  reader: StoreReader,
  network: readonly Received<NetworkRecord>[],
  dns: readonly Received<DnsRecord>[],
  now: number,
): void {
  const alerts = resources<Alert>(reader.listAlerts({ ...everything, per_page: 1000 }));
  const assets = resources<Asset>(reader.listAssets({ ...newest, sort: 'first_seen', per_page: 1000 }));
  const services = resources<Service>(reader.listServices({ ...newest, sort: 'first_seen', per_page: 1000 }));
  for (const window of windows) {
    const shown = dashboard(reader, { window, now });
    const figures = plainFigures(network, dns, Date.parse(shown.from), Number.POSITIVE_INFINITY);
    const within = (time: string, { from, to }: { from: string; to?: string }) =>
      time >= from && (to === undefined || time < to);
    const totals = (of: PlainFigures, range: { from: string; to?: string }) => ({
      network_events: of.network_events,
      dns_events: of.dns_events,
      alerts: alerts.filter(({ attributes }) => within(countedAt(attributes), range)).length,
      bytes: of.bytes,
      rejected_connections: of.rejected_connections,
      nxdomain: of.nxdomain,
      new_assets: assets.filter(({ attributes }) => within(attributes.first_seen ?? '', range)).length,
      new_services: services.filter(({ attributes }) => within(attributes.first_seen, range)).length,
    });
    expect(shown.totals, window).toEqual(totals(figures, { from: shown.from }));
    const { previous } = shown;
    const before = plainFigures(network, dns, Date.parse(previous.from), Date.parse(previous.to));
    expect(previous.totals, window).toEqual(totals(before, previous));
    for (const severity of severities)
      expect(shown.alerts_by_severity[severity]).toBe(
        alerts.filter(({ attributes: it }) => it.severity === severity && within(countedAt(it), { from: shown.from }))
          .length,
      );
    for (const status of alertStatuses)
      expect(shown.alerts_by_status[status]).toBe(
        alerts.filter(({ attributes: it }) => it.status === status && within(countedAt(it), { from: shown.from }))
          .length,
      );
    for (const [list, plain] of [
      [shown.top_talkers, figures.talkers],
      [shown.top_destinations, figures.destinations],
      [shown.top_services, figures.services],
    ] as const) {
      const rows = Object.entries(plain).sort(([a, x], [b, y]) => y.events - x.events || (a < b ? -1 : 1));
      expect(list, window).toEqual(
        rows.slice(0, 10).map(([key, { events, bytes }]) => ({ key, events, error: 0, bytes, bytes_error: 0 })),
      );
    }
    expect(Object.fromEntries(shown.top_domains.map(({ key, events }) => [key, events]))).toEqual(
      Object.fromEntries(Object.entries(figures.domains).map(([key, { events }]) => [key, events])),
    );
    expect(shown.distinct).toEqual({
      sources: { count: Object.keys(figures.talkers).length, error: 0 },
      destinations: { count: Object.keys(figures.destinations).length, error: 0 },
      domains: { count: Object.keys(figures.domains).length, error: 0 },
    });
    const sums = Object.fromEntries(
      shown.series.map(({ metric, points }) => [metric, points.reduce((sum, { value }) => sum + value, 0)]),
    );
    expect(sums).toMatchObject(shown.totals);
    compareTrends(reader, shown, window, now, network, dns);
  }
}

function compareTrends(
  reader: StoreReader,
  shown: ReturnType<typeof dashboard>,
  window: (typeof windows)[number],
  now: number,
  network: readonly Received<NetworkRecord>[],
  dns: readonly Received<DnsRecord>[],
): void {
  const { metrics, previous_from } = trends(reader, { window, now });
  for (const { metric, series, previous_series, current, previous, change_percent } of metrics) {
    // The previous series is as long as the window, except for the bucket that has just begun.
    expect([previous_series[0]?.at, previous_series.length]).toEqual([previous_from, series.length - 1]);
    expect(series, metric).toEqual(shown.series.find((one) => one.metric === metric)!.points);
    if (metric in shown.totals) {
      const key = metric as keyof typeof shown.totals;
      expect([current, previous], metric).toEqual([shown.totals[key], shown.previous.totals[key]]);
      expect(
        previous_series.reduce((sum, { value }) => sum + value, 0),
        metric,
      ).toBe(previous);
    }
    expect(change_percent === undefined).toBe(previous === 0);
    for (const { at, value } of metric === 'sources' ? series : []) {
      const from = Date.parse(at);
      const isLast = at === series.at(-1)!.at;
      const to = isLast ? Number.POSITIVE_INFINITY : from + shown.bucket_s * 1000;
      expect(value).toBe(Object.keys(plainFigures(network, dns, from, to).talkers).length);
    }
  }
}

test('kill -9 at random moments: every stored event is counted once', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-rollups-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  for (let round = 1; round <= 2; round++) {
    await runAndKill(dataDir, round, 10 + 10 * round);
    const store = await openProcessed({ dataDir, alertWindowMs: hour, clock: () => start, home: ['10.0.0.0/8'] });
    const reader = openReader(dataDir);
    const shown = dashboard(reader, { window: '30d', now: start });
    const status = await store.status();
    expect(status.events.network).toBeGreaterThan(1000);
    expect(shown.totals).toMatchObject({
      network_events: status.events.network,
      dns_events: status.events.dns,
      nxdomain: status.events.dns,
      alerts: status.alerts,
      new_assets: status.assets,
      new_services: status.services,
      bytes: bytesOf(reader),
    });
    reader.close();
    await store.close();
  }
});

async function runAndKill(dataDir: string, round: number, acks: number): Promise<void> {
  const child = new URL('crash-child.ts', import.meta.url).pathname;
  const writer = spawn(process.execPath, [child, dataDir, String(round)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const done = new Promise((resolve) => writer.once('close', resolve));
  let acknowledged = 0;
  for await (const _ of createInterface({ input: writer.stdout }))
    if (++acknowledged === acks) setTimeout(() => writer.kill('SIGKILL'), Math.random() * 60);
  await done;
}

/** Bytes of all stored events, counting each connection once. */
function bytesOf(reader: StoreReader): number {
  const most = new Map<string, number>();
  const query = { table: 'network', filter: { terms: [] }, order: 'asc', page: 1, per_page: 10_000 } as const;
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    const page = reader.listEvents(cursor === undefined ? query : { ...query, cursor });
    for (const { attributes: it } of resources<NetworkEvent>(page)) {
      const key = [it.src_ip, it.src_port, it.dst_ip, it.dst_port, it.connection_id].join(' ');
      most.set(key, Math.max(most.get(key) ?? 0, (it.src_bytes ?? 0) + (it.dst_bytes ?? 0)));
    }
    cursor = page.next_cursor;
  }
  return [...most.values()].reduce((sum, bytes) => sum + bytes, 0);
}

test('a folder without rollups gets rollups when it is opened', async () => {
  const { dataDir, store, reader, clock } = opened({ home: ['10.0.0.0/8'] });
  for (let i = 0; i < 5; i++)
    await store.commit(
      batchOf([finding({ rule_id: `${i}` })], {
        blocks: blocksOf(
          Array.from({ length: 50 }, (_, n) =>
            networkRecord({
              timestamp: start - n * hour,
              src_ip: `10.0.0.${n}`,
              dst_ip: '10.0.0.1',
              state: 'closed',
              conn_state: 'SF',
              src_bytes: n,
              direction: 'internal',
              connection_id: `C${n}`,
            }),
          ),
          [dnsRecord({ timestamp: start, query: 'a.example.com', rcode: 3 })],
          start,
        ),
      }),
    );
  const want = windows.map((window) => dashboard(reader, { window, now: clock.now }));
  expect(want.at(-1)!.totals).toMatchObject({
    network_events: 250,
    dns_events: 5,
    alerts: 5,
    new_assets: 50,
  });
  expect(want.at(-1)!.totals.bytes).toBe((49 * 50) / 2);
  reader.close();
  await store.close();
  const root = openDatabase(join(dataDir, databaseFile));
  const names = [...root.getKeys()].map(String).filter((name) => name.startsWith('rollup'));
  expect(names.length).toBe(5);
  for (const name of names) root.openDB({ name }).dropSync();
  await root.close();
  const again = await openProcessed({ dataDir, alertWindowMs: hour, clock: () => clock.now, home: ['10.0.0.0/8'] });
  const read = openReader(dataDir);
  const got = windows.map((window) => dashboard(read, { window, now: clock.now }));
  read.close();
  await again.close();
  expect(got).toEqual(want);
});

test('alerts that an older version counted by the time raised are recounted by the time last seen', async () => {
  const { dataDir, store, reader, clock } = opened();
  const findings = [0, 5, 50].map((age) => finding({ rule_id: `${age}`, timestamp: start - age * hour }));
  for (const one of findings) await store.commit(batchOf([one]));
  reader.close();
  await store.close();
  const root = openDatabase(join(dataDir, databaseFile));
  const { rollupAlerts, rollupState } = openTables(root);
  const { alerts_by: _, ...before } = rollupState.get('rollups')!;
  root.transactionSync(() => {
    rollupState.putSync('rollups', before);
    for (const { key } of [...rollupAlerts.getRange()]) rollupAlerts.removeSync(key);
  });
  await root.close();
  const again = await openProcessed({ dataDir, alertWindowMs: hour, clock: () => clock.now });
  const read = openReader(dataDir);
  const totals = (['1h', '24h', '7d'] as const).map(
    (window) => dashboard(read, { window, now: clock.now }).totals.alerts,
  );
  read.close();
  await again.close();
  expect(totals).toEqual([1, 2, 3]);
});

test('the time of receipt of the newest event is kept when only assets change while the clock is behind', async () => {
  const { store, reader, clock } = opened({ home: ['10.0.0.0/8'] });
  const record = networkRecord({ timestamp: start, src_ip: '10.0.0.1', state: 'closed', direction: 'outbound' });
  await store.commit(batchOf([], { blocks: blocksOf([record], [], start) }));
  clock.now -= 2 * hour;
  const [asset] = resources<Asset>(reader.listAssets({ ...newest, sort: 'first_seen' }));
  await store.removeAsset(asset!.id);
  const { ingest } = dashboard(reader, { window: '24h', now: start });
  expect(ingest.last_received_at).toBe(new Date(start).toISOString());
});

test('without events all figures are zero', () => {
  const { reader, clock } = opened();
  for (const window of windows) {
    const shown = dashboard(reader, { window, now: clock.now });
    expect(new Set(Object.values(shown.totals))).toEqual(new Set([0]));
    expect(Object.values(shown.rates)).toEqual([0, 0, 0]);
    expect(shown.top_talkers).toEqual([]);
    for (const { points } of shown.series) {
      expect(points.length).toBeGreaterThan(10);
      expect(points.every(({ value }) => value === 0)).toBe(true);
    }
    for (const one of trends(reader, { window, now: clock.now }).metrics)
      expect(one).toMatchObject({ current: 0, previous: 0, anomalies: [] });
  }
});

test('windows begin at the start of a bucket and end at the current time', () => {
  const { reader } = opened();
  const now = Date.UTC(2026, 10, 20, 17, 5, 30, 250);
  const of = (window: (typeof windows)[number]) => {
    const { from, to, bucket_s, previous } = dashboard(reader, { window, now });
    return [from, to, bucket_s, previous.from, previous.to];
  };
  const to = '2026-11-20T17:05:30.250Z';
  const [a, b] = ['2026-11-20T16:50:00.000Z', '2026-11-20T16:05:00.000Z'];
  const [c, d, e] = ['2026-11-19T17:00:00.000Z', '2026-11-13T17:00:00.000Z', '2026-10-21T00:00:00.000Z'];
  expect(of('15m')).toEqual([a, to, 60, '2026-11-20T16:35:00.000Z', a]);
  expect(of('1h')).toEqual([b, to, 60, '2026-11-20T15:05:00.000Z', b]);
  expect(of('24h')).toEqual([c, to, 3600, '2026-11-18T17:00:00.000Z', c]);
  expect(of('7d')).toEqual([d, to, 3600, '2026-11-06T17:00:00.000Z', d]);
  expect(of('30d')).toEqual([e, to, 86_400, '2026-09-21T00:00:00.000Z', e]);
});

test('an unusual minute is reported, and the first minutes with events are not', async () => {
  const { store, reader, clock } = opened();
  const flowsAt = (age: number, count: number) =>
    Array.from({ length: count }, (_, i) => networkRecord({ timestamp: start - age * minute + i }));
  const usual = Array.from({ length: 40 }, (_, age) => flowsAt(age + 1, 20 + (age % 5))).flat();
  await store.commit(batchOf([], { blocks: blocksOf([...usual, ...flowsAt(5, 300)], [], start) }));
  const { metrics } = trends(reader, { window: '1h', now: clock.now });
  const found = metrics.find(({ metric }) => metric === 'network_events')!.anomalies;
  expect(found).toMatchObject([{ at: new Date(start - 5 * minute).toISOString(), value: 324, expected: 22 }]);
});

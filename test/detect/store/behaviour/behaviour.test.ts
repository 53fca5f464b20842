import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { serialize } from 'node:v8';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Alert } from '../../../../src/contract/resources/alert.ts';
import { openDatabase } from '../../../../src/database/lmdb.ts';
import { NetworkScanDetector } from '../../../../src/detect/behaviour/network-scan.ts';
import { PortScanDetector } from '../../../../src/detect/behaviour/port-scan.ts';
import { BlockBuilder } from '../../../../src/events/format/block-builder.ts';
import { limits } from '../../../../src/limits.ts';
import { openReader } from '../../../../src/store/reader.ts';
import type { IngestBatch, StoreReader } from '../../../../src/store/store.ts';
import { databaseFile, openTables } from '../../../../src/store/tables.ts';
import { openStore } from '../../../../src/store/writer.ts';
import { dnsRecord } from '../../../rollups/store/dns-records.ts';
import { batchOf, everything, finding, hour, opened, resources, settled, start } from '../../../store/opened.ts';
import { networkRecord } from '../../../store/records.ts';
import { EveryFifth } from './every-fifth.ts';

const detectors = () => [new EveryFifth()];

/** A connection attempt without an answer. */
const unanswered = { transport: 'tcp', state: 'attempt', direction: 'internal' } as const;

function flows(sources: readonly number[]): IngestBatch {
  const network = new BlockBuilder('network', start);
  sources.forEach((source, i) => {
    network.add(networkRecord({ timestamp: start + i, src_ip: `192.0.2.${source}` }));
  });
  return batchOf([], { blocks: sources.length === 0 ? [] : [network.finish()] });
}

function names(asked: readonly string[]): IngestBatch {
  const dns = new BlockBuilder('dns', start);
  for (const query of asked) dns.add(dnsRecord({ query }));
  return batchOf([], { blocks: [dns.finish()] });
}

/** Counts findings by source or name. */
function found(reader: StoreReader): Record<string, number> {
  const alerts = resources<Alert>(reader.listAlerts(everything)).map(({ attributes }) => attributes);
  return Object.fromEntries(
    alerts
      .filter(({ rule_source }) => rule_source === 'behaviour')
      .map(({ src_ip, domain, count }) => [src_ip ?? domain ?? '', count]),
  );
}

function fifths(sources: readonly number[]): Record<string, number> {
  const counted = new Map<string, number>();
  for (const source of sources) counted.set(`192.0.2.${source}`, (counted.get(`192.0.2.${source}`) ?? 0) + 1);
  return Object.fromEntries(
    [...counted].map(([source, n]) => [source, Math.floor(n / 5)] as const).filter(([, n]) => n > 0),
  );
}

test('a detection becomes an alert with its evidence and its events', async () => {
  const { store, reader } = opened({ detectors });
  await store.commit(flows([1, 1, 2, 1, 1, 1]));
  await settled(store);
  const [alert] = resources<Alert>(reader.listAlerts(everything));
  expect(alert?.attributes).toMatchObject({
    rule_id: 'behaviour.every-fifth',
    rule_source: 'behaviour',
    src_ip: '192.0.2.1',
    evidence: { n: 5 },
    count: 1,
  });
  const [event] = alert!.attributes.event_ids;
  expect(reader.getEvent('network', event!)).toMatchObject({ src_ip: '192.0.2.1' });
  expect(found(reader)).toEqual({ '192.0.2.1': 1 });
});

test.each(['follow in the same body', 'were received before'])(
  'alerts about many scans count all ports of each scan when events dated hours later %s',
  async (when) => {
    const { store, reader } = opened({ detectors: () => [new PortScanDetector()] });
    if (when === 'were received before') {
      const dns = new BlockBuilder('dns', start + 31 * hour);
      dns.add(dnsRecord({ timestamp: start + 30.5 * hour }));
      await store.commit(batchOf([], { blocks: [dns.finish()] }));
      await settled(store);
    }
    const sources = Array.from({ length: 45 }, (_, n) => `10.1.0.${n}`);
    const network = new BlockBuilder('network', start + 31 * hour);
    const scan = (timestamp: number, from: number, to: number) => {
      for (let dst_port = from; dst_port < to; dst_port++)
        for (const src_ip of sources)
          network.add(networkRecord({ timestamp, src_ip, dst_ip: '10.0.0.1', dst_port, ...unanswered }));
    };
    scan(start, 1, 25);
    scan(start + 0.5 * hour, 25, 35);
    scan(start + 30 * hour, 1, 2);
    await store.commit(batchOf([], { blocks: [network.finish()] }));
    await settled(store);
    const alerts = resources<Alert>(reader.listAlerts({ ...everything, per_page: 1000 }));
    const ports = alerts.map(({ attributes }) => [attributes.src_ip, attributes.evidence?.ports_in_vain]);
    expect(ports.sort()).toEqual(sources.map((source) => [source, 34]).sort());
  },
);

test('names are reported in lower case without a final dot', async () => {
  const { store, reader } = opened({ detectors });
  await store.commit(names(['A.Example.', 'a.example', 'a.EXAMPLE', 'a.example', 'a.example.']));
  await settled(store);
  expect(found(reader)).toEqual({ 'a.example': 1 });
});

test('each finding is raised once, across restarts and aborted transactions', async () => {
  const steps = fc.array(
    fc.oneof(
      { weight: 5, arbitrary: fc.array(fc.nat(3), { minLength: 1, maxLength: 40 }) },
      { weight: 1, arbitrary: fc.constantFrom('reopen', 'undone') },
    ),
    { minLength: 1, maxLength: 12 },
  );
  await fc.assert(
    fc.asyncProperty(steps, fc.constantFrom(1, 20, 1000), async (done, eventsPerDetectorState) => {
      const dataDir = mkdtempSync(join(tmpdir(), 'candor-behaviour-'));
      const open = () =>
        openStore({ dataDir, alertWindowMs: hour, clock: () => start, detectors, eventsPerDetectorState });
      let store = open();
      const told: number[] = [];
      for (const step of done) {
        if (step === 'reopen') {
          await store.close();
          store = open();
        } else if (step === 'undone') {
          // An invalid timestamp ends the transaction with an exception.
          const broken = batchOf([finding({ timestamp: Number.NaN })], {
            blocks: flows([0, 1, 2, 3]).blocks,
          });
          await expect(store.commit(broken)).rejects.toThrow();
        } else {
          told.push(...step);
          await store.commit(flows(step));
        }
      }
      await settled(store);
      const reader = openReader(dataDir);
      try {
        expect(found(reader)).toEqual(fifths(told));
      } finally {
        reader.close();
        await store.close();
        rmSync(dataDir, { recursive: true });
      }
    }),
    { numRuns: 15 },
  );
});

test('each finding is raised once if the process is killed at any time', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-behaviour-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  for (const kills of [3, 40, 90]) {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'crash-child.ts'), dataDir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    for await (const line of createInterface(child.stdout)) if (Number(line) >= kills) child.kill('SIGKILL');
  }
  const store = openStore({ dataDir, alertWindowMs: hour, clock: () => start, detectors });
  const reader = openReader(dataDir);
  onTestFinished(() => store.close());
  onTestFinished(() => reader.close());
  await settled(store);
  const stored = resources<{ src_ip: string }>(
    reader.listEvents({ table: 'network', filter: { terms: [] }, order: 'asc', per_page: 100_000, page: 1 }),
  );
  expect(stored.length).toBeGreaterThan(1000);
  expect(found(reader)).toEqual(fifths(stored.map(({ attributes }) => Number(attributes.src_ip.split('.')[3]))));
});

test('findings that must be logged wait while the outbox is full, and are raised when it has room', async () => {
  const { store, reader } = opened({ detectors, maxOutboxRows: 1 });
  await store.commit(batchOf([finding({ severity: 'high' })]));
  await store.commit(flows([9, 9, 9, 9, 9, 1, 1, 1, 1, 1]));
  await settled(store);
  expect(found(reader)).toEqual({ '192.0.2.1': 1 });
  const [row] = await store.outbox(10);
  await store.settle([{ id: row!.id, leaf_index: 0, tree_size: 1, leaf_hash: '00'.repeat(32) }]);
  await store.commit(flows([2]));
  await settled(store);
  expect(found(reader)).toEqual({ '192.0.2.1': 1, '192.0.2.9': 1 });
  expect(await store.outbox(10)).toMatchObject([{ kind: 'alert.raised' }]);
});

test('at the limit of waiting findings, events are rejected until the log accepts entries', async () => {
  const { store, reader } = opened({ detectors, maxOutboxRows: 1 });
  await store.commit(batchOf([finding({ severity: 'high' })]));
  let refused: unknown;
  for (let sent = 0; refused === undefined && sent < 100 * limits.maxWaitingFindings; sent += 5000)
    await store.commit(flows(Array.from({ length: 5000 }, () => 9))).catch((error: unknown) => {
      refused = error;
    });
  expect(refused).toMatchObject({ code: 'UNAVAILABLE', details: { reason: 'outbox_full' } });
  const [row] = await store.outbox(10);
  await store.settle([{ id: row!.id, leaf_index: 0, tree_size: 1, leaf_hash: '00'.repeat(32) }]);
  await store.commit(flows([2]));
  await settled(store);
  expect(found(reader)['192.0.2.9']).toBeGreaterThan(0);
});

test('a detector that throws is disabled, and the events are processed', async () => {
  const warned: string[] = [];
  const listen = (warning: Error) => warned.push(warning.message);
  process.on('warning', listen);
  onTestFinished(() => void process.off('warning', listen));
  const { store, reader } = opened({ detectors });
  await store.commit(names(['throw.example', 'a.example']));
  await store.commit(flows([1, 1, 1, 1, 1]));
  await settled(store);
  expect(found(reader)).toEqual({});
  expect((await store.status()).events).toEqual({ network: 5, dns: 2 });
  expect(warned.join('\n')).toContain('every-fifth is disabled until the next start: Error: a bug');
});

test.for([
  ['cannot be decoded', Buffer.from('a state of another version of V8')],
  ['is not a state of the detector', serialize({ version: new PortScanDetector().card.version, next: {}, state: {} })],
] as const)(
  'a detector whose stored state %s starts without the state, and other detectors keep their states',
  async ([, state]) => {
    const warned: string[] = [];
    const listen = (warning: Error) => warned.push(warning.message);
    process.on('warning', listen);
    onTestFinished(() => void process.off('warning', listen));
    const scan = (src_ip: string) => {
      const network = new BlockBuilder('network', start);
      for (let dst_port = 1; dst_port <= 40; dst_port++)
        network.add(networkRecord({ timestamp: start, src_ip, dst_ip: '10.0.0.1', dst_port, ...unanswered }));
      return batchOf([], { blocks: [network.finish()] });
    };
    const { dataDir, store, reader } = opened();
    await store.commit(scan('10.1.0.1'));
    await store.close();
    const root = openDatabase(join(dataDir, databaseFile));
    const { behaviourState } = openTables(root);
    root.transactionSync(() => behaviourState.putSync('port-scan', state));
    await root.close();
    const others = vi.spyOn(NetworkScanDetector.prototype, 'restore');
    onTestFinished(() => others.mockRestore());
    const again = openStore({ dataDir, alertWindowMs: hour, clock: () => start });
    onTestFinished(() => again.close());
    expect(others).toHaveBeenCalledTimes(1);
    await again.commit(scan('10.1.0.2'));
    await settled(again);
    expect(found(reader)).toEqual({ '10.1.0.1': 1, '10.1.0.2': 1 });
    expect(warned).toEqual([expect.stringContaining('detector port-scan starts without its stored state')]);
  },
);

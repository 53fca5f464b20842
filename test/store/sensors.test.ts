/**
 * Events name the principal that sent them. Connections are counted separately for each sensor, and alerts name their
 * sensors. Files from earlier versions lack the principal.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import type { Alert } from '../../src/contract/resources/alert.ts';
import type { NetworkEvent } from '../../src/contract/resources/network-event.ts';
import type { Service } from '../../src/contract/resources/service.ts';
import type { Detection, Detector, Flow, StoredEventRef } from '../../src/detect/behaviour/detector.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import type { NetworkRecord } from '../../src/events/records.ts';
import { inspectStore } from '../../src/store/inspect.ts';
import { openReader } from '../../src/store/reader.ts';
import type { IngestBatch } from '../../src/store/store.ts';
import { openStore } from '../../src/store/writer.ts';
import { administrator, batchOf, everything, finding, hour, opened, resources, start } from './opened.ts';
import { networkRecord } from './records.ts';

const a = '01900000-0000-7000-8000-0000000000aa';
const b = '01900000-0000-7000-8000-0000000000bb';
const home = ['10.0.0.0/8'];

/** Returns events in one block, each with its sensor. */
function sent(...events: readonly (readonly [sensor: string, record: Partial<NetworkRecord>])[]): IngestBatch {
  const network = new BlockBuilder('network', start);
  for (const [sensor, record] of events) {
    network.sensorId = sensor;
    network.add(networkRecord(record));
  }
  const answer = { accepted: events.length, rejected: 0, ignored: 0, duplicates: 0, errors: [] };
  return batchOf([], { blocks: [network.finish()], answer });
}

const connection = (connection_id: string): Partial<NetworkRecord> => ({
  connection_id,
  src_ip: '10.0.0.1',
  dst_ip: '10.0.0.2',
  dst_port: 443,
  state: 'closed',
  direction: 'internal',
  dst_bytes: 100,
});

const alertsOf = (page: { readonly json: Uint8Array }) => resources<Alert>(page).map(({ attributes }) => attributes);

test('a connection is counted, even if another sensor sent the same id and endpoints', async () => {
  const { store, reader } = opened({ home });
  await store.commit(sent([b, connection('C1')]));
  await store.commit(sent([a, connection('C1')], [a, connection('C1')], [b, connection('C1')]));
  const [service] = resources<Service>(reader.listServices(everything));
  expect(service?.attributes).toMatchObject({ ip: '10.0.0.2', port: 443, connections: 2 });
});

/** Reports all flows of each source together. */
class BySource implements Detector {
  readonly card = {
    id: 'by-source',
    version: 1,
    name: 'By source',
    category: 'test',
    mitre: { tactics: [], techniques: [] },
  };
  readonly dropped = { late: 0, forgotten: 0, stale: 0 };
  readonly #events = new Map<string, StoredEventRef[]>();

  flow({ src, seq }: Flow): void {
    this.#events.set(src, [...(this.#events.get(src) ?? []), { table: 'network', seq }]);
  }
  evaluate(emit: (detection: Detection) => void): void {
    for (const [src_ip, events] of this.#events) {
      const said = { title: 'x', description: 'x', severity: 'low', confidence: 1, evidence: {} } as const;
      emit({ ...said, timestamp: start, ends: { src_ip }, events });
    }
    this.#events.clear();
  }
  state(): unknown {
    return [];
  }
  restore(): void {}
  merge(): void {}
}

test('an alert raised from events names the sensors of the latest events between its hosts', async () => {
  const { store, reader } = opened({ home, detectors: () => [new BySource()] });
  await store.createPrincipal({ ...administrator(), id: a, name: 'zeek' }, { id: 'system', name: 'system' });
  await store.commit(sent([a, connection('C1')], [b, connection('C1')]));
  await store.commit(sent([b, connection('C2')], [b, connection('C3')]));
  await store.commit(batchOf([]));
  const shown = alertsOf(reader.listAlerts(everything)).map(({ count, sensors }) => ({ count, sensors }));
  expect(shown).toHaveLength(1);
  expect(shown[0]!.count).toBe(2);
  expect(shown[0]!.sensors?.map(({ id }) => id)).toEqual([a, b]);
});

test('a folder of the previous version keeps its events, ids and alerts, and new events have their sensor', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-older-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const packed = readFileSync(join(import.meta.dirname, 'before-sensor-ids.mdb.zst'));
  writeFileSync(join(dataDir, 'siem.mdb'), zstdDecompressSync(packed));
  await inspectStore(dataDir, () => undefined);
  const store = openStore({ dataDir, alertWindowMs: hour, clock: () => start, home });
  const reader = openReader(dataDir);
  const old = '01900000-0000-4000-8000-000000000001';
  const fresh = '01900000-0000-4000-8000-00000000000f';
  const { answer } = await store.commit(sent([a, { id: old }], [a, { id: fresh }], [b, { id: fresh }]));
  expect(answer).toMatchObject({ accepted: 2, duplicates: 1 });
  const both = { rule_id: '1:1', src_ip: '198.51.100.1', dst_ip: '10.0.0.2' };
  await store.commit(batchOf([finding({ ...both, sensors: [a] }), finding(both)]));
  const list = reader.listEvents({
    table: 'network',
    filter: { terms: [] },
    order: 'asc',
    per_page: 10,
    page: 1,
  });
  const events = resources<NetworkEvent>(list).map(({ id, attributes }) => [id, attributes.sensor_id]);
  expect(events).toHaveLength(5);
  expect(events).toContainEqual([old, undefined]);
  expect(events).toContainEqual([fresh, a]);
  expect(reader.getEvent('dns', '01900000-0000-4000-8000-000000000009')).not.toHaveProperty('sensor_id');
  const alerts = alertsOf(reader.listAlerts(everything));
  expect(alerts).toHaveLength(2);
  expect(alerts).toContainEqual(expect.objectContaining({ title: 'old', count: 2 }));
  expect(alerts).toContainEqual(expect.objectContaining({ count: 1, sensors: [{ id: a, count: 1 }] }));
  reader.close();
  await store.close();
  await inspectStore(dataDir, () => undefined);
});

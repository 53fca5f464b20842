import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Alert } from '../../../../src/contract/resources/alert.ts';
import { BlockBuilder } from '../../../../src/events/format/block-builder.ts';
import type { NetworkRecord } from '../../../../src/events/records.ts';
import { openReader } from '../../../../src/store/reader.ts';
import type { IngestBatch, StoreReader } from '../../../../src/store/store.ts';
import { system } from '../../../identities/store/identity-records.ts';
import { dnsRecord } from '../../../rollups/store/dns-records.ts';
import {
  batchOf,
  everything,
  finding,
  hour,
  opened,
  openProcessed,
  resources,
  settled,
  start,
} from '../../../store/opened.ts';
import { networkRecord } from '../../../store/records.ts';
import { contentOf, listIn } from './known-bad.ts';

const home = ['10.0.0.0/8'];

function flows(...records: Partial<NetworkRecord>[]): IngestBatch {
  const network = new BlockBuilder('network', start);
  const outbound = { timestamp: start, src_ip: '10.0.0.7', direction: 'outbound' } as const;
  for (const record of records) network.add(networkRecord({ ...outbound, ...record }));
  return batchOf([], { blocks: [network.finish()] });
}

function lookups(...queries: string[]): IngestBatch {
  const dns = new BlockBuilder('dns', start);
  for (const query of queries) dns.add(dnsRecord({ query }));
  return batchOf([], { blocks: [dns.finish()] });
}

const alertsIn = (reader: StoreReader) =>
  resources<Alert>(reader.listAlerts(everything))
    .map(({ attributes }) => attributes)
    .filter(({ rule_source }) => rule_source === 'intel');
const hitsOf = (reader: StoreReader, id: string) => reader.getIntel(id, start)?.list.hits;

test('a connection that a sensor sends repeatedly is reported when first seen, and again when answered', async () => {
  const { store, reader } = opened({ home });
  const id = await listIn(store, '198.51.100.9');
  const report = { dst_ip: '198.51.100.9', connection_id: 'C1', src_port: 4000 };
  const open = {
    ...report,
    state: 'open',
    src_packets: 3,
    dst_packets: 3,
    src_bytes: 300,
    dst_bytes: 300,
  } as const;
  await store.commit(flows({ ...report, state: 'attempt', src_packets: 1 }));
  await store.commit(flows(open, open));
  await store.commit(flows(open));
  await settled(store);
  const [alert, ...others] = alertsIn(reader);
  expect(others).toEqual([]);
  expect(alert).toMatchObject({
    rule_id: `intel.${id}`,
    severity: 'high',
    dst_ip: '198.51.100.9',
    count: 2,
    evidence: { answered: true },
  });
  expect(hitsOf(reader, id)).toBe(2);
  expect(reader.getEvent('network', alert!.event_ids[0]!)).toMatchObject({ dst_ip: '198.51.100.9' });
});

test('the alert of several attempts says that one of them was answered later', async () => {
  const { store, reader } = opened({ home });
  await listIn(store, '198.51.100.9');
  const attempt = { dst_ip: '198.51.100.9', connection_id: 'C1', src_port: 4000, state: 'attempt' } as const;
  await store.commit(flows(attempt));
  await store.commit(flows({ ...attempt, connection_id: 'C2', src_port: 4001, timestamp: start + 1000 }));
  await store.commit(flows({ ...attempt, state: 'open', src_packets: 3, dst_packets: 3, duration_ms: 5000 }));
  await settled(store);
  expect(alertsIn(reader)).toMatchObject([{ count: 3, severity: 'high', evidence: { answered: true } }]);
});

test('home addresses are ignored, even if a list contains them', async () => {
  const { store, reader } = opened({ home });
  const id = await listIn(store, '10.0.0.0/24\n198.51.100.9');
  await store.commit(
    flows({ dst_ip: '10.0.0.9', direction: 'internal' }, { dst_ip: '192.0.2.1' }, { dst_ip: '198.51.100.9' }),
  );
  await settled(store);
  expect(alertsIn(reader).map(({ dst_ip }) => dst_ip)).toEqual(['198.51.100.9']);
  expect(hitsOf(reader, id)).toBe(1);
});

test('an indicator applies to events within its validity', async () => {
  const { store, reader } = opened({ home });
  const id = await listIn(store, `198.51.100.9,${new Date(start).toISOString()}\nbad.example,2020-01-01`);
  const before = { dst_ip: '198.51.100.9', timestamp: start - 1 };
  await store.commit(flows(before, { ...before, timestamp: start }));
  await store.commit(lookups('bad.example'));
  await settled(store);
  expect(alertsIn(reader)).toMatchObject([{ first_seen: new Date(start - 1).toISOString(), count: 1 }]);
  expect(hitsOf(reader, id)).toBe(1);
});

test('events are matched against a list only if stored after the list was added or changed', async () => {
  const { store, reader } = opened({ home });
  await store.commit(lookups('bad.example', 'other.example'));
  await settled(store);
  const id = await listIn(store, 'bad.example');
  await store.commit(lookups('bad.example', 'other.example'));
  await store.changeIntel(id, {}, system, { content: contentOf('other.example') });
  await store.commit(lookups('bad.example', 'other.example', 'other.example'));
  await settled(store);
  expect(hitsOf(reader, id)).toBe(3);
});

test('findings that must be logged wait while the outbox is full, and are raised when it has room', async () => {
  const { store, reader } = opened({ home, maxOutboxRows: 2 });
  await listIn(store, '198.51.100.9');
  await store.commit(batchOf([finding({ severity: 'high' })]));
  await store.commit(
    flows(
      { dst_ip: '198.51.100.9' },
      { src_ip: '198.51.100.9', dst_ip: '10.0.0.8', direction: 'inbound', state: 'attempt' },
    ),
  );
  await settled(store);
  expect(alertsIn(reader).map(({ severity }) => severity)).toEqual(['low']);
  const waiting = await store.outbox(10);
  await store.settle(waiting.map(({ id }, n) => ({ id, leaf_index: n, tree_size: 9, leaf_hash: 'ab'.repeat(32) })));
  await store.commit(flows({ dst_ip: '192.0.2.77' }));
  await settled(store);
  expect(
    alertsIn(reader)
      .map(({ severity }) => severity)
      .sort(),
  ).toEqual(['high', 'low']);
});

test('each event that matches a list is reported once, across restarts and aborted transactions', async () => {
  const names = ['bad.example', 'good.example', 'x.bad.example'] as const;
  const steps = fc.array(
    fc.oneof(
      { weight: 5, arbitrary: fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 20 }) },
      { weight: 1, arbitrary: fc.constantFrom('reopen', 'undone') },
    ),
    { minLength: 1, maxLength: 10 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (done) => {
      const dataDir = mkdtempSync(join(tmpdir(), 'candor-intel-'));
      const open = () => openProcessed({ dataDir, alertWindowMs: hour, clock: () => start, home });
      let store = await open();
      const id = await listIn(store, 'bad.example');
      let told = 0;
      for (const step of done) {
        if (step === 'reopen') {
          await store.close();
          store = await open();
        } else if (step === 'undone') {
          // An invalid timestamp ends the transaction with an exception.
          const broken = batchOf([finding({ timestamp: Number.NaN })], { blocks: lookups(...names).blocks });
          await expect(store.commit(broken)).rejects.toThrow();
        } else {
          told += step.filter((name) => name !== 'good.example').length;
          await store.commit(lookups(...step));
        }
      }
      await store.close();
      const reader = openReader(dataDir);
      try {
        expect(hitsOf(reader, id)).toBe(told);
        expect(alertsIn(reader).reduce((sum, { count }) => sum + count, 0)).toBe(told);
      } finally {
        reader.close();
        rmSync(dataDir, { recursive: true });
      }
    }),
    { numRuns: 15 },
  );
});

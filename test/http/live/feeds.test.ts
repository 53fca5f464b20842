import { expect, test } from 'vitest';
import { BlockBuilder } from '../../../src/events/format/block-builder.ts';
import type { CommittedBlock } from '../../../src/store/store.ts';
import { batchOf, opened, start } from '../../store/opened.ts';
import { networkRecord } from '../../store/records.ts';
import { MemoryWire } from './fakes.ts';
import { memoryHub } from './memory-hub.ts';

function setUp() {
  const { store, reader } = opened({ home: ['10.0.0.0/8'] });
  const { feeds, subscribe } = memoryHub(reader);
  const wire = new MemoryWire();
  const commit = async (port: number): Promise<readonly CommittedBlock[]> => {
    const network = new BlockBuilder('network', start);
    const answered = { transport: 'tcp', state: 'closed', direction: 'inbound', timestamp: start } as const;
    network.add(networkRecord({ ...answered, src_port: port, dst_ip: '10.0.0.1' }));
    return (await store.commit(batchOf([], { blocks: [network.finish()] }))).blocks;
  };
  const processedTo = (network: number) => {
    const heads = { alerts: 0, topology: 0 };
    feeds.committed({ alerts: [], scans: [], heads, processed: { network, dns: 1 } });
  };
  const events = () =>
    wire.sent.map(({ data }) => (data as { attributes: { src_port: number; dst_asset_id?: string } }).attributes);
  return { feeds, subscribe, wire, commit, processedTo, events };
}

test('subscribed events are published when they are processed, with the assets of their addresses', async () => {
  const { feeds, subscribe, wire, commit, processedTo, events } = setUp();
  subscribe(wire, 'events.network');
  feeds.events(await commit(1));
  feeds.events(await commit(2));
  expect(events()).toEqual([]);
  processedTo(2);
  expect(events().map(({ src_port }) => src_port)).toEqual([1]);
  processedTo(3);
  expect(events().map(({ src_port }) => src_port)).toEqual([1, 2]);
  expect(events().every(({ dst_asset_id }) => dst_asset_id !== undefined)).toBe(true);
});

test('at most 64 blocks wait until they are processed; beyond that, the oldest are published early', async () => {
  const { feeds, subscribe, wire, commit, processedTo, events } = setUp();
  subscribe(wire, 'events.network');
  for (let port = 1; port <= 66; port++) feeds.events(await commit(port));
  expect(events().map(({ src_port }) => src_port)).toEqual([1, 2]);
  processedTo(67);
  expect(events()).toHaveLength(66);
});

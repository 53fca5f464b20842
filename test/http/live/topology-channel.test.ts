import { expect, it } from 'vitest';
import { queries } from '../../../src/analytics/queries.ts';
import { channels } from '../../../src/contract/channels.ts';
import { parseFilters } from '../../../src/contract/query.ts';
import type { TopologyUpdate } from '../../../src/contract/resources/topology.ts';
import { BlockBuilder } from '../../../src/events/format/block-builder.ts';
import { Hub } from '../../../src/http/live/hub.ts';
import { TopologyFeed, topologyChannel } from '../../../src/http/live/topology-channel.ts';
import { batchOf, opened, start } from '../../store/opened.ts';
import { networkRecord } from '../../store/records.ts';
import { MemoryChannel, MemoryWire } from './fakes.ts';

function setUp() {
  const { store, reader, notices } = opened();
  const run = queries(reader);
  const channel = topologyChannel(
    () => reader.head('topology'),
    async (query) => run.replayTopology(query),
  );
  const other = new MemoryChannel(1);
  const errors: unknown[] = [];
  const hub = new Hub(
    { 'events.network': other, 'events.dns': other, alerts: other, topology: channel, discovery: other },
    { live: () => {}, limitReached: () => {} },
    (error) => void errors.push(error),
  );
  let stepsRead = 0;
  const feed = new TopologyFeed({
    reader: {
      ...reader,
      topologySteps(since, limit) {
        stepsRead++;
        return reader.topologySteps(since, limit);
      },
    },
    isWatched: () => hub.isWatched('topology'),
    publish: (batch) => hub.publish('topology', batch),
  });
  const commit = async (targets: readonly string[]) => {
    const builder = new BlockBuilder('network', start);
    for (const dst_ip of targets)
      builder.add(networkRecord({ src_ip: '10.0.0.1', dst_ip, direction: 'outbound', state: 'closed' }));
    await store.commit(batchOf([], { blocks: [builder.finish()] }));
    feed.publishTo(notices.at(-1)!.heads.topology);
    await new Promise((resolve) => setTimeout(resolve, 10));
  };
  const subscribe = (filters: Record<string, unknown> = {}, since?: number) => {
    const wire = new MemoryWire();
    const filter = parseFilters(channels.topology.filters, filters);
    hub.subscribe(wire, 'one', 'topology', channel.compile(filter), since);
    return wire;
  };
  return { commit, subscribe, errors, hub, reads: () => stepsRead };
}

const told = (wire: MemoryWire) =>
  wire.sent.map((message) => (message.type === 'lagged' ? `lagged ${message.dropped}` : message.seq));
const many = Array.from({ length: 1500 }, (_, i) => `203.${i >> 8}.${i & 255}.1`);

it('the topology channel sends live and missed changes, and a lagged message instead of a change that is too large', async () => {
  const { commit, subscribe, errors } = setUp();
  const live = subscribe();
  await commit(['203.0.113.1']);
  await commit(many);
  expect(told(live)).toEqual([1, 'lagged 1']);
  await commit(['198.51.100.1']);
  expect(told(live)).toEqual([1, 'lagged 1', 3]);
  const late = subscribe({}, 0);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(told(late)).toEqual([1, 'lagged 1', 3]);
  expect(errors).toEqual([]);
});

it('the topology channel reads changes only while there are subscriptions, and misses none for later subscribers', async () => {
  const { commit, subscribe, errors, hub, reads } = setUp();
  await commit(['203.0.113.1']);
  await commit(many);
  await commit(['198.51.100.1']);
  expect(reads()).toBe(0);
  const [early, now] = [subscribe({}, 1), subscribe()];
  await commit(['198.51.100.2']);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([told(early), told(now)]).toEqual([['lagged 1', 3, 4], [4]]);
  expect(reads()).toBe(1);
  for (const wire of [early, now]) hub.remove(wire);
  await commit(['198.51.100.3']);
  expect(reads()).toBe(1);
  const back = subscribe({}, 4);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(told(back)).toEqual([5]);
  expect(errors).toEqual([]);
});

it('the topology channel sends only changes that match the filters, by subnet on request', async () => {
  const { commit, subscribe } = setUp();
  const one = subscribe({ ip: '198.51.100.0/24' });
  const subnets = subscribe({ group_by: 'subnet' });
  await commit(['203.0.113.1']);
  await commit(['198.51.100.1', '203.0.113.9']);
  expect(told(one)).toEqual([2]);
  const { attributes } = one.sent[0]!.data as { attributes: TopologyUpdate };
  expect(attributes.edges.map(({ target }) => target)).toEqual(['198.51.100.0/24']);
  expect(told(subnets)).toEqual([1, 2]);
  expect(JSON.stringify(subnets.sent[0])).toContain('"source":"10.0.0.0/24"');
});

it('the topology channel rejects unknown filters and invalid values, and names the field', () => {
  const { subscribe } = setUp();
  for (const [filters, field] of [
    [{ group_by: 'asset' }, 'filters.group_by'],
    [{ group_by: ['host', 'subnet'] }, 'filters.group_by'],
    [{ asset_id: 'x' }, 'filters.asset_id'],
    [{ ip: '10.0.0.0/33' }, 'filters.ip'],
    [{ severity: 'high' }, 'filters.severity'],
  ] as const)
    expect(() => subscribe(filters)).toThrow(expect.objectContaining({ details: expect.objectContaining({ field }) }));
});

import { expect, it } from 'vitest';
import { peersOf, type Topology } from '../../../src/console/pages/assets/peers.ts';

const own = '01a20223-84f0-797a-b020-ed2b57cb7cf5';
const node = (id: string, more: Partial<Topology['nodes'][number]> = {}): Topology['nodes'][number] => ({
  id,
  kind: 'asset',
  label: id,
  degree: 1,
  bytes: 1,
  ...more,
});
const edge = (
  source: string,
  target: string,
  bytes: number,
  more: Partial<Topology['edges'][number]> = {},
): Topology['edges'][number] => ({
  source,
  target,
  ports: [],
  protocols: [],
  connections: 1,
  bytes,
  first_seen: '2026-11-22T00:00:00.000Z',
  last_seen: '2026-11-22T01:00:00.000Z',
  ...more,
});
const topology: Topology = {
  seq: 1,
  nodes: [node('10.0.0.1', { asset_id: own }), node('10.0.0.2'), node('198.51.100.0/24', { kind: 'external' })],
  edges: [
    edge('10.0.0.1', '10.0.0.2', 10, { ports: [443, 80], protocols: ['tls'], connections: 3 }),
    edge('10.0.0.2', 'fd00::1', 5, {
      ports: [22],
      protocols: ['ssh'],
      last_seen: '2026-11-22T02:00:00.000Z',
    }),
    edge('10.0.0.1', '198.51.100.0/24', 100),
    edge('10.0.0.2', '198.51.100.0/24', 9999),
    edge('10.0.0.1', 'fd00::1', 7777),
  ],
  truncated: false,
  generated_at: '2026-11-22T03:00:00.000Z',
};

it('peers merge the edges of all addresses of an asset, most bytes first', () => {
  const peers = peersOf(topology, own, ['10.0.0.1', 'fd00::1']);
  expect(peers.map(({ id, bytes }) => [id, bytes])).toEqual([
    ['198.51.100.0/24', 100],
    ['10.0.0.2', 15],
  ]);
  expect(peers[1]).toMatchObject({
    connections: 4,
    opened: 3,
    usedPorts: [80, 443],
    offeredPorts: [22],
    protocols: ['ssh', 'tls'],
    lastSeen: '2026-11-22T02:00:00.000Z',
  });
  expect(peers[0]?.node?.kind).toBe('external');
});

it('edges between other assets add no peers', () => {
  expect(peersOf(topology, 'another', ['10.9.9.9'])).toEqual([]);
});

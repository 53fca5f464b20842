/**
 * The graph of a recorded network matches the files, complete and by the hour, around an asset, and when updates of the
 * channel are applied to an older graph.
 */
import { once } from 'node:events';
import { beforeAll, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { assertServerMessage } from '../../scripts/contract-assertions.ts';
import { type Service, tokenFor } from '../../scripts/service.ts';
import { applyTopologyUpdate } from '../../src/client/topology.ts';
import type { Topology, TopologyUpdate } from '../../src/contract/resources/topology.ts';
import { limits } from '../../src/limits.ts';
import { comparable } from '../topology/store/plain-graph.ts';
import { call, send } from './call.ts';
import { type PlainGraph, plainGraph } from './plain-topology.ts';
import type { RecordedNetwork, SentNetwork } from './recorded-networks.ts';

const hour = 3_600_000;

/** Reads the graph of a service. */
export async function readGraph(service: Service, token: string, query = ''): Promise<Topology> {
  // Counting in the test takes long, so the client must first notice connections that were closed in that time.
  await new Promise((resolve) => setTimeout(resolve, 20));
  const { status, body } = await call(service, 'getTopology', { token, query });
  expect(status, JSON.stringify(body).slice(0, 300)).toBe(200);
  return (body as { data: { attributes: Topology } }).data.attributes;
}

/**
 * @param sent - returns the network, once it was sent
 * @param empty - returns the graph from before
 */
export function describeTopology({ isHome }: RecordedNetwork, sent: () => SentNetwork, empty: () => Topology): void {
  describe('the graph of connections', () => {
    let service: Service;
    let viewer: string;
    let lines: readonly string[];
    const graph = (query = '') => readGraph(service, viewer, query);

    beforeAll(async () => {
      ({ service, viewer, lines } = sent());
      // Figures of many events are written shortly after the events.
      let seen = -1;
      for (let seq = (await graph()).seq; seq !== seen; seq = (await graph()).seq) {
        seen = seq;
        await new Promise((resolve) => setTimeout(resolve, 2 * limits.inventoryPauseMs));
      }
    });

    test.each(['host', 'subnet'] as const)(
      'the graph by %s matches a graph computed from the input lines',
      async (groupBy) => {
        const { nodes, edges, truncated } = await graph(`group_by=${groupBy}&limit=2000`);
        const wanted = plainGraph(lines, isHome, groupBy);
        agrees({ nodes, edges }, wanted, 2000);
        expect(truncated).toBe(wanted.nodes.size > 2000);
      },
    );

    test('graphs of one hour, two days and half an hour (widened to an hour) match graphs computed from the input lines', async () => {
      const starts = lines.map((line) => (JSON.parse(line) as { ts: number }).ts * 1000);
      const first = Math.floor(Math.min(...starts.slice(0, 100)) / hour) * hour;
      for (const [from, to] of [
        [first, first + hour],
        [first + 3 * hour, first + 51 * hour],
        [first + hour / 2, first + hour],
      ] as const) {
        const found = await graph(`from=${from}&to=${to}&limit=2000`);
        const range = [Math.floor(from / hour) * hour, to] as const;
        expect([found.from, found.to]).toEqual(range.map((ms) => new Date(ms).toISOString()));
        agrees(found, plainGraph(lines, isHome, 'host', range), 2000);
      }
    });

    test('graphs of the 200 busiest hosts and around the busiest asset match graphs computed from the input lines', async () => {
      const wanted = plainGraph(lines, isHome);
      const found = await graph();
      expect(found.nodes.length).toBe(Math.min(200, wanted.nodes.size));
      agrees(found, wanted, 200);
      const asset = found.nodes.find(({ asset_id }) => asset_id !== undefined)!;
      const around = await graph(`focus=${asset.asset_id}&limit=2000`);
      const near = new Set([asset.id]);
      for (const { source, target } of wanted.edges.values())
        if (source === asset.id || target === asset.id) near.add(source).add(target);
      const ids = around.nodes.map(({ id }) => id);
      if (!around.truncated) expect(new Set(ids)).toEqual(near);
      else expect(ids.filter((id) => !near.has(id))).toEqual([]);
      expect(ids).toContain(asset.id);
    });

    test('the updates of the channel, applied to an older graph, give the current graph', async () => {
      const now = await graph('limit=2000');
      const { snapshot, lagged } = await follow(empty(), now.seq);
      // Steps that are too large for subscribers are reported as a gap, after which a new snapshot is needed.
      if (!lagged && !now.truncated) expect(comparable(snapshot)).toEqual(comparable(now));
      const next = { ...JSON.parse(lines[0]!), uid: 'Cnew', conn_state: 'SF', proto: 'tcp', service: 'new' };
      const live = follow(now, now.seq + 1);
      await send(service, await tokenFor(service, 'sensor'), JSON.stringify(next));
      const last = await live;
      expect(last.lagged).toBe(false);
      const after = await graph('limit=2000');
      expect(after.seq).toBe(last.snapshot.seq);
      if (!after.truncated) expect(comparable(last.snapshot)).toEqual(comparable(after));
    });

    /** Subscribes after a snapshot, and applies updates until a sequence is reached. */
    async function follow(from: Topology, seq: number): Promise<{ snapshot: Topology; lagged: boolean }> {
      const address = `${service.url.replace('http', 'ws')}/api/v1/topology/stream?since=${from.seq}`;
      const socket = new WebSocket(address, { headers: { authorization: `Bearer ${viewer}` } });
      let snapshot = from;
      let lagged = false;
      let reached = from.seq;
      await new Promise<void>((resolve, reject) => {
        socket.on('error', reject);
        socket.on('close', (code) => reject(new Error(`closed with ${code}`)));
        socket.on('message', (data: Buffer) => {
          const message = JSON.parse(data.toString('utf8'));
          assertServerMessage(message);
          if (message.type === 'lagged') {
            lagged = true;
            reached += message.dropped;
          } else if (message.type === 'event') {
            snapshot = applyTopologyUpdate(snapshot, message.data.attributes as TopologyUpdate);
            reached = snapshot.seq;
          }
          if (reached >= seq) resolve();
        });
      });
      socket.removeAllListeners('close');
      socket.close();
      await once(socket, 'close');
      return { snapshot, lagged };
    }
  });
}

/** Compares nodes and edges with the plain graph, limited to the busiest nodes. */
function agrees({ nodes, edges }: Pick<Topology, 'nodes' | 'edges'>, wanted: PlainGraph, limit: number): void {
  const busiest = [...wanted.nodes.values()].sort((a, b) => b.bytes - a.bytes).slice(0, limit);
  expect(nodes.length).toBe(busiest.length);
  expect(nodes.map(({ bytes }) => bytes)).toEqual(busiest.map(({ bytes }) => bytes));
  for (const { id, kind, degree, bytes } of nodes) expect({ id, kind, degree, bytes }).toEqual(wanted.nodes.get(id));
  const shown = new Set(nodes.map(({ id }) => id));
  const between = [...wanted.edges.values()].filter(({ source, target }) => shown.has(source) && shown.has(target));
  expect(edges.length).toBe(between.length);
  for (const edge of edges) expect(edge).toEqual(wanted.edges.get(`${edge.source} ${edge.target}`));
}

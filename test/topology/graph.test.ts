import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { centrality } from '../../src/topology/model/centrality.ts';
import { communities } from '../../src/topology/model/communities.ts';
import { mostIn } from '../../src/topology/model/describe.ts';
import { EdgeFold } from '../../src/topology/model/edge-fold.ts';
import { buildGraph, type GraphQuery } from '../../src/topology/model/graph.ts';
import { encodeSegments, Segment } from '../../src/topology/model/segment.ts';
import { anyFlow } from './flows.ts';
import { factOf, type PlainFlow, rowsOf } from './rows.ts';

const everything: GraphQuery = { groupBy: 'host', depth: 1, limit: 2000, maxEdges: 20_000 };

function segmentsOf(flows: readonly PlainFlow[]): Segment[] {
  const fold = new EdgeFold(() => Number.POSITIVE_INFINITY, 3);
  for (const flow of flows) fold.flow(factOf(flow));
  return encodeSegments(fold.edges).map((bytes) => new Segment(bytes));
}

const graphOf = (segments: readonly Segment[], query: Partial<GraphQuery> = {}) =>
  buildGraph(
    segments.map((segment) => ({ segment, from: 0, to: segment.rows })),
    { ...everything, ...query },
  );

/** Returns the network of a host; a literal implementation. */
function subnet(id: string): string {
  if (id.includes('/') || id === '255.255.255.255') return id;
  if (!id.includes(':')) return `${id.split('.').slice(0, 3).join('.')}.0/24`;
  return id === '::1' ? '::/64' : `${id.replace(/::.*$/, '')}::/64`;
}

interface PlainGraph {
  readonly nodes: Map<string, { degree: number; bytes: number; connections: number }>;
  readonly edges: Map<string, { connections: number; bytes: number }>;
}

function plainly(segments: readonly Segment[], groupBy: 'host' | 'subnet'): PlainGraph {
  const edges = new Map<string, { connections: number; bytes: number; first: number; last: number }>();
  const nodes: PlainGraph['nodes'] = new Map();
  const rows = rowsOf(segments);
  for (const row of rows) {
    const [source, target] = [row.source, row.target].map((id) => (groupBy === 'host' ? id : subnet(id)));
    const key = `${source} ${target}`;
    const isNew = !edges.has(key);
    const edge = edges.get(key) ?? { connections: 0, bytes: 0, first: row.first, last: row.last };
    edges.set(key, edge);
    edge.connections += row.connections;
    edge.bytes += row.bytes;
    edge.first = Math.min(edge.first, row.first);
    edge.last = Math.max(edge.last, row.last);
    for (const id of new Set([source!, target!])) {
      const node = nodes.get(id) ?? { degree: 0, bytes: 0, connections: 0 };
      nodes.set(id, node);
      node.degree += isNew ? 1 : 0;
      node.bytes += row.bytes;
      node.connections += row.connections;
    }
  }
  const [first, last] = [Math.min(...rows.map((row) => row.first)), Math.max(...rows.map((row) => row.last))];
  for (const node of nodes.values()) node.bytes = Math.min(node.bytes, mostIn(first, last));
  const shown = [...edges].map(([key, { connections, bytes, first, last }]) => {
    return [key, { connections, bytes: Math.min(bytes, mostIn(first, last)) }] as const;
  });
  return { nodes, edges: new Map(shown) };
}

describe('a graph', () => {
  const batches = fc.array(fc.array(anyFlow, { maxLength: 60 }), { minLength: 1, maxLength: 5 });

  it.each(['host', 'subnet'] as const)('grouped by %s equals a plain sum', (groupBy) => {
    fc.assert(
      fc.property(batches, (flows) => {
        const segments = flows.flatMap(segmentsOf);
        const { nodes, edges, truncated } = graphOf(segments, { groupBy });
        const wanted = plainly(segments, groupBy);
        expect(truncated).toBe(false);
        expect(nodes.length).toBe(wanted.nodes.size);
        for (const { id, degree, bytes } of nodes) expect({ degree, bytes }).toMatchObject(pick(wanted, id));
        expect(
          new Map(
            edges.map(({ source, target, connections, bytes }) => [`${source} ${target}`, { connections, bytes }]),
          ),
        ).toEqual(wanted.edges);
        expect(nodes.map(({ bytes }) => bytes)).toEqual(nodes.map(({ bytes }) => bytes).sort((a, b) => b - a));
      }),
    );
  });

  const pick = (graph: PlainGraph, id: string) => {
    const { degree, bytes } = graph.nodes.get(id)!;
    return { degree, bytes };
  };

  it('with a node limit has the busiest nodes, counts their edges to other nodes, and is marked as truncated', () => {
    fc.assert(
      fc.property(batches, fc.integer({ min: 1, max: 8 }), (flows, limit) => {
        const segments = flows.flatMap(segmentsOf);
        const all = graphOf(segments);
        const some = graphOf(segments, { limit });
        const shown = new Set(some.nodes.map(({ id }) => id));
        const numbers = ({ id, degree, bytes }: (typeof all.nodes)[number]) => ({ id, degree, bytes });
        expect(some.nodes.map(numbers)).toEqual(all.nodes.slice(0, limit).map(numbers));
        expect(some.edges).toEqual(all.edges.filter(({ source, target }) => shown.has(source) && shown.has(target)));
        expect(some.truncated).toBe(all.nodes.length > limit);
      }),
    );
  });

  it('around a host has the hosts within the depth, always including the host itself', () => {
    fc.assert(
      fc.property(batches, fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 5 }), (flows, depth, limit) => {
        const segments = flows.flatMap(segmentsOf);
        const all = graphOf(segments);
        let near = new Set(all.nodes.filter(({ id }) => id === '192.168.1.1').map(({ id }) => id));
        for (let step = 0; step < depth; step++)
          near = new Set([
            ...near,
            ...all.edges.flatMap(({ source, target }) =>
              near.has(source) || near.has(target) ? [source, target] : [],
            ),
          ]);
        const focus = ['192.168.1.1', '10.99.99.99'];
        const whole = graphOf(segments, { focus, depth });
        expect(new Set(whole.nodes.map(({ id }) => id))).toEqual(near);
        expect(whole.truncated).toBe(false);
        const few = graphOf(segments, { focus, depth, limit });
        expect(few.nodes.length).toBe(Math.min(limit, near.size));
        if (near.size > 0) expect(few.nodes.map(({ id }) => id)).toContain('192.168.1.1');
        expect(few.truncated).toBe(near.size > limit);
      }),
    );
  });

  it('has a limited number of edges, the busiest edges', () => {
    const flow = {
      srcHome: true,
      dstHome: true,
      answered: true,
      app: undefined,
      connections: 1,
      first: 0,
      last: 0,
    };
    const flows = Array.from({ length: 20 }, (_, i) => ({
      ...flow,
      src: `10.0.0.${i}`,
      dst: '10.0.1.1',
      port: 22,
      bytes: 100 + i,
    }));
    const { edges, truncated } = graphOf(segmentsOf(flows), { maxEdges: 3 });
    expect(edges.map(({ source }) => source)).toEqual(['10.0.0.19', '10.0.0.18', '10.0.0.17']);
    expect(truncated).toBe(true);
  });

  it('distinguishes hosts, home networks and external networks', () => {
    const one = {
      srcHome: true,
      dstHome: false,
      answered: true,
      port: 53,
      app: 'dns',
      connections: 1,
      bytes: 1,
      first: 0,
      last: 0,
    };
    const { nodes } = graphOf(
      segmentsOf([
        { ...one, src: '10.0.0.1', dst: '203.0.113.9' },
        { ...one, src: '10.0.0.1', dst: '10.0.7.7', dstHome: true, answered: false },
        { ...one, src: '10.0.0.1', dst: '224.0.0.251' },
        { ...one, src: '10.0.0.1', dst: '255.255.255.255', dstHome: true },
      ]),
    );
    expect(Object.fromEntries(nodes.map(({ id, kind, ip }) => [id, [kind, ip]]))).toEqual({
      '10.0.0.1': ['asset', '10.0.0.1'],
      '203.0.113.0/24': ['external', undefined],
      '10.0.7.0/24': ['subnet', undefined],
      '224.0.0.0/4': ['subnet', undefined],
      '255.255.255.255': ['subnet', '255.255.255.255'],
    });
  });
});

describe('groups and hubs', () => {
  const clique = (from: number, size: number) =>
    Array.from({ length: size }, (_, i) => i).flatMap((a) =>
      Array.from({ length: a }, (_, b) => ({ source: from + a, target: from + b, weight: 1 })),
    );

  it('two cliques joined by one link are two groups', () => {
    const groups = communities(12, [...clique(0, 5), ...clique(5, 7), { source: 0, target: 5, weight: 1 }]);
    expect(groups).toEqual([1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0]);
  });

  it('are computed for a graph without nodes, for isolated nodes, and for a node linked to itself', () => {
    expect(communities(0, [])).toEqual([]);
    expect(communities(2, [])).toEqual([0, 1]);
    expect(communities(1, [{ source: 0, target: 0, weight: 3 }])).toEqual([0]);
    expect(centrality(0, [])).toEqual([]);
    expect(centrality(2, [])).toEqual([1, 1]);
  });

  it('the centre of a star is the most central', () => {
    const ranks = centrality(
      9,
      Array.from({ length: 8 }, (_, i) => ({ source: i + 1, target: 0, weight: 1 })),
    );
    expect(ranks[0]).toBe(1);
    expect(Math.max(...ranks.slice(1))).toBeLessThan(0.2);
  });

  it('do not depend on the direction of links; centralities are between 0 and 1', () => {
    const link = fc.record({
      source: fc.nat(14),
      target: fc.nat(14),
      weight: fc.integer({ min: 1, max: 9 }),
    });
    fc.assert(
      fc.property(fc.array(link, { maxLength: 60 }), (links) => {
        const turned = links.map(({ source, target, weight }) => ({
          source: target,
          target: source,
          weight,
        }));
        expect(communities(15, links)).toEqual(communities(15, turned));
        expect(centrality(15, links)).toEqual(centrality(15, turned));
        for (const rank of centrality(15, links)) expect(rank >= 0 && rank <= 1).toBe(true);
      }),
    );
  });
});

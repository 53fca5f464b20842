import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyTopologyUpdate } from '../../src/client/topology.ts';
import type { Topology } from '../../src/contract/resources/topology.ts';
import { EdgeFold } from '../../src/topology/model/edge-fold.ts';
import { limitEdges } from '../../src/topology/model/edge-limit.ts';
import { buildGraph } from '../../src/topology/model/graph.ts';
import { type Fresh, KnownGraph } from '../../src/topology/model/known-graph.ts';
import { encodeSegments, Segment } from '../../src/topology/model/segment.ts';
import { type NodeName, named, rangesOf, type Step, updateOf } from '../../src/topology/model/update.ts';
import { anyFlow } from './flows.ts';
import { factOf, type PlainFlow, rowsOf } from './rows.ts';

const nothing: Fresh = { rows: new Uint8Array(), nodes: new Uint8Array() };
const someName: fc.Arbitrary<NodeName> = fc.record({
  asset_id: fc.constantFrom('0199b1c2-0000-7000-8000-000000000001', '0199b1c2-0000-7000-8000-000000000002'),
  label: fc.constantFrom('mail', 'printer', 'db'),
  risk_level: fc.constantFrom('low', 'critical'),
});
/**
 * Flows whose bytes are within the capacity of links. Snapshots limit an edge's bytes to the capacity during all of the
 * edge's time, but updates know only the time of a step.
 */
const plausible = anyFlow.map((flow) => ({ ...flow, bytes: Math.min(flow.bytes, 1e9) }));
const change = fc.record({
  flows: fc.array(plausible, { maxLength: 20 }),
  names: fc.dictionary(fc.constantFrom('192.168.1.1', '192.168.1.2', '10.0.0.1', 'fd00::1'), someName),
  unnamed: fc.option(fc.constantFrom('192.168.1.1', '10.0.0.1')),
});

/** A graph in memory, like the graph of the store. */
class Kept {
  readonly segments: Segment[] = [];
  readonly names: Record<string, NodeName> = {};
  readonly steps: Step[] = [];
  readonly #known = new KnownGraph(11);

  add({
    flows,
    names,
    unnamed,
  }: {
    flows: readonly PlainFlow[];
    names: Record<string, NodeName>;
    unnamed: string | null;
  }): void {
    const fold = new EdgeFold(() => Number.POSITIVE_INFINITY, 5);
    for (const flow of flows) fold.flow(factOf(flow));
    const [bytes] = encodeSegments(fold.edges);
    const segment = bytes && new Segment(bytes);
    const fresh = segment === undefined ? nothing : this.#known.add(segment);
    if (segment !== undefined) this.segments.push(segment);
    Object.assign(this.names, names);
    if (unnamed !== null) delete this.names[unnamed];
    const renamed = [...Object.keys(names), ...(unnamed === null ? [] : [unnamed])];
    const seq = this.steps.length + 1;
    const isThere = new Set(this.snapshot('host').nodes.map(({ id }) => id));
    this.steps.push({
      seq,
      segment,
      fresh,
      names: { ...this.names },
      renamed: renamed.filter((ip) => isThere.has(ip)),
    });
  }

  snapshot(groupBy: 'host' | 'subnet', limit = 2000): Topology {
    const parts = this.segments.map((segment) => ({ segment, from: 0, to: segment.rows }));
    const { nodes, edges, truncated } = buildGraph(parts, { groupBy, depth: 1, limit, maxEdges: 20_000 });
    return {
      seq: this.steps.length,
      nodes: nodes.map((node) => named(node, this.names)),
      edges: [...edges],
      truncated,
      generated_at: '2026-01-01T00:00:00.000Z',
    };
  }
}

/** Returns the parts that must agree: all except order, groups and centrality. */
function comparable({ nodes, edges, seq }: Topology) {
  const byText = (items: readonly object[]) => items.map((item) => JSON.stringify(Object.entries(item).sort())).sort();
  return {
    seq,
    nodes: byText(nodes.map(({ community, centrality, ...node }) => node)),
    edges: byText(edges),
  };
}

describe('updates of a snapshot', () => {
  it.each(['host', 'subnet'] as const)('by %s, in order, lead to the final snapshot', (groupBy) => {
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 8 }), fc.nat(8), (changes, when) => {
        const kept = new Kept();
        let snapshot = kept.snapshot(groupBy);
        for (const [i, one] of changes.entries()) {
          if (i === when) snapshot = kept.snapshot(groupBy);
          kept.add(one);
        }
        const before = structuredClone(snapshot);
        let now = snapshot;
        for (const step of kept.steps) {
          const update = updateOf(step, { groupBy, ends: [] });
          if (update !== undefined) now = applyTopologyUpdate(now, update);
        }
        expect(snapshot).toEqual(before);
        expect({ ...comparable(now), seq: 0 }).toEqual({ ...comparable(kept.snapshot(groupBy)), seq: 0 });
      }),
    );
  });

  it('that is limited to the busiest nodes keep the shown nodes correct', () => {
    fc.assert(
      fc.property(
        fc.array(change, { minLength: 2, maxLength: 6 }),
        fc.integer({ min: 1, max: 6 }),
        (changes, limit) => {
          const kept = new Kept();
          kept.add(changes[0]!);
          let now = kept.snapshot('host', limit);
          const shown = new Set(now.nodes.map(({ id }) => id));
          for (const one of changes.slice(1)) kept.add(one);
          for (const step of kept.steps) {
            const update = updateOf(step, { groupBy: 'host', ends: [] });
            if (update !== undefined) now = applyTopologyUpdate(now, update);
          }
          const all = comparable(kept.snapshot('host'));
          const { nodes, edges } = comparable(now);
          expect(nodes.filter((node) => !all.nodes.includes(node))).toEqual([]);
          expect(edges.filter((edge) => !all.edges.includes(edge))).toEqual([]);
          expect([...shown].filter((id) => !now.nodes.some((node) => node.id === id))).toEqual([]);
        },
      ),
    );
  });

  it('with a filter have exactly the edges with a matching source or destination', () => {
    fc.assert(
      fc.property(fc.array(anyFlow, { minLength: 1, maxLength: 40 }), (flows) => {
        const kept = new Kept();
        kept.add({ flows, names: {}, unnamed: null });
        const ends = [rangesOf(['192.168.1.0/24'])];
        const update = updateOf(kept.steps[0]!, { groupBy: 'host', ends });
        const isMeant = (id: string) => id.startsWith('192.168.1.');
        const all = kept.snapshot('host').edges;
        const wanted = all.filter(({ source, target }) => isMeant(source) || isMeant(target));
        expect((update?.edges ?? []).length).toBe(wanted.length);
        const there = new Set(update?.nodes.map(({ id }) => id));
        for (const { source, target } of update?.edges ?? []) expect(there.has(source) && there.has(target)).toBe(true);
      }),
    );
  });

  it('have no effect when repeated', () => {
    const kept = new Kept();
    const flow = {
      src: '10.0.0.1',
      dst: '10.0.0.2',
      srcHome: true,
      dstHome: true,
      answered: true,
      port: 22,
      app: 'ssh',
      connections: 1,
      bytes: 7,
      first: 5,
      last: 9,
    };
    kept.add({ flows: [flow], names: {}, unnamed: null });
    const update = updateOf(kept.steps[0]!, { groupBy: 'host', ends: [] })!;
    const snapshot = kept.snapshot('host');
    expect(applyTopologyUpdate(snapshot, update)).toBe(snapshot);
  });
});

describe('the edge limit', () => {
  it('collapses further edges without loss of traffic', () => {
    fc.assert(
      fc.property(fc.array(fc.array(anyFlow, { maxLength: 40 }), { maxLength: 5 }), fc.nat(20), (batches, max) => {
        const known = new KnownGraph(1);
        const total = { connections: 0, bytes: 0 };
        let any = false;
        for (const flows of batches) {
          const fold = new EdgeFold(() => Number.POSITIVE_INFINITY, 5);
          for (const flow of flows) fold.flow(factOf(flow));
          const { edges, collapsed } = limitEdges(fold.edges, known, max, 5);
          any ||= collapsed;
          const segments = encodeSegments(edges).map((bytes) => new Segment(bytes));
          for (const segment of segments) known.add(segment);
          total.connections += rowsOf(segments).reduce((sum, { connections }) => sum + connections, 0);
        }
        expect(total.connections).toBe(batches.flat().reduce((sum, { connections }) => sum + connections, 0));
        if (!any) expect(known.edges).toBeLessThanOrEqual(max);
      }),
    );
  });

  it('bounds the edges of any number of forged sources', () => {
    const known = new KnownGraph(1);
    const flow = {
      dst: '203.0.113.1',
      srcHome: true,
      dstHome: false,
      answered: false,
      port: 1,
      app: undefined,
      connections: 1,
      bytes: 1,
      first: 0,
      last: 0,
    };
    for (let batch = 0; batch < 40; batch++) {
      const fold = new EdgeFold(() => Number.POSITIVE_INFINITY, 5);
      for (let i = 0; i < 2000; i++)
        fold.flow(factOf({ ...flow, src: `fd00:${batch.toString(16)}:${i.toString(16)}::1` }));
      for (const bytes of encodeSegments(limitEdges(fold.edges, known, 1000, 5).edges)) known.add(new Segment(bytes));
    }
    expect(known.edges).toBeLessThanOrEqual(1000 + 65_536 + 16);
    expect(known.edges).toBeGreaterThan(1000);
  });
});

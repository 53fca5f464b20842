import type { Topology } from '../../contract/resources/topology.ts';
import type { AssetLookup } from '../../events/asset-lookup.ts';
import { noAsset } from '../../events/no-asset.ts';
import { getAsset, mergedInto } from '../../inventory/store/asset-reads.ts';
import type { InventoryTables } from '../../inventory/store/tables.ts';
import { limits } from '../../limits.ts';
import type { TopologyQuery, TopologyStep } from '../../store/store.ts';
import { hourMs } from '../model/edge-fold.ts';
import { noHour } from '../model/edges.ts';
import { buildGraph, type GraphPart } from '../model/graph.ts';
import { bucketsOf, type Part, type RangeBuckets } from '../model/range-buckets.ts';
import { type NodeName, named } from '../model/update.ts';
import type { GraphState } from './graph-tables.ts';
import { currentName, nameOfAsset } from './names.ts';
import { graphState, lastStep, readSegment, segmentsAfter, stepSegments } from './segments.ts';
import type { TopologyTables } from './tables.ts';

/**
 * Returns the graph of one snapshot. Throws NOT_FOUND if the focus is not an asset, with `merged_into` if the
 * asset was merged.
 */
export function readTopology(
  tables: TopologyTables & InventoryTables,
  lookup: AssetLookup,
  query: TopologyQuery,
  nowMs: number,
): Topology {
  const state = graphState(tables);
  const range = bucketsOf(query.from, query.to, state.floors);
  const focus = query.focus === undefined ? undefined : addressesOf(tables, lookup, query.focus, range.to);
  const graph = buildGraph(partsOf(tables, state, range), {
    groupBy: query.group_by,
    ...(focus === undefined ? {} : { focus }),
    depth: query.depth,
    limit: query.limit,
    maxEdges: limits.maxTopologyShownEdges,
  });
  const names: Record<string, NodeName> = {};
  for (const { kind, ip } of graph.nodes) {
    if (kind !== 'asset' || ip === undefined) continue;
    const name = nameAt(tables, lookup, ip, range.to);
    if (name !== undefined) names[ip] = name;
  }
  return {
    seq: lastStep(tables),
    ...(range.from === undefined ? {} : { from: isoTime(range.from) }),
    ...(range.to === undefined ? {} : { to: isoTime(range.to) }),
    nodes: graph.nodes.map((node) => named(node, names)),
    edges: [...graph.edges],
    truncated: graph.truncated || state.collapsed,
    generated_at: isoTime(nowMs),
  };
}

/**
 * Returns the changes of the graph after `since`, oldest first, at most `limit` steps; `undefined` for a step
 * that is too large for subscribers. If steps are no longer stored, the `seq` of the first step is later than
 * `since` + 1.
 */
export function readSteps(tables: TopologyTables, since: number, limit: number): TopologyStep[] {
  return Array.from(tables.topologySteps.getRange({ start: since + 1, limit }), ({ key: seq, value }) => {
    const { told, freshRows, freshNodes, names = {}, renamed = [] } = value;
    if (!told) return { seq, step: undefined };
    const fresh = { rows: owned(freshRows), nodes: owned(freshNodes) };
    return { seq, step: { seq, segment: stepSegments(tables, seq)[0], fresh, names, renamed } };
  });
}

function owned(bytes: Uint8Array | undefined): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes ?? []);
}

/**
 * Yields the segments with rows in the range, and the range of these rows. A segment is valid until the next
 * segment is read.
 */
const partsOf = (tables: TopologyTables, state: GraphState, range: RangeBuckets): Iterable<GraphPart> => ({
  [Symbol.iterator]: () => readParts(tables, state, range),
});

function* readParts(
  tables: TopologyTables,
  { runs, taken }: GraphState,
  { parts }: RangeBuckets,
): Generator<GraphPart> {
  for (const { level, from, to } of parts)
    for (const { id, min, max } of runs[level].flat()) {
      if (max < from || min >= to) continue;
      const segment = readSegment(tables, id);
      const [first, end] = segment?.range(from, to) ?? [0, 0];
      if (segment !== undefined && first < end) yield { segment, from: first, to: end };
    }
  for (const segment of segmentsAfter(tables, taken))
    for (const part of parts) {
      const [first, end] = segment.range(...hoursOf(part));
      if (first < end) yield { segment, from: first, to: end };
    }
}

/** Returns the hours that a part of a level covers. */
function hoursOf({ level, from, to }: Part): readonly [number, number] {
  if (level === 'ever') return [0, Number.POSITIVE_INFINITY];
  return level === 'hour' ? [from, to] : [from * 24, Math.min(to * 24, noHour)];
}

/** Returns the asset's addresses at the end of the range; the current addresses if the range has no end. */
function addressesOf(
  tables: InventoryTables,
  lookup: AssetLookup,
  assetId: string,
  to: number = Number.POSITIVE_INFINITY,
): string[] {
  if (getAsset(tables, assetId) === undefined) throw noAsset(assetId, mergedInto(tables, assetId));
  const spans = lookup.ranges(assetId).filter((span) => span.from < to && span.to >= to);
  return spans.map(({ ip }) => ip);
}

/**
 * Returns the name of the address's owner at the end of the range; the name of the current owner if the range has no
 * end. Returns undefined without an owner.
 */
function nameAt(
  tables: InventoryTables,
  lookup: AssetLookup,
  ip: string,
  to: number | undefined,
): NodeName | undefined {
  if (to === undefined) return currentName(tables, ip);
  const assetId = lookup.at(ip, to - 1);
  return assetId === undefined ? undefined : nameOfAsset(tables, assetId);
}

/** Returns a time in ISO 8601, limited to years of four digits. */
const isoTime = (ms: number): string => new Date(Math.max(0, Math.min(ms, maxHour * hourMs))).toISOString();
const maxHour = 70_389_527;

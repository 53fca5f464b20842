import type { ParsedFilter } from '../../contract/query.ts';
import type { TopologyUpdate } from '../../contract/resources/topology.ts';
import type { AssetLookup } from '../../events/asset-lookup.ts';
import { type AddressRange, addressRanges, compareAddress, ipv4Of } from '../../net/ip.ts';
import { subnetOf } from './blocks.ts';
import { type DescribedNode, describeEdge, describeNode } from './describe.ts';
import { Edges } from './edges.ts';
import { type Fresh, freshEdge, freshNode } from './known-graph.ts';
import { type Blocks, isIpv4 } from './nodes.ts';
import type { Segment } from './segment.ts';

/** The asset of an address, and the asset's name. */
export interface NodeName {
  readonly asset_id: string;
  readonly label: string;
  readonly risk_level: NonNullable<TopologyUpdate['nodes'][number]['risk_level']>;
}

/** The additions of one step to the graph, and the changed names. */
export interface Step {
  readonly seq: number;
  /** Edges by hour. */
  readonly segment: Segment | undefined;
  readonly fresh: Fresh;
  /** Names of the step's hosts; hosts without a name are absent. */
  readonly names: Readonly<Record<string, NodeName>>;
  /** Hosts in the graph whose name, asset or risk changed. */
  readonly renamed: readonly string[];
}

interface UpdateView {
  readonly groupBy: 'host' | 'subnet';
  /**
   * Only edges whose source or target is in at least one range of each list are included. Without lists, all edges are
   * included.
   */
  readonly ends: readonly (readonly AddressRange[])[];
}

/** Returns addresses or CIDR blocks as ranges. */
export const rangesOf = (texts: readonly string[]): AddressRange[] =>
  texts.flatMap((text) => addressRanges(text) ?? []);

/**
 * Returns the step's additions and renamed hosts in the view; undefined if the view has no additions and no renamed
 * hosts.
 */
export function updateOf(step: Step, view: UpdateView): TopologyUpdate | undefined {
  const { segment, fresh, names, renamed, seq } = step;
  const edges = new Edges();
  const isNewEdge: boolean[] = [];
  const nodes = new Map<string, TopologyUpdate['nodes'][number]>();
  const bySubnet = view.groupBy === 'subnet';
  if (segment !== undefined) {
    const { nodeCount } = segment;
    const texts = segment.textsIn(edges);
    const wanted = view.ends.map((ranges) =>
      Uint8Array.from({ length: nodeCount }, (_, node) => lies(segment, node, ranges)),
    );
    const shown = new Uint8Array(nodeCount);
    const isEnd = new Uint8Array(nodeCount);
    const bit = bySubnet ? freshEdge.subnet : freshEdge.host;
    const placeOf = Uint32Array.from({ length: nodeCount }, (_, node) =>
      bySubnet ? subnetOf(edges.nodes, segment, node) : edges.nodes.copy(segment, node),
    );
    for (let row = 0; row < segment.rows; row++) {
      const source = segment.source[row]!;
      const target = segment.target[row]!;
      if (!wanted.every((ends) => ends[source] === 1 || ends[target] === 1)) continue;
      shown[source] = 1;
      shown[target] = 1;
      const to = edges.row(0, placeOf[source]!, placeOf[target]!);
      segment.addTo(edges, to, row, texts);
      if ((fresh.rows[row]! & bit) === 0) continue;
      isNewEdge[to] = true;
      // Both nodes of an edge are included, because subscribers of a filtered view may not have received these
      // nodes before.
      if (view.ends.length > 0) isEnd[source] = isEnd[target] = 1;
    }
    const [isNew, isNewHome, isHome] = bySubnet
      ? [freshNode.subnet, freshNode.subnetHome, freshNode.subnetIsHome]
      : [freshNode.host, freshNode.hostHome, freshNode.isHome];
    for (let node = 0; node < nodeCount; node++) {
      const bits = fresh.nodes[node]!;
      if (shown[node] === 0 || ((bits & (isNew | isNewHome)) === 0 && isEnd[node] === 0)) continue;
      const described = describeNode(edges.nodes, placeOf[node]!, (bits & isHome) !== 0);
      const before = nodes.get(described.id);
      nodes.set(described.id, {
        ...named(described, names),
        new: (bits & isNew) !== 0 || isEnd[node] === 1 || before?.new === true,
      });
    }
  }
  if (!bySubnet)
    for (const ip of renamed) {
      const isWanted = view.ends.every((ranges) => ranges.some((range) => includes(range, ip)));
      if (nodes.has(ip) || !isWanted) continue;
      nodes.set(ip, { ...named({ id: ip, kind: 'asset', ip }, names), new: false });
    }
  if (edges.count === 0 && nodes.size === 0) return undefined;
  return {
    seq,
    nodes: [...nodes.values()],
    edges: Array.from({ length: edges.count }, (_, row) => ({
      ...describeEdge(edges, row),
      new: isNewEdge[row] === true,
    })),
  };
}

/** Returns the node with the name of its asset, or with its id as the label if it has no asset. */
export function named<N extends DescribedNode>(node: N, names: Readonly<Record<string, NodeName>>) {
  const name = node.kind === 'asset' && node.ip !== undefined ? names[node.ip] : undefined;
  return { ...node, ...(name ?? { label: node.id }) };
}

const includes = (range: AddressRange, ip: string): boolean =>
  (addressRanges(ip) ?? []).some(
    ({ first, last }) => compareAddress(first, 0, range.last, 0) <= 0 && compareAddress(range.first, 0, last, 0) <= 0,
  );

/** Returns 1 if the block and one of the ranges have an address in common, otherwise 0. */
function lies(blocks: Blocks, node: number, ranges: readonly AddressRange[]): number {
  const first = new Uint8Array(16);
  const words = new DataView(first.buffer);
  for (const [i, word] of [blocks.w0, blocks.w1, blocks.w2, blocks.w3].entries()) words.setUint32(4 * i, word[node]!);
  const last = first.slice();
  for (let bit = blocks.prefix[node]!; bit < 128; bit++) last[bit >> 3]! |= 0x80 >> (bit & 7);
  const meets = (range: AddressRange) =>
    // `::/0` does not include IPv4.
    isIpv4(blocks, node) === ipv4Of(range.first) >= 0 &&
    compareAddress(first, 0, range.last, 0) <= 0 &&
    compareAddress(range.first, 0, last, 0) <= 0;
  return ranges.some(meets) ? 1 : 0;
}

/**
 * Returns the part of the graph that a subscription to the channel sees. An asset in the filter means its
 * current addresses.
 */
export function viewOf({ terms }: ParsedFilter, assets: AssetLookup): UpdateView {
  const valuesOf = (field: string) => terms.find((term) => term.field === field)?.values.map(String);
  const networks = valuesOf('ip');
  const addresses = valuesOf('asset_id')?.flatMap((assetId) =>
    assets
      .ranges(assetId)
      .filter(({ to }) => to === Number.POSITIVE_INFINITY)
      .map(({ ip }) => ip),
  );
  const ends = [networks, addresses].filter((texts) => texts !== undefined);
  return {
    groupBy: valuesOf('group_by')?.[0] === 'subnet' ? 'subnet' : 'host',
    ends: ends.map(rangesOf),
  };
}

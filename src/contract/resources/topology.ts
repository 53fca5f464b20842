import { maxPorts, maxProtocols } from '../vocabulary.ts';
import { riskLevel } from './asset.ts';
import { oneOf, type Static } from './common.ts';
import { address, between, count, flag, list, optional, part, real, shape, text, timestamp, uuid } from './fields.ts';

const names = {
  id: text('Identifier of the node: an address, or a network as a CIDR block.'),
  kind: oneOf(
    ['asset', 'subnet', 'external'],
    'Kind of node: a host in the home networks, a subnet of them, or an external network.',
  ),
  label: text('Label to display.'),
  ip: optional(address('Address of the node, if it is a single host.')),
  asset_id: optional(uuid('Identifier of the asset of the node, if known.')),
  risk_level: optional(riskLevel),
};

const node = part('A host, a subnet or an external network.', {
  ...names,
  degree: count('Number of edges of the node, including edges to nodes that are left out.'),
  bytes: count('IP bytes to and from the node, including edges that are left out.'),
  community: optional(count('Index of the community of the node; the largest community is 0. Not in updates.')),
  centrality: optional(
    real('Centrality among the returned nodes; the most central node has 1. Not in updates.', {
      minimum: 0,
      maximum: 1,
    }),
  ),
});

const traffic = {
  source: text('Identifier of the node that opened the connections.'),
  target: text('Identifier of the node that answered.'),
  ports: list(between(0, 65535, 'A port.'), 'Lowest ports of the target, ascending.', {
    maxItems: maxPorts,
  }),
  protocols: list(text('A protocol.'), 'Application protocols, the first ones in alphabetical order.', {
    maxItems: maxProtocols,
  }),
  connections: count('Number of connections.'),
  bytes: count('IP bytes in both directions.'),
  first_seen: timestamp('Start of the first connection.'),
  last_seen: timestamp('End of the last connection.'),
};

export const Topology = shape('Topology', {
  seq: count(
    'Sequence of the last update in the channel that the graph includes; use it as `since` to receive the updates that follow.',
  ),
  from: optional(timestamp('Start of the time range, which may be earlier than requested.')),
  to: optional(timestamp('End of the time range, which may be later than requested.')),
  nodes: list(node, 'The busiest nodes.'),
  edges: list(part('Traffic between two nodes.', traffic), 'Edges between the returned nodes.'),
  truncated: flag('Whether a limit left out or merged some nodes or edges.'),
  generated_at: timestamp('Time at which the graph was computed.'),
});
export type Topology = Static<typeof Topology>;

/** Changes to a graph with the same kind of nodes that was requested without a time range. */
export const TopologyUpdate = shape('TopologyUpdate', {
  seq: count('Sequence of this update in the channel.'),
  nodes: list(
    part('A new or changed node.', { ...names, new: flag('Whether the node is new in the graph.') }),
    'Nodes that are new, or whose label, asset or risk level changed.',
  ),
  edges: list(
    part('Traffic since the previous update, to be added to the edge.', {
      ...traffic,
      new: flag('Whether the edge is new in the graph; then add 1 to the degree of both nodes.'),
    }),
    'Edges with new traffic.',
  ),
});
export type TopologyUpdate = Static<typeof TopologyUpdate>;

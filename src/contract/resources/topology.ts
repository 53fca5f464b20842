import { maxPorts, maxProtocols } from '../vocabulary.ts';
import { riskLevel } from './asset.ts';
import { oneOf, type Static } from './common.ts';
import {
  address,
  between,
  count,
  flag,
  list,
  optional,
  part,
  real,
  shape,
  text,
  timestamp,
  uuid,
} from './fields.ts';

const names = {
  id: text('Names the node: an address, or a network as a CIDR block.'),
  kind: oneOf(['asset', 'subnet', 'external'], {
    description: 'A host or a network at home, or a network outside.',
  }),
  label: text('What to write beside it.'),
  ip: optional(address('Its address, where it is one host.')),
  asset_id: optional(uuid('Its asset, where it is known.')),
  risk_level: optional(riskLevel),
};

const node = part(
  {
    ...names,
    degree: count('Edges that it has, also to nodes left out.'),
    bytes: count('IP bytes to and from it, also on edges left out.'),
    community: optional(count('Number of the group of nodes it belongs to, the largest 0; not in updates.')),
    centrality: optional(
      real('How central it is among those shown, the most central 1; not in updates.', {
        minimum: 0,
        maximum: 1,
      }),
    ),
  },
  'A host, a subnet, or the outside.',
);

const traffic = {
  source: text('Node that opened the connections.'),
  target: text('Node that answered.'),
  ports: list(between(0, 65535, 'A port.'), 'Lowest ports of the target, ascending.', {
    maxItems: maxPorts,
  }),
  protocols: list(text('A protocol.'), 'Application protocols, the first in order.', {
    maxItems: maxProtocols,
  }),
  connections: count('Connections.'),
  bytes: count('IP bytes, both ways.'),
  first_seen: timestamp('Start of the first connection.'),
  last_seen: timestamp('End of the last connection.'),
};

export const Topology = shape('Topology', {
  seq: count("The channel's sequence up to which it was taken: `since` for the updates that follow."),
  from: optional(timestamp('Start of the time looked at, which may be earlier than was asked for.')),
  to: optional(timestamp('End of the time looked at, which may be later than was asked for.')),
  nodes: list(node, 'The busiest nodes.'),
  edges: list(part(traffic, 'What passed between two nodes.'), 'Edges between these nodes.'),
  truncated: flag('True where a limit left nodes or edges out, or put some together.'),
  generated_at: timestamp('When it was computed.'),
});
export type Topology = Static<typeof Topology>;

/** What is to be added to a graph of the same grouping and of all time. */
export const TopologyUpdate = shape('TopologyUpdate', {
  seq: count("The channel's sequence at which the graph is so."),
  nodes: list(
    part(
      { ...names, new: flag('The graph did not have it before.') },
      'A node that is new or called otherwise now.',
    ),
    'Nodes that are new, or whose names, assets or risk changed.',
  ),
  edges: list(
    part(
      { ...traffic, new: flag('The graph did not have it before: its ends have one edge more.') },
      'What passed since the update before, to be added.',
    ),
    'Edges on which something passed.',
  ),
});
export type TopologyUpdate = Static<typeof TopologyUpdate>;

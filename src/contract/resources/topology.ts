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
  shape,
  text,
  timestamp,
  uuid,
} from './fields.ts';

const node = part(
  {
    id: text('Names the node within this graph.'),
    kind: oneOf(['asset', 'subnet', 'external'], { description: 'What it stands for.' }),
    label: text('What to write beside it.'),
    ip: optional(address('Its address, where it is one host.')),
    asset_id: optional(uuid('Its asset, where it is known.')),
    risk_level: optional(riskLevel),
    degree: count('Edges that it has, also to nodes left out.'),
    bytes: count('IP bytes to and from it.'),
  },
  'A host, a subnet, or the outside.',
);

const edge = part(
  {
    source: text('Node that opened the connections.'),
    target: text('Node that answered.'),
    ports: list(between(0, 65535, 'A port.'), 'Busiest ports of the target.'),
    protocols: list(text('A protocol.'), 'Application protocols.'),
    connections: count('Connections.'),
    bytes: count('IP bytes, both ways.'),
    first_seen: timestamp('First connection.'),
    last_seen: timestamp('Last connection.'),
  },
  'What passed between two nodes.',
);

export const Topology = shape('Topology', {
  nodes: list(node, 'The busiest nodes.'),
  edges: list(edge, 'Edges between these nodes.'),
  truncated: flag('True where the limit left nodes out.'),
  generated_at: timestamp('When it was computed.'),
});
export type Topology = Static<typeof Topology>;

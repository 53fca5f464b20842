import type { Topology } from '../../../contract/resources/topology.ts';
import { href, setParams } from '../../state/address.ts';
import { Button } from '../../ui/button.tsx';
import { Detail, Facts, Section } from '../../ui/detail.tsx';
import { bytes, counted, number, title } from '../../ui/format.ts';
import { Address, Risk, shownTime, Time } from '../../ui/values.tsx';
import { type Alerted, type AlertedEdges, alertRank } from './alerted.ts';
import { AlertedMark } from './alerted-mark.tsx';
import { type Box, type Edge, edgeId, elsewhere, type Node } from './arrange.ts';

const maxPeers = 50;
const maxHosts = 100;

/** Details of a host or network, with its peers: peers with alerts first, then by bytes. */
export function NodeDetail({
  graph,
  alerted,
  node,
  box,
  onToggle,
  onClose,
}: {
  graph: Topology;
  alerted: AlertedEdges;
  node: Node | undefined;
  box: Box | undefined;
  onToggle: (network: string) => void;
  onClose: () => void;
}) {
  if (node === undefined && box !== undefined)
    return (
      <Detail
        title={box.id === elsewhere ? 'Other external addresses' : box.id}
        onClose={onClose}
        actions={
          !box.isHome && (
            <Button onClick={() => onToggle(box.id)}>{box.isOpen ? 'Collapse network' : 'Expand network'}</Button>
          )
        }
      >
        <Facts
          facts={[
            ['Location', box.isHome ? 'Home network' : 'External'],
            ['Hosts shown', number(box.nodes.length)],
            ['Bytes', bytes(box.nodes.reduce((sum, one) => sum + one.bytes, 0))],
          ]}
        />
        <Section title="Hosts by number of edges">
          <ul>
            {box.nodes.slice(0, maxHosts).map((one) => (
              <li key={one.id} class="topology-peer">
                <NodeButton id={one.id} label={one.label} />
                <span class="quiet number">{counted(one.degree, 'edge')}</span>
                <span class="number">{bytes(one.bytes)}</span>
              </li>
            ))}
          </ul>
        </Section>
      </Detail>
    );
  if (node === undefined) return null;
  const edges = graph.edges
    .filter(({ source, target }) => source === node.id || target === node.id)
    .toSorted((a, b) => alertRank(alerted.get(edgeId(b))) - alertRank(alerted.get(edgeId(a))) || b.bytes - a.bytes);
  const filter = node.ip ?? node.id;
  return (
    <Detail
      title={<bdi>{node.label}</bdi>}
      onClose={onClose}
      actions={
        <>
          {node.asset_id !== undefined && (
            <Button onClick={() => setParams({ focus: node.asset_id, id: node.id })}>Focus</Button>
          )}
          {node.asset_id !== undefined && <a href={href('assets', { id: node.asset_id })}>Asset</a>}
          <a href={href('events', { ...shownTime(), ip: filter })}>Events</a>
          <a href={href('alerts', { ...shownTime(), ip: filter })}>Alerts</a>
        </>
      }
    >
      <Facts
        facts={[
          ['Kind', title(node.kind)],
          ['Address', node.ip && <Address ip={node.ip} />],
          ['Risk', node.risk_level && <Risk level={node.risk_level} />],
          ['Edges', number(node.degree)],
          ['Bytes', bytes(node.bytes)],
          ['Group', node.community === undefined ? undefined : number(node.community)],
          ['Centrality', node.centrality === undefined ? undefined : node.centrality.toFixed(3)],
        ]}
      />
      <Section title={`Peers shown · ${number(edges.length)}`}>
        <ul>
          {edges.slice(0, maxPeers).map((edge) => (
            <Peer key={edgeId(edge)} edge={edge} of={node.id} alerted={alerted.get(edgeId(edge))} />
          ))}
        </ul>
        {edges.length > maxPeers && <p class="quiet">and {number(edges.length - maxPeers)} more, see the table</p>}
      </Section>
    </Detail>
  );
}

function Peer({ edge, of, alerted }: { edge: Edge; of: string; alerted: Alerted | undefined }) {
  const opens = edge.source === of;
  const other = opens ? edge.target : edge.source;
  return (
    <li class="topology-peer">
      <span class="clip">
        <span class="quiet" title={opens ? 'Outbound' : 'Inbound'}>
          {opens ? '→ ' : '← '}
        </span>
        <NodeButton id={other} label={other} />
      </span>
      <span class="quiet clip mono">{[...edge.ports, ...edge.protocols].join(' ')}</span>
      <span>
        <AlertedMark edge={edge} alerted={alerted} />
      </span>
      <span class="number" title={counted(edge.connections, 'connection')}>
        {bytes(edge.bytes)} · <Time at={edge.last_seen} />
      </span>
    </li>
  );
}

function NodeButton({ id, label }: { id: string; label: string }) {
  return (
    <Button kind="plain" onClick={() => setParams({ id }, { replace: true })}>
      <bdi class="clip mono">{label}</bdi>
    </Button>
  );
}

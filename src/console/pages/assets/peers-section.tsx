import { useState } from 'preact/hooks';
import { href } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { Button } from '../../ui/button.tsx';
import { Section, SmallTable } from '../../ui/detail.tsx';
import { bytes, number } from '../../ui/format.ts';
import { Answered } from '../../ui/states.tsx';
import { Address, Risk, Time } from '../../ui/values.tsx';
import { type Peer, peersOf } from './peers.ts';
import type { AssetRow } from './question.ts';
import { shownWindow, windowStart } from './window.tsx';
import './peers-section.css';

const maxNodes = 500;
const shownFirst = 10;

/** The peers of the asset, most bytes first. */
export function Peers({ asset: { id, attributes } }: { asset: AssetRow }) {
  const [every, setEvery] = useState(false);
  const answer = useAnswer('getTopology', {
    query: { focus: id, depth: 1, limit: maxNodes, from: windowStart(shownWindow()) } as never,
  });
  return (
    <Section title="Peers">
      <Answered of={answer} rows={4}>
        {({ data: { attributes: topology } }) => {
          const peers = peersOf(topology, id, attributes.ip_addresses);
          if (peers.length === 0) return <p class="quiet">No connections in this range.</p>;
          const shown = every ? peers : peers.slice(0, shownFirst);
          const most = peers[0]?.bytes ?? 0;
          return (
            <>
              <SmallTable
                label="Peers"
                heads={[
                  { title: 'Peer' },
                  { title: 'Bytes', end: true },
                  { title: 'Connections', end: true },
                  { title: 'Ports' },
                  { title: 'Last seen', end: true },
                ]}
              >
                {shown.map((peer) => (
                  <PeerRow key={peer.id} peer={peer} most={most} />
                ))}
              </SmallTable>
              <p class="row">
                {peers.length > shownFirst && (
                  <Button kind="plain" onClick={() => setEvery(!every)}>
                    {every ? 'Show fewer' : `Show all ${number(peers.length)} peers`}
                  </Button>
                )}
                <a href={href('topology', { focus: id })}>Show in topology</a>
                {topology.truncated && <span class="quiet">Peers with the fewest bytes may be missing.</span>}
              </p>
            </>
          );
        }}
      </Answered>
    </Section>
  );
}

function PeerRow({ peer, most }: { peer: Peer; most: number }) {
  const { id, node } = peer;
  const [opens, accepts] = [peer.opened > 0, peer.opened < peer.connections];
  return (
    <tr>
      <td class="small-table-wide">
        <span title={opens && accepts ? 'Opened by both' : opens ? 'Opened by the asset' : 'Opened by the peer'}>
          <span aria-hidden="true">{opens && accepts ? '⇄' : opens ? '→' : '←'}</span>
          <span class="unseen">{opens && accepts ? 'both ways' : opens ? 'to' : 'from'}</span>{' '}
        </span>
        {node?.asset_id !== undefined ? (
          <a href={href('assets', { id: node.asset_id })} title={id}>
            <bdi>{node.label}</bdi>
          </a>
        ) : (
          <Address ip={id} />
        )}
        {node?.kind === 'external' && <span class="quiet"> external</span>}
        {node?.risk_level !== undefined && node.risk_level !== 'low' && (
          <>
            {' '}
            <Risk level={node.risk_level} />
          </>
        )}
      </td>
      <td class="table-end">
        {bytes(peer.bytes)}
        <meter class="asset-share" min={0} max={Math.max(1, most)} value={peer.bytes} aria-hidden="true" />
      </td>
      <td class="table-end">{number(peer.connections)}</td>
      <td class="mono asset-ports">
        <Ports title="Used by the asset:" ports={peer.usedPorts} mark="→" />
        <Ports title="Offered by the asset:" ports={peer.offeredPorts} mark="←" />
        {peer.protocols.length > 0 && <bdi class="quiet"> {peer.protocols.join(' ')}</bdi>}
      </td>
      <td class="table-end quiet">
        <Time at={peer.lastSeen} />
      </td>
    </tr>
  );
}

const shownPorts = 4;

function Ports({ title, ports, mark }: { title: string; ports: readonly number[]; mark: string }) {
  if (ports.length === 0) return null;
  const more = ports.length - shownPorts;
  return (
    <span title={`${title} ${ports.join(', ')}`}>
      <span class="quiet" aria-hidden="true">
        {mark}
      </span>
      {ports.slice(0, shownPorts).join(' ')}
      {more > 0 && ` +${more}`}{' '}
    </span>
  );
}

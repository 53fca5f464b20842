import type { ConnectionState } from '../contract/vocabulary.ts';

/**
 * Determines the state of a connection and whether its responder answered, for rules, detectors, services, assets,
 * topology and intelligence. Scans cause events of addresses that do not exist and of closed ports, and the source of
 * a datagram can be forged. Such events must not create a host or a service.
 */

/** State by Zeek's conn_state (scripts/base/protocols/conn/main.zeek), and whether the handshake finished. */
const zeekStates: ReadonlyMap<string, readonly [ConnectionState, answered: boolean]> = new Map([
  ['S0', ['attempt', false]],
  ['S1', ['open', true]],
  ['SF', ['closed', true]],
  ['REJ', ['refused', false]],
  ['S2', ['failed', true]],
  ['S3', ['failed', true]],
  ['RSTO', ['reset', true]],
  ['RSTR', ['reset', true]],
  ['RSTOS0', ['reset', false]],
  ['RSTRH', ['reset', false]],
  ['SH', ['failed', false]],
  ['SHR', ['failed', false]],
  ['OTH', ['traffic', false]],
]);

/**
 * Returns the state of a connection from Zeek's conn_state; undefined for other words. A history without a
 * SYN-ACK (`h`) and without data of the responder (`d`) overrides a handshake that conn_state implies: Zeek
 * writes RSTR if the originator continued after a refusal.
 */
export function zeekState(connState: string, transport: string, history?: string): ConnectionState | undefined {
  const [state, answered] = zeekStates.get(connState) ?? [];
  if (!answered || transport !== 'tcp' || history === undefined || /[hd]/.test(history)) return state;
  return history.includes('r') ? 'refused' : 'attempt';
}

/**
 * TCP flags of a flow, as bits: the flags of both sides together, and the flags of the responder if the sensor
 * reports the sides separately.
 */
export interface FlowFlags {
  readonly all: number;
  readonly byServer: number | undefined;
}

export const tcpFlags = { fin: 0x01, syn: 0x02, rst: 0x04, psh: 0x08 } as const;
const { fin, syn, rst, psh } = tcpFlags;

/**
 * Returns the state of a flow from Suricata's flow.state. `new` is an unfinished handshake (TCP) or packets in one
 * direction (other protocols); `established` means packets in both directions; `closed` is the end of a TCP
 * connection by FIN or RST; `bypassed` means that Suricata stopped inspecting the flow.
 *
 *   TCP   RST by a server that never sent a SYN → refused
 *         RST with a silent server → attempt; other RST → reset
 *         closed → closed, but with a single packet of the server and no flags → refused
 *         established, bypassed → open
 *         new: server silent → attempt; server sent a SYN → open, as Zeek's S1; else → traffic (begun unseen)
 *   else  bypassed → open; packets in both directions → closed, as Zeek's SF; in one → attempt, as Zeek's S0
 */
export function suricataState(
  flowState: string,
  transport: string,
  dstPackets: number | undefined,
  { all, byServer }: FlowFlags,
): ConnectionState | undefined {
  const heard = dstPackets !== undefined && dstPackets > 0;
  if (transport !== 'tcp') {
    if (flowState === 'bypassed') return 'open';
    return heard || flowState === 'established' ? 'closed' : 'attempt';
  }
  if ((all & rst) !== 0) return resetState(dstPackets, { all, byServer });
  switch (flowState) {
    case 'closed':
      return dstPackets === 1 && all === 0 ? 'refused' : 'closed';
    case 'established':
    case 'bypassed':
      return 'open';
    case 'new':
      if (!heard) return 'attempt';
      return ((byServer ?? all) & syn) !== 0 ? 'open' : 'traffic';
    default:
      return undefined;
  }
}

/**
 * Returns the state of a flow with an RST. If the sensor does not report the sides separately, a flow with SYN and
 * without PSH and FIN was refused.
 */
function resetState(dstPackets: number | undefined, { all, byServer }: FlowFlags): ConnectionState {
  if (dstPackets === 0) return 'attempt';
  if (byServer !== undefined) return (byServer & rst) !== 0 && (byServer & syn) === 0 ? 'refused' : 'reset';
  return (all & syn) !== 0 && (all & (psh | fin)) === 0 ? 'refused' : 'reset';
}

/**
 * Returns the state from the sensor's value (Zeek's conn_state or Suricata's flow.state) and its history or TCP flags;
 * undefined for other values.
 */
export function sensorState(
  connState: string | undefined,
  transport: string,
  history: string | undefined,
  dstPackets: number | undefined,
): ConnectionState | undefined {
  if (connState === undefined) return undefined;
  if (zeekStates.has(connState)) return zeekState(connState, transport, history);
  if (!suricataWords.has(connState)) return undefined;
  const all = history !== undefined && /^[0-9a-f]{1,4}$/i.test(history) ? Number.parseInt(history, 16) : 0;
  return suricataState(connState, transport, dstPackets, { all, byServer: undefined });
}
const suricataWords: ReadonlySet<string> = new Set(['new', 'established', 'closed', 'bypassed']);

/**
 * Returns the state of a flow in ECS: from its types (`event.type`) if the flow was denied, otherwise from the sensor's
 * state, otherwise from its types. `end` means attempt if only the source sent packets, otherwise closed; `start` means
 * open. Returns undefined if none of these applies.
 */
export function ecsState(
  types: readonly unknown[],
  bySensor: ConnectionState | undefined,
  srcPackets: number | undefined,
  dstPackets: number | undefined,
): ConnectionState | undefined {
  if (types.includes('denied')) return 'refused';
  if (bySensor !== undefined) return bySensor;
  if (types.includes('end')) {
    const unanswered = srcPackets !== undefined && srcPackets > 0 && (dstPackets ?? 0) === 0;
    return unanswered ? 'attempt' : 'closed';
  }
  return types.includes('start') ? 'open' : undefined;
}

/**
 * Reports of connections that are still open, but not in the state `open`, come after minutes (Zeek's conn_long: after
 * ten). A report of a shorter connection, in a state other than `open`, was therefore written when the connection
 * ended.
 */
const briefMs = 60_000;

/**
 * Returns whether a report shows that the connection has ended, so that its sensor probably does not report it again.
 * TCP connections end when they are closed, reset or refused. Other states do not show the end: Zeek calls a UDP flow
 * SF, and an ICMP exchange OTH, while it lasts. Such a connection has ended if it was brief. Reports without a state
 * (alerts, NetFlow) may be followed by further reports.
 *
 * @param durationMs - NaN if unknown
 */
export function hasEnded(state: ConnectionState | undefined, isTcp: boolean, durationMs: number): boolean {
  if (state === undefined || state === 'open') return false;
  if (isTcp && (state === 'closed' || state === 'reset' || state === 'refused')) return true;
  return !(durationMs >= briefMs);
}

/** Counters of both sides of an event; NaN if unknown. */
export interface Counters {
  readonly src_bytes: number;
  readonly dst_bytes: number;
  readonly src_payload_bytes: number;
  readonly dst_payload_bytes: number;
  readonly src_packets: number;
  readonly dst_packets: number;
}

/** Returns whether the handshake was completed, by Zeek's conn_state; undefined for other values. */
export const handshakeDone = (connState: string): boolean | undefined => zeekStates.get(connState)?.[1];

/**
 * Returns whether the responder of a TCP connection answered. The state `attempt` or `refused` means no; otherwise
 * Zeek's handshake decides. Without Zeek, an open or closed connection is answered unless the responder is known to
 * have sent nothing. A reset connection, or a connection without a state, is answered if both sides sent payload. For
 * a reset without counts of payload, packets decide. Connections with other states are unanswered.
 */
export function tcpAnswered(
  handshake: boolean | undefined,
  state: ConnectionState | undefined,
  event: Counters,
): boolean {
  if (state === 'attempt' || state === 'refused') return false;
  if (handshake !== undefined) return handshake;
  if (state === 'open' || state === 'closed') return event.dst_packets !== 0 && event.dst_bytes !== 0;
  if (state !== 'reset' && state !== undefined) return false;
  const { src_payload_bytes, dst_payload_bytes, src_packets, dst_packets } = event;
  if (state === 'reset' && Number.isNaN(src_payload_bytes) && Number.isNaN(dst_payload_bytes))
    return src_packets > 0 && dst_packets > 0;
  return src_payload_bytes > 0 && dst_payload_bytes > 0;
}

/**
 * Returns whether both sides sent anything, for protocols other than TCP. If the responder has no counters, the state
 * decides; ICMP, which has no state, then counts as unanswered. Unknown counters of the originator count as sent.
 */
export function bothSent(event: Counters, state: ConnectionState | undefined, icmp: boolean): boolean {
  const { src_packets, src_bytes, src_payload_bytes, dst_packets, dst_bytes, dst_payload_bytes } = event;
  if (Number.isNaN(dst_packets) && Number.isNaN(dst_bytes) && Number.isNaN(dst_payload_bytes))
    return !icmp && (state === 'open' || state === 'closed');
  if (!(dst_packets > 0 || dst_bytes > 0 || dst_payload_bytes > 0)) return false;
  if (Number.isNaN(src_packets) && Number.isNaN(src_bytes) && Number.isNaN(src_payload_bytes)) return true;
  return src_packets > 0 || src_bytes > 0 || src_payload_bytes > 0;
}

/** Returns whether the protocol's ports are ICMP types and codes. */
export const isIcmp = (transport: string): boolean => icmps.has(transport);
const icmps: ReadonlySet<string> = new Set(['icmp', 'icmp6', 'icmpv6', 'ipv6-icmp']);

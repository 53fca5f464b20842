import type { ConnectionState } from '../contract/vocabulary.ts';

/**
 * The one place that decides what became of a connection and whether its responder answered. Rules, detectors,
 * services, assets, topology and intelligence all use it. Scans leave events of addresses that don't exist and of
 * closed ports, and the source of a datagram can be forged: neither may become a host or a service.
 */

/** Zeek's conn_state (scripts/base/protocols/conn/main.zeek): the state, and whether the handshake was completed. */
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
 * The state of a connection by Zeek's conn_state; undefined for other words. A history without a SYN-ACK (`h`) and
 * without data of the responder (`d`) overrides a handshake that conn_state implies: Zeek writes RSTR when the
 * originator went on after it was refused.
 */
export function zeekState(
  connState: string,
  transport: string,
  history?: string,
): ConnectionState | undefined {
  const [state, answered] = zeekStates.get(connState) ?? [];
  if (!answered || transport !== 'tcp' || history === undefined || /[hd]/.test(history)) return state;
  return history.includes('r') ? 'refused' : 'attempt';
}

/** TCP flags of a flow, as bits: of both sides, and of the responder where the sensor tells them apart. */
export interface FlowFlags {
  readonly all: number;
  readonly byServer: number | undefined;
}

export const tcpFlags = { fin: 0x01, syn: 0x02, rst: 0x04, psh: 0x08 } as const;
const { fin, syn, rst, psh } = tcpFlags;

/**
 * The state of a flow by Suricata's flow.state. `new` is a handshake that was not finished (TCP) or packets one way
 * only (others); `established` packets both ways; `closed` the end of TCP, by FIN or RST; `bypassed` no longer looked at.
 *
 *   TCP   RST by the server that never sent a SYN → refused; RST where it was silent → attempt; any other RST → reset
 *         closed → closed, but with a single packet of the server and no flags → refused; established, bypassed → open
 *         new: server silent → attempt; it sent a SYN → open, as Zeek's S1; something else → traffic (begun unseen)
 *   else  packets both ways → closed, as Zeek's SF; bypassed → open; one way → attempt, as Zeek's S0
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

/** A flow with an RST. Where the sides are not told apart, one without data or FIN was refused. */
function resetState(dstPackets: number | undefined, { all, byServer }: FlowFlags): ConnectionState {
  if (dstPackets === 0) return 'attempt';
  if (byServer !== undefined) return (byServer & rst) !== 0 && (byServer & syn) === 0 ? 'refused' : 'reset';
  return (all & syn) !== 0 && (all & (psh | fin)) === 0 ? 'refused' : 'reset';
}

/** The state by a sensor's own word, whichever of the two sensors it is of, with its history or TCP flags. */
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
 * The state of a flow in ECS: by its types (`event.type`) where it was denied, else by the sensor's word, else by its
 * types: end → attempt with packets of one side only, else closed; start → open.
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

/** An event's counters of its two sides; NaN where unknown. */
export interface Counters {
  readonly src_bytes: number;
  readonly dst_bytes: number;
  readonly src_payload_bytes: number;
  readonly dst_payload_bytes: number;
  readonly src_packets: number;
  readonly dst_packets: number;
}

/** Whether Zeek's handshake was completed; undefined for words of other sensors. */
export const handshakeDone = (connState: string): boolean | undefined => zeekStates.get(connState)?.[1];

/**
 * Whether the responder of a TCP connection answered. Zeek's word decides, unless the state says that the connection was
 * attempted or refused. Otherwise it was open, or closed in order, and the responder is not known to have been silent;
 * or it was reset, or has no state, and both sides sent payload. Where payload is not counted, packets count for a reset.
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
 * Whether both sides of anything but TCP sent something. Where nothing was counted of the responder, the state says
 * it, but for ICMP, which has none.
 */
export function bothSent(event: Counters, state: ConnectionState | undefined, icmp: boolean): boolean {
  const { src_packets, src_bytes, src_payload_bytes, dst_packets, dst_bytes, dst_payload_bytes } = event;
  if (Number.isNaN(dst_packets) && Number.isNaN(dst_bytes) && Number.isNaN(dst_payload_bytes))
    return !icmp && (state === 'open' || state === 'closed');
  if (!(dst_packets > 0 || dst_bytes > 0 || dst_payload_bytes > 0)) return false;
  if (Number.isNaN(src_packets) && Number.isNaN(src_bytes) && Number.isNaN(src_payload_bytes)) return true;
  return src_packets > 0 || src_bytes > 0 || src_payload_bytes > 0;
}

/** Protocols whose ports are types and codes. */
export const isIcmp = (transport: string): boolean => icmps.has(transport);
const icmps: ReadonlySet<string> = new Set(['icmp', 'icmp6', 'icmpv6', 'ipv6-icmp']);

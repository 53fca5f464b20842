import { connectionStates } from '../contract/vocabulary.ts';

/**
 * What is evidence that a responder answered. Scans leave events of addresses that don't exist and of ports that
 * nobody listens on, and the source of a datagram can be forged: neither may become a host or a service.
 */

/** Zeek's conn_state (scripts/base/protocols/conn/main.zeek): whether the TCP handshake was completed. */
const established: ReadonlyMap<string, boolean> = new Map([
  ['S0', false],
  ['S1', true],
  ['SF', true],
  ['REJ', false],
  ['S2', true],
  ['S3', true],
  ['RSTO', true],
  ['RSTR', true],
  ['RSTOS0', false],
  ['RSTRH', false],
  ['SH', false],
  ['SHR', false],
  ['OTH', false],
]);

/** True and false where the sensor's word decides; undefined for words of other sensors than Zeek. */
export const handshakeDone = (connState: string): boolean | undefined => established.get(connState);

/** What an event says of its two sides; NaN where unknown. */
export interface Counters {
  /** Place in `connectionStates`. */
  readonly state: number;
  readonly src_bytes: number;
  readonly dst_bytes: number;
  readonly src_payload_bytes: number;
  readonly dst_payload_bytes: number;
  readonly src_packets: number;
  readonly dst_packets: number;
}

const open = connectionStates.indexOf('open');
const closed = connectionStates.indexOf('closed');
const reset = connectionStates.indexOf('reset');

/**
 * Whether a TCP connection was established, where no conn_state of Zeek's says it: it was open, or closed in order, and
 * the responder is not known to have been silent; or both sides sent payload, whatever became of it.
 */
export function tcpEstablished(event: Counters): boolean {
  const { state } = event;
  if (state === open || state === closed) return event.dst_packets !== 0 && event.dst_bytes !== 0;
  if (state !== reset && !Number.isNaN(state)) return false;
  return event.src_payload_bytes > 0 && event.dst_payload_bytes > 0;
}

/**
 * Whether both sides of anything but TCP sent something. Where nothing was counted of the responder, the state says
 * it, but for ICMP, which has none.
 */
export function bothSent(event: Counters, icmp: boolean): boolean {
  const { state, src_packets, src_bytes, src_payload_bytes, dst_packets, dst_bytes, dst_payload_bytes } =
    event;
  if (Number.isNaN(dst_packets) && Number.isNaN(dst_bytes) && Number.isNaN(dst_payload_bytes))
    return !icmp && (state === open || state === closed);
  if (!(dst_packets > 0 || dst_bytes > 0 || dst_payload_bytes > 0)) return false;
  if (Number.isNaN(src_packets) && Number.isNaN(src_bytes) && Number.isNaN(src_payload_bytes)) return true;
  return src_packets > 0 || src_bytes > 0 || src_payload_bytes > 0;
}

/** Protocols whose ports are types and codes. */
export const isIcmp = (transport: string): boolean => icmps.has(transport);
const icmps: ReadonlySet<string> = new Set(['icmp', 'icmp6', 'icmpv6', 'ipv6-icmp']);

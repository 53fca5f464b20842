import { limits } from '../limits.ts';
import type { NetworkRecord, WithSpans } from './records.ts';

/**
 * Returns the bytes that one side of a connection sent: IP bytes, or payload if only the payload is known. Returns
 * zero if the bytes are unknown, or more than a link can carry in `lastedMs`.
 */
export function plausibleBytes(bytes: number, payload: number, lastedMs: number): number {
  const most = mostIn(lastedMs);
  if (bytes <= most) return bytes;
  return payload <= most ? payload : 0;
}

/**
 * Returns the sensor's duration of a connection, limited to the time between the start and the receipt, in
 * milliseconds.
 */
export function plausibleDuration(durationMs: number, timestamp: number, receivedAt: number): number {
  return durationMs > 0 ? Math.min(durationMs, Math.max(0, receivedAt - timestamp)) : 0;
}

/** Returns true if any byte count of the event is left out of sums. */
export function hasImplausibleBytes(event: WithSpans<NetworkRecord>, receivedAt: number): boolean {
  const { src_bytes = 0, dst_bytes = 0, src_payload_bytes = 0, dst_payload_bytes = 0 } = event;
  const largest = Math.max(src_bytes, dst_bytes, src_payload_bytes, dst_payload_bytes);
  return largest > mostIn(plausibleDuration(event.duration_ms ?? 0, event.timestamp, receivedAt));
}

/**
 * Returns the maximum number of bytes that a link can carry in `ms`, capped at the largest number that JSON
 * represents exactly.
 */
export const linkBytes = (ms: number): number =>
  Math.min(limits.maxSummedBytes, Math.floor(limits.maxLinkBytesPerMs * ms));

const mostIn = (lastedMs: number): number => limits.maxLinkBytesPerMs * (limits.linkGraceMs + lastedMs);

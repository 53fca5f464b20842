import { limits } from '../limits.ts';
import type { NetworkRecord } from './records.ts';

/**
 * Bytes that one side of a connection sent: IP bytes, or payload where nothing else is known. Zero where they are unknown
 * or more than a link can carry in that time.
 */
export function carried(bytes: number, payload: number, lastedMs: number): number {
  const most = mostIn(lastedMs);
  if (bytes <= most) return bytes;
  return payload <= most ? payload : 0;
}

/** How long a connection can have lasted when it was received, in milliseconds, whatever its sensor says. */
export function lasted(durationMs: number, timestamp: number, receivedAt: number): number {
  return durationMs > 0 ? Math.min(durationMs, Math.max(0, receivedAt - timestamp)) : 0;
}

/** Whether a count of it is left out of sums. */
export function hasImplausibleBytes(event: NetworkRecord, receivedAt: number): boolean {
  const { src_bytes = 0, dst_bytes = 0, src_payload_bytes = 0, dst_payload_bytes = 0 } = event;
  const largest = Math.max(src_bytes, dst_bytes, src_payload_bytes, dst_payload_bytes);
  return largest > mostIn(lasted(event.duration_ms ?? 0, event.timestamp, receivedAt));
}

/** Bytes that sums of connections of a time may reach: as many as a link carries in it, as far as JSON can say them. */
export const linkBytes = (ms: number): number =>
  Math.min(limits.maxSummedBytes, Math.floor(limits.maxLinkBytesPerMs * ms));

const mostIn = (lastedMs: number): number => limits.maxLinkBytesPerMs * (limits.linkGraceMs + lastedMs);

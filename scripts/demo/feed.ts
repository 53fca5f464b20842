import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../src/client/client.ts';
import { errorCodes, ServiceError } from '../../src/errors.ts';
import type { TrafficLine } from '../traffic/index.ts';

export interface FeedCounts {
  sent: number;
  stored: number;
  rejected: number;
  /** Simulated time of the last line, epoch milliseconds. */
  time: number;
}

const tickMs = 200;
/**
 * Maximum simulated time of bodies that are sent together. Detectors accept events up to an hour late, so no sensor may
 * lag by more than an hour.
 */
const maxSpanMs = 20 * 60_000;

/**
 * Returns whether the next line is due, by the time since the start and the number of sent lines; `end` ends the feed.
 */
export type Pace = (elapsedMs: number, next: TrafficLine, sent: number) => boolean | 'end';

/**
 * Sends a fixed number of lines per second, regardless of the times in the lines, until the simulated clock reaches
 * `until`.
 */
export function steadily(linesPerSecond: number, until: number): Pace {
  return (elapsedMs, next, sent) => (next.time >= until ? 'end' : sent < (elapsedMs / 1000) * linesPerSecond);
}

/** Sends each line at its own time. */
export const live: Pace = (_elapsedMs, next) => next.time <= Date.now();

/** Sends lines at the given pace until the pace ends or the signal aborts; waits for the response to each body. */
export async function feed(
  client: Client,
  lines: Iterator<TrafficLine, never>,
  pace: Pace,
  counts: FeedCounts,
  signal: AbortSignal,
): Promise<void> {
  const start = performance.now();
  const before = counts.sent;
  let next = lines.next().value;
  for (let over = false; !over && !signal.aborted; ) {
    const due = new Map<string, string[]>();
    const end = next.time + maxSpanMs;
    while (next.time < end) {
      const now = pace(performance.now() - start, next, counts.sent - before);
      over = now === 'end';
      if (now !== true) break;
      const batch = due.get(next.sensor);
      if (batch === undefined) due.set(next.sensor, [next.line]);
      else batch.push(next.line);
      counts.sent++;
      counts.time = next.time;
      next = lines.next().value;
    }
    await Promise.all([...due].map(([sensor, batch]) => send(client, sensor, batch, counts, signal)));
    if (!over && next.time < end) await sleep(tickMs, undefined, { signal }).catch(() => {});
  }
}

/** Sends one body. If the service is overloaded, the body is sent again; the key prevents duplicates. */
async function send(client: Client, sensor: string, batch: readonly string[], counts: FeedCounts, signal: AbortSignal) {
  const headers = { 'idempotency-key': crypto.randomUUID() };
  for (;;) {
    try {
      const answer = await client.ingest(batch.join('\n'), { query: { sensor }, headers });
      counts.stored += answer.accepted;
      counts.rejected += answer.rejected;
      return;
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ServiceError) || !errorCodes[error.code].retry) throw error;
      await sleep(1000, undefined, { signal }).catch(() => {});
    }
  }
}

import { setTimeout as pause } from 'node:timers/promises';
import type { Service } from '../../scripts/service.ts';
import { quantile } from '../result.ts';

/** Time between a response and the next change, in milliseconds. */
const pauseMs = 20;

/** Times from requests to responses, in milliseconds. */
export interface ChangeTimes {
  readonly changes: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/**
 * Changes the reason of a silence again and again, as a user would: each response waits for the change and for its
 * audit record, both flushed.
 *
 * @param token - a token that may change silences
 * @returns a function that ends the changes
 */
export async function startChanges(service: Service, token: string): Promise<() => Promise<ChangeTimes>> {
  const send = async (method: string, path: string, attributes: object): Promise<string> => {
    const response = await fetch(`${service.url}/api/v1/silences${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(attributes),
    });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return ((await response.json()) as { data: { id: string } }).data.id;
  };
  const expires_at = new Date(Date.now() + 86_400_000).toISOString();
  const id = await send('POST', '', { matcher: { rule_id: ['none'] }, reason: 'a benchmark', expires_at });
  const times: number[] = [];
  let isRunning = true;
  const running = (async () => {
    while (isRunning) {
      const began = performance.now();
      await send('PUT', `/${id}`, { reason: `change ${times.length}` });
      times.push(performance.now() - began);
      await pause(pauseMs);
    }
  })();
  // The error is thrown when the changes are ended.
  running.catch(() => undefined);
  return async () => {
    isRunning = false;
    await running;
    times.sort((a, b) => a - b);
    return { changes: times.length, p50Ms: quantile(times, 0.5), p99Ms: quantile(times, 0.99) };
  };
}

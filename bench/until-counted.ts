import { setTimeout } from 'node:timers/promises';
import { login, type Service } from '../scripts/service.ts';

/**
 * Resolves when detectors have seen all events that are stored, and inventory, topology and figures have them. A service
 * acknowledges what is on disk: what it puts off would else not count in a short run.
 *
 * @param token - of somebody who may ask for the status; without it the administrator logs in, which takes time, too
 */
export async function untilCounted(service: Service, token?: string): Promise<void> {
  const headers = { authorization: `Bearer ${token ?? (await login(service))}` };
  for (;;) {
    const response = await fetch(`${service.url}/api/v1/status`, { headers });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    const { data } = (await response.json()) as {
      data: { attributes: { store: { uncounted_events: number } } };
    };
    if (data.attributes.store.uncounted_events === 0) return;
    await setTimeout(20);
  }
}

import { setTimeout } from 'node:timers/promises';
import { login, type Service } from '../scripts/service.ts';

/**
 * Resolves when detectors have processed all stored events, and inventory, topology and statistics include
 * them. A service acknowledges stored events, so a short run would otherwise not include deferred work.
 *
 * @param token - a token that may read the status; without a token, the administrator logs in, and this takes time
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

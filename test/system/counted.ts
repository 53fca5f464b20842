/** Waits for the findings of detectors in all sent events, regardless of the lag of event processing. */
import type { Alert } from '../../src/contract/resources/alert.ts';
import { call, type Item, listAll, send } from './call.ts';

export type FoundAlert = Item & { readonly attributes: Alert };

export function inBodies(lines: readonly string[], perBody = 20_000): string[] {
  const bodies: string[] = [];
  for (let from = 0; from < lines.length; from += perBody) bodies.push(lines.slice(from, from + perBody).join('\n'));
  return bodies;
}

/** Sends bodies one after another, and returns all alerts once their events are processed. */
export async function alertsAfter(
  service: { readonly url: string },
  admin: string,
  bodies: readonly string[],
): Promise<FoundAlert[]> {
  for (const body of bodies) await send(service, admin, body);
  await counted(service, admin);
  return (await listAll(service, 'listAlerts', admin)) as unknown as FoundAlert[];
}

/** Waits until all stored events are processed, by creating an asset: this change waits for pending events. */
export async function counted(service: { readonly url: string }, admin: string): Promise<void> {
  const name = `counted ${crypto.randomUUID()}`;
  const { status, body } = await call(service, 'createAsset', { token: admin, json: { name } });
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
}

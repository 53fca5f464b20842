/** Settings for access to metrics and log entries, changed between restarts of the service. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { login, type Service, startService } from '../../scripts/service.ts';
import type { Policy } from '../../src/contract/resources/policy.ts';
import type { Status } from '../../src/contract/resources/status.ts';
import { rewriteStored } from '../identities/policy-parts.ts';
import { call, type Item } from './call.ts';

// Each test starts the service three times.
vi.setConfig({ testTimeout: 180_000 });

let dataDir: string;
let service: Service | undefined;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'candor-policy-settings-'));
});
afterEach(async () => {
  await service?.stop();
  service = undefined;
  rmSync(dataDir, { recursive: true });
});

const open = { CANDOR_METRICS_REQUIRE_AUTH: 'false', CANDOR_TRANSPARENCY_PUBLIC_ENTRIES: 'true' };
const closed = { CANDOR_METRICS_REQUIRE_AUTH: 'true', CANDOR_TRANSPARENCY_PUBLIC_ENTRIES: 'false' };

/** Starts the service on the folder, after stopping the previous one. */
async function start(env: Record<string, string>): Promise<Service> {
  await service?.stop();
  service = await startService({ dataDir, env });
  return service;
}
const codes = async ({ url }: Service) =>
  Promise.all(['/metrics', '/api/transparency/entries'].map(async (path) => (await fetch(url + path)).status));
const attributes = <T>(body: unknown) => (body as { data: Item }).data.attributes as T;
const warnings = async (running: Service, token: string) =>
  attributes<Status>((await call(running, 'getStatus', { token })).body).warnings;

test('settings take effect at the next start, in both directions, and the policy shows the result', async () => {
  expect(await codes(await start(open))).toEqual([200, 200]);
  const running = await start(closed);
  expect(await codes(running)).toEqual([401, 401]);
  const token = await login(running);
  const { rules } = attributes<Policy>((await call(running, 'getPolicy', { token })).body);
  expect(rules.find(({ operation }) => operation === 'getMetrics')).toMatchObject({ access: 'roles' });
  expect(await warnings(running, token)).toEqual([]);
  expect(await codes(await start(open))).toEqual([200, 200]);
});

test("while settings stay the same, an administrator's choice in the policy persists, and the status reports it", async () => {
  const first = await start(closed);
  const token = await login(first);
  const { rules } = attributes<Policy>((await call(first, 'getPolicy', { token })).body);
  const changed = rules.map((rule) =>
    rule.operation === 'getMetrics' ? { ...rule, access: 'public', roles: [] } : rule,
  );
  const { status } = await call(first, 'updatePolicy', { token, json: { rules: changed } });
  expect(status).toBe(200);
  const again = await start(closed);
  expect(await codes(again)).toEqual([200, 401]);
  expect(await warnings(again, await login(again))).toEqual([
    expect.stringMatching(/^metrics\.require_auth is on, but the access policy makes \/metrics public\./),
  ]);
});

test('a policy of an earlier version follows the settings only if it was never changed', async () => {
  const forget = (version: number) => rewriteStored(dataDir, ({ settings: _, ...stored }) => ({ ...stored, version }));
  const stop = async () => {
    await service?.stop();
    service = undefined;
  };
  await start(open);
  await stop();
  await forget(7);
  const kept = await start(closed);
  expect(await codes(kept)).toEqual([200, 200]);
  expect(await warnings(kept, await login(kept))).toHaveLength(2);
  await stop();
  await forget(1);
  expect(await codes(await start(closed))).toEqual([401, 401]);
});

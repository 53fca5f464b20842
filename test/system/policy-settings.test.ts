/** Settings for access to metrics and log entries, changed between restarts of the service. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { login, type Service, startService } from '../../scripts/service.ts';
import type { Policy } from '../../src/contract/resources/policy.ts';
import type { Status } from '../../src/contract/resources/status.ts';
import { call, type Item } from './call.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'candor-policy-settings-'));
let service: Service | undefined;
afterAll(async () => {
  await service?.stop();
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

/** One scenario, because each step needs a restart of the service. */
test("changed settings take effect at the next start; otherwise an administrator's choice in the policy persists", async () => {
  expect(await codes(await start(open))).toEqual([200, 200]);

  const running = await start(closed);
  expect(await codes(running)).toEqual([401, 401]);
  const token = await login(running);
  const { rules } = attributes<Policy>((await call(running, 'getPolicy', { token })).body);
  expect(rules.find(({ operation }) => operation === 'getMetrics')).toMatchObject({ access: 'roles' });
  expect(await warnings(running, token)).toEqual([]);

  const changed = rules.map((rule) =>
    rule.operation === 'getMetrics' ? { ...rule, access: 'public', roles: [] } : rule,
  );
  const { status } = await call(running, 'updatePolicy', { token, json: { rules: changed } });
  expect(status).toBe(200);
  const again = await start(closed);
  expect(await codes(again)).toEqual([200, 401]);
  expect(await warnings(again, await login(again))).toEqual([
    expect.stringMatching(/^metrics\.require_auth is on, but the access policy makes \/metrics public\./),
  ]);

  expect(await codes(await start(open))).toEqual([200, 200]);
});

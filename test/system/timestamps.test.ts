/** Timestamps in the whole service, from an authority through the log to a bundle that verifies offline. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { login, startService } from '../../scripts/service.ts';
import { candor } from '../cli/candor.ts';
import { Authority, AuthorityServer } from '../timestamps/authority.ts';
import { call } from './call.ts';

const patience = { timeout: 60_000, interval: 100 };

test('the service gets its checkpoint timestamped, and a bundle gives the latest time at which its entry was logged', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-timestamps-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const authority = new Authority();
  onTestFinished(() => authority.close());
  const server = await AuthorityServer.start(authority);
  onTestFinished(() => server.close());
  // The login is the first entry.
  const first = await startService({ dataDir });
  await login(first);
  expect(await first.stop()).toBe(0);

  const env = { CANDOR_TIMESTAMPS_AUTHORITIES: server.url, CANDOR_TIMESTAMPS_CA_FILE: authority.ca };
  const service = await startService({ dataDir, env });
  const token = await login(service);
  await vi.waitFor(async () => {
    const { body } = await call(service, 'listEntries', { token, query: 'kind=checkpoint.timestamped' });
    expect((body as { data: unknown[] }).data).toHaveLength(1);
  }, patience);
  const bundle = await fetch(`${service.url}/api/transparency/proof?leaf_index=0`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const file = join(dataDir, 'bundle.json');
  writeFileSync(file, await bundle.text());
  const verified = await candor('verify', file, '--tsa-ca', authority.ca, '--json');
  expect(verified, verified.stderr).toMatchObject({
    code: 0,
    json: { kind: 'token.issued', timestamps_trusted: true, checkpoint: { published: true } },
  });
  expect(Date.parse(String(verified.json.logged_before))).toBeLessThanOrEqual(Date.now() + 1500);
  expect(await service.stop()).toBe(0);
});

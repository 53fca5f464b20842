/**
 * A start does not read all stored events, and its banner reports settings that the operator should change.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fill } from '../../bench/startup.ts';
import { login, type Service, startService, tokenFor } from '../../scripts/service.ts';
import { call, list, send } from './call.ts';

const env = { CANDOR_NETWORK_HOME: '10.0.0.0/8' };
const dataDir = mkdtempSync(join(tmpdir(), 'candor-start-'));
let service: Service;
beforeAll(async () => {
  service = await startService({ dataDir, env });
});
afterAll(async () => {
  await service.stop();
  rmSync(dataDir, { recursive: true });
});

test('the log is checked in the background before anyone reads it', async () => {
  const token = await tokenFor(service, 'viewer');
  const scrub = async () => {
    const { body } = await call(service, 'getStatus', { token });
    return (body as { data: { attributes: { ledger: { scrub?: object } } } }).data.attributes.ledger.scrub;
  };
  await expect.poll(scrub).toMatchObject({ pass_began_at: expect.anything() });
});

test('stored events are available after a start, and the banner reports settings to change', async () => {
  // A public host that takes part in most connections.
  const body = Array.from({ length: 6000 }, (_, n) =>
    JSON.stringify({
      ...{ _path: 'conn', ts: Date.now() / 1000, uid: `C${n}`, proto: 'tcp', conn_state: 'SF' },
      ...{ 'id.orig_h': `203.0.113.${n % 250}`, 'id.orig_p': 40_000 },
      ...{ 'id.resp_h': '198.51.100.7', 'id.resp_p': 443 },
    }),
  ).join('\n');
  expect(await send(service, await tokenFor(service, 'sensor'), body)).toMatchObject({ accepted: 6000 });
  expect(await service.stop()).toBe(0);
  const proposed = () => service.output.filter((line) => line.includes('198.51.100.7')).join();
  const isOpen = () => service.output.join().includes('other users of this machine can access it (mode 0755)');
  expect([proposed(), isOpen()]).toEqual(['', false]);

  await fill(dataDir, 4000);
  chmodSync(dataDir, 0o755);
  service = await startService({ dataDir, env });
  const { pagination } = await list(service, 'listNetworkEvents', await login(service), 'per_page=1');
  expect(pagination.total).toBe(10_000);
  expect(proposed()).toContain('CANDOR_NETWORK_HOME=10.0.0.0/8,198.51.100.7/32');
  expect(isOpen()).toBe(true);
});

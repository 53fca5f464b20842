/** Settings stored over HTTP, and the start that applies them. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { login, type Service, startService } from '../../scripts/service.ts';
import type { Config } from '../../src/contract/resources/config.ts';
import { call } from '../system/call.ts';

let dataDir: string;
let running: Service | undefined;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'candor-restart-'));
});
afterEach(async () => {
  await running?.kill().catch(() => undefined);
  running = undefined;
  rmSync(dataDir, { recursive: true, force: true });
});

async function started(env: Record<string, string> = {}): Promise<Service> {
  running = await startService({ dataDir, env });
  return running;
}

async function config(service: Service, settings?: Record<string, unknown>): Promise<Config> {
  const token = await login(service);
  const { status, body } =
    settings === undefined
      ? await call(service, 'getConfig', { token })
      : await call(service, 'updateConfig', { token, json: { settings } });
  expect(status).toBe(200);
  return (body as { data: { attributes: Config } }).data.attributes;
}

const wanted = { 'alerts.window_ms': 7000, 'network.home': ['10.9.0.0/16'] };

test('a stored value is pending, survives kill -9 in the file named by CANDOR_CONFIG, and is active after a restart', async () => {
  const path = join(dataDir, 'candor.yaml');
  writeFileSync(path, '# ours\nalerts:\n  window_ms: 6000 # six seconds\n');
  const env = { CANDOR_CONFIG: path };
  const first = await started(env);
  expect((await config(first, wanted)).pending).toEqual(wanted);
  const settings = { 'tls.cert': join(dataDir, 'none.pem'), 'tls.key': join(dataDir, 'none.pem') };
  const refused = await call(first, 'updateConfig', { token: await login(first), json: { settings } });
  expect([refused.status, refused.body]).toMatchObject([400, { error: { details: { field: 'settings.tls.cert' } } }]);
  await first.kill();
  expect(readFileSync(path, 'utf8')).toBe(
    '# ours\nalerts:\n  window_ms: 7000 # six seconds\nnetwork.home:\n  - 10.9.0.0/16\n',
  );
  const { active, pending, restart_required, settings: described } = await config(await started(env));
  expect(active).toMatchObject(wanted);
  expect([pending, restart_required]).toEqual([{}, false]);
  expect(described.find(({ name }) => name === 'alerts.window_ms')?.source).toBe('file');
});

test('an invalid stored value prevents the start with one line: file, setting, expected value', () => {
  const path = join(dataDir, 'config.json');
  writeFileSync(path, '{"alerts.window_ms": "long"}');
  const root = new URL('../..', import.meta.url).pathname;
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'src/cli/main.ts'), 'start'], {
    env: { PATH: process.env.PATH, CANDOR_DATA_DIR: dataDir, CANDOR_PORT: '0' },
    encoding: 'utf8',
  });
  expect(status).toBe(1);
  expect(stderr.split('\n').filter((line) => line.startsWith('candor: '))).toEqual([
    `candor: alerts.window_ms: got "long" from ${path}, expected an integer from 1000 to 2592000000`,
  ]);
});

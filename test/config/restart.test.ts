/** Settings stored over HTTP, and the start that applies them. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { login, type Service, startService } from '../../scripts/service.ts';
import type { Config } from '../../src/contract/resources/config.ts';
import { call } from '../system/call.ts';

const folder = mkdtempSync(join(tmpdir(), 'candor-restart-'));
const dataDir = join(folder, 'data');
const path = join(folder, 'candor.yaml');
let service: Service;
beforeAll(async () => {
  mkdirSync(dataDir);
  writeFileSync(path, '# ours\nalerts:\n  window_ms: 6000 # six seconds\n');
  await start();
});
afterAll(async () => {
  await service.kill().catch(() => undefined);
  rmSync(folder, { recursive: true, force: true });
});

async function start(): Promise<void> {
  service = await startService({ dataDir, env: { CANDOR_CONFIG: path } });
}

async function config(settings?: Record<string, unknown>): Promise<Config> {
  const token = await login(service);
  const { status, body } =
    settings === undefined
      ? await call(service, 'getConfig', { token })
      : await call(service, 'updateConfig', { token, json: { settings } });
  expect(status).toBe(200);
  return (body as { data: { attributes: Config } }).data.attributes;
}

const wanted = { 'alerts.window_ms': 7000, 'network.home': ['10.9.0.0/16'] };

test('settings that name a missing file, a pipe or a device are refused, and the service keeps running', async () => {
  const token = await login(service);
  const missing = join(folder, 'none.pem');
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  for (const [settings, reason] of [
    [{ 'tls.cert': missing, 'tls.key': missing }, ''],
    [{ 'witness.policy': '/dev/zero' }, 'it is not a file'],
    [{ 'witness.policy': pipe }, 'it is not a file'],
    [{ 'tls.cert': pipe, 'tls.key': pipe }, 'it is not a file'],
    [{ 'tls.cert': '/dev/zero', 'tls.key': '/dev/zero' }, 'it is not a file'],
  ] as const) {
    const { status, body } = await call(service, 'updateConfig', { token, json: { settings } });
    const details = { field: `settings.${Object.keys(settings)[0]}`, reason: expect.stringContaining(reason) };
    expect([status, body]).toMatchObject([400, { error: { details } }]);
  }
  expect((await call(service, 'getHealth')).status).toBe(200);
});

test('a stored value is pending, survives kill -9 in the file named by CANDOR_CONFIG, and is active after a restart', async () => {
  expect((await config(wanted)).pending).toEqual(wanted);
  await service.kill();
  expect(readFileSync(path, 'utf8')).toBe(
    '# ours\nalerts:\n  window_ms: 7000 # six seconds\nnetwork.home:\n  - 10.9.0.0/16\n',
  );
  await start();
  const { active, pending, restart_required, settings: described } = await config();
  expect(active).toMatchObject(wanted);
  expect([pending, restart_required]).toEqual([{}, false]);
  expect(described.find(({ name }) => name === 'alerts.window_ms')?.source).toBe('file');
});

test('an invalid stored value prevents the start with one line: file, setting, expected value', () => {
  const dataDir = join(folder, 'other');
  const path = join(dataDir, 'config.json');
  mkdirSync(dataDir);
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

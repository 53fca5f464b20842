import { chmodSync, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { login, type Service, startService, tokenFor } from '../../scripts/service.ts';
import { connLines } from '../../scripts/traffic/index.ts';

/** Returns the paths of a folder, itself included, that other users may access. */
function openOnes(folder: string): string[] {
  const paths = [folder, ...readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name)))];
  return paths
    .filter((path) => (lstatSync(path).mode & 0o077) !== 0)
    .map((path) => `${(lstatSync(path).mode & 0o777).toString(8)} ${path.slice(folder.length)}`);
}

async function post(service: Service, path: string, token: string, body: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const { status } = await fetch(service.url + path, { method: 'POST', headers, body });
  return status;
}

/** Runs the service with a umask without restrictions. */
const unmasked = ['sh', '-c', 'umask 000; exec "$@"', 'sh'];

test('other users cannot access databases, keys and backups in a data folder, for any umask', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'candor-private-'));
  const dataDir = join(parent, 'data');
  const service = await startService({ dataDir, wrapper: unmasked });
  const admin = await login(service);
  const sensor = await tokenFor(service, 'sensor');
  const lines = [...connLines(3, 500)].map((line) => JSON.parse(line) as unknown);
  expect(await post(service, '/api/v1/ingest', sensor, JSON.stringify(lines))).toBe(200);
  expect(await post(service, '/api/v1/keys/rotate', admin, JSON.stringify({ purpose: 'event-signing' }))).toBeLessThan(
    300,
  );
  expect(await post(service, '/api/v1/backups', admin, '{}')).toBe(202);
  const changed = await fetch(`${service.url}/api/v1/config`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
    body: JSON.stringify({ settings: { 'alerts.window_ms': 60_000 } }),
  });
  expect([changed.status, await changed.text()]).toEqual([200, expect.anything()]);
  const state = async () => {
    const answer = await fetch(`${service.url}/api/v1/backups`, {
      headers: { authorization: `Bearer ${admin}` },
    });
    const { data } = (await answer.json()) as { data: { attributes: { state?: string; status?: string } }[] };
    return data[0]?.attributes.status ?? data[0]?.attributes.state;
  };
  while ((await state()) === 'running') await new Promise((resolve) => setTimeout(resolve, 50));
  expect(openOnes(dataDir)).toEqual([]);
  expect(service.output.join('\n')).not.toContain('other users of this machine');
  expect(await service.stop()).toBe(0);
  expect(openOnes(dataDir)).toEqual([]);
  expect(readdirSync(dataDir).length).toBeGreaterThan(5);

  chmodSync(dataDir, 0o755);
  const again = await startService({ dataDir });
  expect(again.output.join('\n')).toContain('other users of this machine can access it (mode 0755)');
  expect(await again.stop()).toBe(0);
  rmSync(parent, { recursive: true });
});

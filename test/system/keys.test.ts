/**
 * Keys of the running service: encrypted on disk, rotated under load while an auditor checks, and after a
 * kill -9.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { login, type Service, startService, tokenFor } from '../../scripts/service.ts';
import { audit, type Pin } from '../../src/client/auditor.ts';
import { httpLog } from '../../src/client/log-source.ts';
import { call, type Page, send } from './call.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'candor-keys-'));
const passphrase = 'a passphrase of the test';
const purposes = ['transparency-sth', 'event-signing', 'access-token'] as const;
let running: Service | undefined;

afterAll(async () => {
  await running?.kill().catch(() => {});
  rmSync(dataDir, { recursive: true, force: true });
});

async function start(env: Record<string, string> = { CANDOR_KEY_PASSPHRASE: passphrase }): Promise<Service> {
  running = await startService({ dataDir, env });
  return running;
}

async function look(service: Service, pin: Pin | undefined): Promise<Pin> {
  const result = await audit(httpLog(service.url), pin, { now: Date.now(), maxAgeMs: 3600_000 });
  if (!('pin' in result)) throw new Error(JSON.stringify(result));
  return result.pin;
}

const isGood = async (service: Service, token: string) => (await call(service, 'whoAmI', { token })).status === 200;

const alert = (n: number) =>
  JSON.stringify({
    timestamp: '2026-11-20T10:00:00.000000+0000',
    event_type: 'alert',
    src_ip: '10.0.0.1',
    src_port: 1,
    dest_ip: '10.0.0.2',
    dest_port: 2,
    proto: 'TCP',
    alert: { gid: 1, signature_id: n, rev: 1, signature: `Rule ${n}`, severity: 1 },
  });

test('two rotations of each kind under load, followed by a kill, pass an audit and keep all sessions', async () => {
  const service = await start();
  const admin = await login(service);
  const sensor = await tokenFor(service, 'sensor');
  let going = true;
  let made = 0;
  let audits = 0;
  let pin: Pin | undefined;
  const loading = (async () => {
    while (going) {
      await send(service, sensor, Array.from({ length: 5 }, () => alert(made++)).join('\n'));
      // A larger log would only make the audits slower.
      await pause(20);
    }
  })();
  const watching = (async () => {
    while (going) {
      pin = await look(service, pin);
      audits += 1;
    }
  })();
  for (const purpose of [...purposes, ...purposes]) {
    const seen = audits;
    await expect.poll(() => audits, { timeout: 60_000 }).toBeGreaterThan(seen + 1);
    const { status } = await call(service, 'rotateKey', { token: admin, json: { purpose } });
    expect(status).toBe(200);
  }
  going = false;
  await Promise.all([loading, watching]);
  const fresh = await login(service);
  await service.kill();

  const again = await start();
  await look(again, pin && { ...pin, log: again.url }); // the service has another port after the restart
  for (const token of [admin, fresh]) expect(await isGood(again, token)).toBe(true);
  const { data } = (await call(again, 'listKeys', { token: admin, query: 'sort=created_at' })).body as Page;
  for (const purpose of purposes) {
    const states = data
      .filter(({ attributes }) => attributes.purpose === purpose)
      .map(({ attributes }) => attributes.state);
    expect(states).toEqual(['retired', 'retired', 'active']);
  }
  for (const name of readdirSync(join(dataDir, 'keys')))
    expect(JSON.parse(readFileSync(join(dataDir, 'keys', name), 'utf8'))).not.toHaveProperty('d');
  expect(await again.stop()).toBe(0);
});

test.each([{}, { CANDOR_KEY_PASSPHRASE: 'not that passphrase' }])(
  'with %j the service does not start, and gives the reason in one line',
  async (env) => {
    const failed = await start(env).catch((error: Error) => error.message);
    expect(failed).toContain('ended with 1:');
    const said = String(failed)
      .split('\n')
      .filter((line) => line.startsWith('candor: '));
    expect(said).toEqual([expect.stringContaining('CANDOR_KEY_PASSPHRASE')]);
  },
);

/**
 * Sends tokens and passwords to the running service in every possible place, and checks that its outputs do not contain
 * them, and that other users cannot access its files.
 */
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { adminPassword, login, type Service, startService, tokenFor } from '../../scripts/service.ts';
import { connLines } from '../../scripts/traffic/index.ts';
import { createClient } from '../../src/client/client.ts';

const parent = mkdtempSync(join(tmpdir(), 'candor-secrets-'));
const dataDir = join(parent, 'data');
/** Runs the service with a umask without restrictions. */
const unmasked = ['sh', '-c', 'umask 000; exec "$@"', 'sh'];
let service: Service;
beforeAll(async () => {
  service = await startService({
    dataDir,
    wrapper: unmasked,
    env: { CANDOR_LOG_LEVEL: 'trace', CANDOR_KEY_PASSPHRASE: 'a-passphrase-of-keys' },
  });
});
afterAll(async () => {
  // The last test stops the service.
  await service?.kill().catch(() => undefined);
  rmSync(parent, { recursive: true });
});

/** Sends bytes. Resolves after the first data of the response, or after half a second without data. */
function raw(bytes: string): Promise<void> {
  const { hostname, port } = new URL(service.url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.on('data', () => socket.destroy()).on('error', () => undefined);
    socket.setTimeout(500, () => socket.destroy());
    socket.on('close', () => resolve());
  });
}

function open(path: string, options: { headers?: Record<string, string>; protocols?: string[] }): Promise<void> {
  return new Promise((resolve) => {
    const url = service.url.replace('http', 'ws') + path;
    const socket = new WebSocket(url, options.protocols ?? [], { headers: options.headers ?? {} });
    socket.on('open', () => {
      socket.send(JSON.stringify({ type: 'auth', token: options.headers?.authorization ?? options.protocols?.[0] }));
      setTimeout(() => socket.close(), 100);
    });
    socket.on('error', () => undefined).on('close', () => resolve());
  });
}

test('the output at level trace does not contain tokens, passwords or passphrases', async () => {
  const session = await login(service);
  const longLived = await tokenFor(service, 'viewer');
  const answer = await fetch(`${service.url}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password: adminPassword }),
  });
  const { refresh_token: refresh } = (await answer.json()) as { refresh_token: string };
  const madeUp = `candor_018f0000-0000-7000-8000-000000000001_${'Q'.repeat(43)}`;

  for (const token of [session, longLived, refresh, madeUp]) {
    const headers = { authorization: `Bearer ${token}` };
    for (const path of ['/auth/me', '/api/v1/alerts', '/api/v1/tokens', '/nothing', '/health'])
      await fetch(service.url + path, { headers });
    for (const authorization of [token, `Basic ${token}`, `Bearer ${token} ${token}`, `Bearer  ${token}\u00ff`])
      await fetch(`${service.url}/auth/me`, { headers: { authorization } });
    for (const query of [`token=${token}`, `access_token=${token}`, `q=${token}`, `${token}=1`, token, `ip=${token}`])
      await fetch(`${service.url}/api/v1/alerts?${query}`, { headers });
    for (const path of [`/api/v1/alerts/${token}`, `/auth/${token}`, `/${token}`])
      await fetch(service.url + path, { headers });
    for (const [path, json] of [
      ['/auth/refresh', { refresh_token: `${token}x` }],
      ['/auth/login', { username: token, password: token }],
      ['/auth/login', { username: 'admin', password: token, token }],
      ['/api/v1/ingest', { type: token }],
      ['/api/v1/tokens', { name: 1, scopes: [token] }],
    ] as const)
      await fetch(service.url + path, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', 'x-request-id': `\u00e9${token}` },
        body: JSON.stringify(json),
      });
    await fetch(`${service.url}/auth/refresh`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"refresh_token":"${token}`,
    });
    await raw(`GET /auth/me HTTP/1.1\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    await raw(`GET /auth/me HTTP/1.1\r\nHost: x\r\nAuthorization: ${token}\r\nAuthorization: ${token}\r\n\r\n`);
    await raw(`${token} /auth/me HTTP/1.1\r\nHost: x\r\n\r\n`);
    await raw(`${token}\r\n\r\n`);
    await open('/ws', { headers });
    await open('/ws', { protocols: [`bearer.${token}`] });
    await open(`/ws?token=${token}`, {});
    await open(`/api/v1/alerts/stream?access_token=${token}`, { headers });
    await open('/ws', {});
  }
  await fetch(`${service.url}/auth/logout`, {
    method: 'POST',
    headers: { authorization: `Bearer ${session}` },
  });

  const output = service.output.join('\n');
  // Returns the end of a token, because only the end is secret.
  const secretOf = (token: string) => token.slice(-40);
  for (const secret of [
    ...[session, longLived, refresh, madeUp].map(secretOf),
    adminPassword,
    'a-passphrase-of-keys',
  ]) {
    expect(secret.length).toBeGreaterThan(15);
    expect(output.includes(secret)).toBe(false);
  }
  expect(output).toContain('listening');
});

test('a backup does not contain tokens, passwords, passphrases or private keys', async () => {
  const session = await login(service);
  const longLived = await tokenFor(service, 'viewer');
  const client = createClient({ baseUrl: service.url, token: session });
  const { id } = (await client.call('createBackup')).data;
  const ended = async () => (await client.call('getBackup', { params: { backup_id: id } })).data.attributes;
  await vi.waitFor(async () => expect((await ended()).state).toBe('completed'), { timeout: 60_000 });
  const backup = await ended();
  expect(backup.private_keys).toBe('none');

  const keys = join(service.dataDir, 'keys');
  const sealed = readdirSync(keys).map(
    (name) => (JSON.parse(readFileSync(join(keys, name), 'utf8')) as { svc_encrypted: string }).svc_encrypted,
  );
  expect(sealed.length).toBeGreaterThan(3);
  const secrets = [session.slice(-40), longLived.slice(-40), adminPassword, 'a-passphrase-of-keys', ...sealed];
  const files = readdirSync(backup.path!, { recursive: true, withFileTypes: true }).filter((item) => item.isFile());
  expect(files.length).toBeGreaterThan(7);
  for (const file of files) {
    const bytes = readFileSync(join(file.parentPath, file.name));
    for (const secret of secrets) expect(bytes.includes(secret), file.name).toBe(false);
  }
});

/** Returns the paths of a folder, itself included, that other users may access. */
function openOnes(folder: string): string[] {
  const paths = [folder, ...readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name)))];
  return paths
    .filter((path) => (lstatSync(path).mode & 0o077) !== 0)
    .map((path) => `${(lstatSync(path).mode & 0o777).toString(8)} ${path.slice(folder.length)}`);
}

test('other users cannot access databases, keys and backups in a data folder, for any umask', async () => {
  const client = createClient({ baseUrl: service.url, token: await login(service) });
  const body = Array.from(connLines(3, 500)).join('\n');
  const ingested = await fetch(`${service.url}/api/v1/ingest`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await tokenFor(service, 'sensor')}`, 'content-type': 'application/x-ndjson' },
    body,
  });
  expect(ingested.status).toBe(200);
  await client.call('rotateKey', { body: { purpose: 'event-signing' } });
  await client.call('updateConfig', { body: { settings: { 'alerts.window_ms': 60_000 } } });
  expect((await client.call('listBackups')).data).toMatchObject([{ attributes: { state: 'completed' } }]);
  expect(openOnes(dataDir)).toEqual([]);
  expect(service.output.join('\n')).not.toContain('other users of this machine');
  expect(await service.stop()).toBe(0);
  expect(openOnes(dataDir)).toEqual([]);
  expect(readdirSync(dataDir).length).toBeGreaterThan(5);
});

/**
 * Only one process can use a data folder or a port; a stop finishes accepted requests; a restart keeps all
 * data.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminPassword, login, type Service, startService, tokenFor } from '../../scripts/service.ts';
import { inspectStore } from '../../src/store/inspect.ts';
import { call, type Item, list, listAll, ndjson, send } from './call.ts';

const running: Service[] = [];
const parent = mkdtempSync(join(tmpdir(), 'candor-one-'));
afterAll(async () => {
  for (const service of running) await service.kill().catch(() => undefined);
  rmSync(parent, { recursive: true, force: true });
});

async function started(dataDir: string, env: Readonly<Record<string, string>> = {}): Promise<Service> {
  const service = await startService({ dataDir, env });
  running.push(service);
  return service;
}

const conn = (n: number) =>
  `{"ts":${1_763_683_200 + n},"uid":"C${n}","id.orig_h":"10.0.0.1","id.orig_p":1,"id.resp_h":"10.0.0.2","id.resp_p":2,"proto":"tcp","conn_state":"SF"}`;
const conns = (from: number, count: number) => Array.from({ length: count }, (_, n) => conn(from + n)).join('\n');

const root = new URL('../..', import.meta.url).pathname;

/** Runs the command of `npm start` to its end; returns the exit code and the output. */
function runToEnd(env: Readonly<Record<string, string>>): Promise<{ code: number | null; out: string; err: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(root, 'scripts/candor.js'), 'start'], {
      cwd: root,
      env: { ...process.env, CANDOR_HOST: '127.0.0.1', CANDOR_PORT: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text;
    });
    child.once('close', (code) => resolve({ code, out, err }));
  });
}

/** The data folder of processes that are refused; later of the service that receives SIGTERM. */
const other = join(parent, 'other');

describe('a service that generates its password', () => {
  const dataDir = join(parent, 'data');
  const env = { CANDOR_ADMIN_PASSWORD: '' };
  let service: Service;
  let json: { username: string; password: string | undefined };
  let admin: string;
  let sensor: string;
  let viewer: string;

  beforeAll(async () => {
    service = await started(dataDir, env);
  });

  test('shows the password once, not in its log, and other users cannot read keys', async () => {
    const shown = service.output.filter((line) => line.includes('shown this once'));
    expect(shown.length).toBe(1);
    const password = /password (\S+)/.exec(shown[0]!)?.[1];
    json = { username: 'admin', password };
    const session = await call(service, 'login', { json });
    expect(session.status).toBe(200);
    admin = (session.body as { access_token: string }).access_token;
    expect(service.output.filter((line) => line.startsWith('{')).join()).not.toContain(password);
    const keys = join(dataDir, 'keys');
    for (const name of readdirSync(keys)) expect(statSync(join(keys, name)).mode & 0o077).toBe(0);
  });

  test('is not affected by a second process on its data folder or port, which is refused with one clear line', async () => {
    sensor = await issued(service, admin, 'sensor');
    viewer = await issued(service, admin, 'viewer');
    await send(service, sensor, conns(0, 100));
    const onFolder = await runToEnd({ CANDOR_DATA_DIR: dataDir });
    expect(onFolder.code).toBe(1);
    expect(onFolder.err.trim().split('\n')).toEqual([expect.stringContaining(`data folder ${dataDir} is in use`)]);
    expect(onFolder.out).not.toContain('"listening"');
    await send(service, sensor, conns(100, 100));

    const { port } = new URL(service.url);
    const onPort = await runToEnd({ CANDOR_DATA_DIR: other, CANDOR_PORT: port });
    expect(onPort.code).toBe(1);
    expect(onPort.err.trim().split('\n')).toEqual([
      expect.stringContaining(`cannot listen on 127.0.0.1 port ${port}: the port is in use by another process`),
    ]);
    expect(onPort.out).not.toContain('password');
    for (let n = 0; n < 20; n++) expect((await call(service, 'getHealth')).status).toBe(200);
    expect((await list(service, 'listNetworkEvents', viewer, 'per_page=1')).pagination.total).toBe(200);
  });

  test('keeps events, alerts, notes, tokens, sessions, stored responses, the log and the password over a restart', async () => {
    const eve = `{"timestamp":"2025-11-21T00:00:00.000000+0000","flow_id":1,"event_type":"alert","src_ip":"10.0.0.1","src_port":1,"dest_ip":"203.0.113.9","dest_port":80,"proto":"TCP","alert":{"action":"allowed","gid":1,"signature_id":7,"rev":1,"signature":"Rule","category":"Test","severity":1}}`;
    const body = `${conns(200, 100)}\n${eve}`;
    const headers = { 'idempotency-key': 'once' };
    const answer = await send(service, sensor, body, { headers });
    const [alert] = (await list(service, 'listAlerts', viewer)).data;
    const params = [alert!.id];
    await call(service, 'addAlertNote', { token: admin, params, json: { text: 'seen' } });
    await call(service, 'updateAlert', { token: admin, params, json: { status: 'in_progress' } });

    const seen = async () => ({
      events: await listAll(service, 'listNetworkEvents', viewer),
      alert: ((await call(service, 'getAlert', { token: viewer, params })).body as { data: unknown }).data,
      notes: ((await call(service, 'listAlertNotes', { token: viewer, params })).body as { data: unknown }).data,
      head: (await settledHead(service)).body,
      keys: new Set(((await call(service, 'getKeySet')).body as { keys: unknown[] }).keys),
    });
    await settledHead(service);
    const before = await seen();
    expect(before.events.length).toBe(301);
    expect(await service.stop()).toBe(0);

    service = await started(dataDir, env);
    expect(await seen()).toEqual(before);
    expect((await call(service, 'whoAmI', { token: admin })).status).toBe(200);
    expect(await send(service, sensor, body, { headers })).toEqual(answer);
    expect((await list(service, 'listNetworkEvents', viewer, 'per_page=1')).pagination.total).toBe(301);
    const size = (before.head as { tree_size: number }).tree_size;
    expect(service.output.some((line) => line.includes(String(size)) && !line.startsWith('{'))).toBe(true);
    expect(service.output.join('\n')).not.toContain('shown this once');
    expect((await call(service, 'login', { json })).status).toBe(200);
    expect((await call(service, 'login', { json: { ...json, password: adminPassword } })).status).toBe(401);
    expect(await service.stop()).toBe(0);
  });
});

async function issued(service: Service, token: string, scope: 'sensor' | 'viewer'): Promise<string> {
  const { body } = await call(service, 'issueToken', { token, json: { name: scope, scopes: [scope] } });
  return (body as { data: Item }).data.attributes.token as string;
}

// The service runs on the folder of the process whose port was refused.
test('SIGTERM finishes requests in progress, rejects new requests, keeps acknowledged data, and exits with 0', async () => {
  const env = { CANDOR_THREADS_INGEST: '2', CANDOR_THREADS_ANALYTICS: '2' };
  const service = await started(other, env);
  const sensor = await tokenFor(service, 'sensor');
  // The signal arrives after the first half of a body; the second half follows.
  const slow = slowSend(service, sensor, conns(0, 500));
  await slow.half;
  const others = Array.from({ length: 6 }, (_, n) => send(service, sensor, conns(1000 * (n + 1), 500)));
  // After this response all requests have arrived, so the service must complete them.
  await call(service, 'getHealth');
  const stopped = service.stop();
  // New connections are refused. A kept-alive connection may still get a response with Retry-After.
  await expect.poll(() => accepts(service)).toBe(false);
  slow.finish();
  expect(await slow.status).toBe(200);
  const taken = (await Promise.allSettled(others)).filter(({ status }) => status === 'fulfilled').length;
  expect(await stopped).toBe(0);
  expect(service.output.at(-1)).toContain('"stopped"');
  const again = await started(other, env);
  const { pagination } = await list(again, 'listNetworkEvents', await login(again), 'per_page=1');
  expect(pagination.total).toBe(500 + 500 * taken);
  expect(taken).toBe(6);

  // Data acknowledged from memory is stored before the end. The signal follows the last response at once.
  const inMemory = await Promise.all(
    Array.from({ length: 8 }, (_, n) => send(again, sensor, conns(10_000 + 1500 * n, 1500), { query: 'ack=memory' })),
  );
  const ended = again.stop();
  expect(inMemory.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(12_000);
  expect(await ended).toBe(0);
  expect((await inspectStore(other, () => undefined)).events.network).toBe(pagination.total + 12_000);
});

async function accepts({ url }: Service): Promise<boolean> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  return once(socket, 'connect').then(
    () => {
      socket.destroy();
      return true;
    },
    () => false,
  );
}

/** Starts a request whose body pauses half-way until `finish`. */
function slowSend(service: Service, token: string, body: string) {
  const sending = request(`${service.url}/api/v1/ingest`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...ndjson, 'content-length': Buffer.byteLength(body) },
  });
  const status = new Promise<number | undefined>((resolve, reject) => {
    sending.on('response', (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode));
    });
    sending.on('error', reject);
  });
  const middle = body.length >> 1;
  const half = new Promise<void>((resolve) => sending.write(body.slice(0, middle), () => resolve()));
  return { half, status, finish: () => sending.end(body.slice(middle)) };
}

test('a start with an invalid configuration is refused, and names the setting', async () => {
  const { code, err } = await runToEnd({ CANDOR_DATA_DIR: join(parent, 'invalid'), CANDOR_PORT: 'eighty' });
  expect([code, err.trim().split('\n').length]).toEqual([1, 1]);
  expect(err).toContain('port');
});

/**
 * Returns the head once the outbox is empty, because sessions, tokens and alerts are logged in the
 * background.
 */
async function settledHead(service: Service) {
  for (;;) {
    const metrics = (await call(service, 'getMetrics')).body as string;
    if (/^candor_outbox_rows 0$/m.test(metrics)) return call(service, 'getTreeHead');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

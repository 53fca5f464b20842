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
import { afterEach, describe, expect, test } from 'vitest';
import { adminPassword, login, type Service, startService, tokenFor } from '../../scripts/service.ts';
import { call, list, listAll, ndjson, send } from './call.ts';

/** Each test starts the service several times. */
const timeout = 300_000;

const folders: string[] = [];
const running: Service[] = [];
afterEach(async () => {
  for (const service of running.splice(0)) await service.kill().catch(() => undefined);
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'candor-one-'));
  folders.push(folder);
  return folder;
}

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

describe('a second process', () => {
  test('on the same data folder or port is refused with one clear line; the first process is not affected', {
    timeout,
  }, async () => {
    const dataDir = newFolder();
    const first = await started(dataDir);
    const sensor = await tokenFor(first, 'sensor');
    await send(first, sensor, conns(0, 100));
    const onFolder = await runToEnd({ CANDOR_DATA_DIR: dataDir });
    expect(onFolder.code).toBe(1);
    expect(onFolder.err.trim().split('\n')).toEqual([expect.stringContaining(`data folder ${dataDir} is in use`)]);
    expect(onFolder.out).not.toContain('"listening"');
    await send(first, sensor, conns(100, 100));

    const { port } = new URL(first.url);
    const other = newFolder();
    const onPort = await runToEnd({ CANDOR_DATA_DIR: other, CANDOR_PORT: port });
    expect(onPort.code).toBe(1);
    expect(onPort.err.trim().split('\n')).toEqual([
      expect.stringContaining(`cannot listen on 127.0.0.1 port ${port}: the port is in use by another process`),
    ]);
    expect(onPort.out).not.toContain('password');
    for (let n = 0; n < 20; n++) expect((await call(first, 'getHealth')).status).toBe(200);
    const total = async (service: Service) =>
      (await list(service, 'listNetworkEvents', await login(service), 'per_page=1')).pagination.total;
    expect(await total(first)).toBe(200);

    // The data folder of the process whose port was refused can be used afterwards.
    const third = await started(other);
    expect((await call(third, 'getHealth')).status).toBe(200);
    expect(await third.stop()).toBe(0);
    expect(await first.stop()).toBe(0);

    const again = await started(dataDir);
    expect(await total(again)).toBe(200);
    // A start right after a kill succeeds.
    await again.kill();
    const last = await started(dataDir);
    expect((await call(last, 'getHealth')).status).toBe(200);
    expect(await last.stop()).toBe(0);
  });
});

describe('SIGTERM', () => {
  test('finishes requests in progress, rejects new requests, keeps acknowledged data, and exits with 0', {
    timeout,
  }, async () => {
    const dataDir = newFolder();
    const env = { CANDOR_THREADS_INGEST: '2', CANDOR_THREADS_ANALYTICS: '2' };
    const service = await started(dataDir, env);
    const sensor = await tokenFor(service, 'sensor');
    // The signal arrives after the first half of a body; the second half follows.
    const slow = slowSend(service, sensor, conns(0, 500));
    await slow.half;
    const others = Array.from({ length: 6 }, (_, n) => send(service, sensor, conns(1000 * (n + 1), 1000)));
    // After this response all requests have arrived, so the service must complete them.
    await call(service, 'getHealth');
    const stopped = service.stop();
    await new Promise((resolve) => setTimeout(resolve, 200));
    // New connections are refused. A kept-alive connection may still get a response with Retry-After.
    await expect(once(connect(Number(new URL(service.url).port), '127.0.0.1'), 'connect')).rejects.toThrow();
    slow.finish();
    expect(await slow.status).toBe(200);
    const taken = (await Promise.allSettled(others)).filter(({ status }) => status === 'fulfilled').length;
    expect(await stopped).toBe(0);
    expect(service.output.at(-1)).toContain('"stopped"');
    const again = await started(dataDir, env);
    const { pagination } = await list(again, 'listNetworkEvents', await login(again), 'per_page=1');
    expect(pagination.total).toBe(500 + 1000 * taken);
    expect(taken).toBe(6);

    // Data acknowledged from memory is stored before the end.
    const sent = await Promise.all(
      Array.from({ length: 8 }, (_, n) => send(again, sensor, conns(10_000 + 3000 * n, 3000), { query: 'ack=memory' })),
    );
    const ended = again.stop();
    expect(sent.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(24_000);
    expect(await ended).toBe(0);
    const last = await started(dataDir);
    expect((await list(last, 'listNetworkEvents', await login(last), 'per_page=1')).pagination.total).toBe(
      pagination.total + 24_000,
    );
    expect(await last.stop()).toBe(0);
  });
});

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

describe('a restart', () => {
  test('keeps events, alerts, notes, tokens, sessions, stored responses and the log', async () => {
    const dataDir = newFolder();
    const first = await started(dataDir);
    const [sensor, viewer, admin] = [
      await tokenFor(first, 'sensor'),
      await tokenFor(first, 'viewer'),
      await login(first),
    ];
    const eve = `{"timestamp":"2025-11-21T00:00:00.000000+0000","flow_id":1,"event_type":"alert","src_ip":"10.0.0.1","src_port":1,"dest_ip":"203.0.113.9","dest_port":80,"proto":"TCP","alert":{"action":"allowed","gid":1,"signature_id":7,"rev":1,"signature":"Rule","category":"Test","severity":1}}`;
    const body = `${conns(0, 300)}\n${eve}`;
    const headers = { 'idempotency-key': 'once' };
    const answer = await send(first, sensor, body, { headers });
    const [alert] = (await list(first, 'listAlerts', viewer)).data;
    const params = [alert!.id];
    await call(first, 'addAlertNote', { token: admin, params, json: { text: 'seen' } });
    await call(first, 'updateAlert', { token: admin, params, json: { status: 'in_progress' } });

    const seen = async (service: Service) => ({
      events: await listAll(service, 'listNetworkEvents', viewer),
      alert: ((await call(service, 'getAlert', { token: viewer, params })).body as { data: unknown }).data,
      notes: ((await call(service, 'listAlertNotes', { token: viewer, params })).body as { data: unknown }).data,
      head: (await settledHead(service)).body,
      keys: new Set(((await call(service, 'getKeySet')).body as { keys: unknown[] }).keys),
    });
    await settledHead(first);
    const before = await seen(first);
    expect(before.events.length).toBe(301);
    expect(await first.stop()).toBe(0);

    const second = await started(dataDir);
    expect(await seen(second)).toEqual(before);
    expect((await call(second, 'whoAmI', { token: admin })).status).toBe(200);
    expect(await send(second, sensor, body, { headers })).toEqual(answer);
    expect((await list(second, 'listNetworkEvents', viewer, 'per_page=1')).pagination.total).toBe(301);
    const size = (before.head as { tree_size: number }).tree_size;
    expect(second.output.some((line) => line.includes(String(size)) && !line.startsWith('{'))).toBe(true);
    expect(await second.stop()).toBe(0);
  });

  test('shows the generated password on the first start only, and other users cannot read keys', async () => {
    const dataDir = newFolder();
    const first = await started(dataDir, { CANDOR_ADMIN_PASSWORD: '' });
    const shown = first.output.filter((line) => line.includes('shown this once'));
    expect(shown.length).toBe(1);
    const password = /password (\S+)/.exec(shown[0]!)?.[1];
    const json = { username: 'admin', password };
    expect((await call(first, 'login', { json })).status).toBe(200);
    expect(first.output.filter((line) => line.startsWith('{')).join()).not.toContain(password);
    const keys = join(dataDir, 'keys');
    for (const name of readdirSync(keys)) expect(statSync(join(keys, name)).mode & 0o077).toBe(0);
    expect(await first.stop()).toBe(0);

    const second = await started(dataDir, { CANDOR_ADMIN_PASSWORD: '' });
    expect(second.output.join('\n')).not.toContain('shown this once');
    expect((await call(second, 'login', { json })).status).toBe(200);
    expect((await call(second, 'login', { json: { ...json, password: adminPassword } })).status).toBe(401);
    expect(await second.stop()).toBe(0);
  });

  test('with an invalid configuration is refused, and names the setting', async () => {
    const { code, err } = await runToEnd({ CANDOR_DATA_DIR: newFolder(), CANDOR_PORT: 'eighty' });
    expect([code, err.trim().split('\n').length]).toEqual([1, 1]);
    expect(err).toContain('port');
  });
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

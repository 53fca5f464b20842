/**
 * Clients abort exports over TLS at random points, hundreds of times, while other exports complete. The
 * service releases the connections, export slots and memory, and continues to serve requests.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminPassword, rssAnonMiB, type Service, startService } from '../../scripts/service.ts';
import { random } from '../../scripts/traffic/random.ts';
import { Authority, temporaryFolder, withoutOpenssl } from '../http/tls-certificates.ts';
import { callTls, type TlsCall } from '../http/tls-client.ts';
import { flows } from './shipper.ts';

const stored = 4000;
const perRound = 100;
const atOnce = 8;
const codings = ['identity', 'gzip', 'br', 'zstd'];
const types = ['application/x-ndjson', 'application/vnd.apache.arrow.stream'];
const paths = ['/api/v1/events/network', '/api/v1/alerts/export', '/api/v1/assets'];

if (withoutOpenssl !== undefined) console.warn(`skipped: ${withoutOpenssl}`);

describe.skipIf(withoutOpenssl !== undefined)('aborted exports over TLS', () => {
  const folder = temporaryFolder();
  let service: Service;
  let ca: Buffer;
  let port: number;
  let admin: string;
  const viewers: string[] = [];

  const ask = (path: string, options: TlsCall = {}) => callTls(port, path, { ca, ...options });
  const post = async (path: string, json: object, token = admin): Promise<unknown> => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const { body } = await ask(path, { method: 'POST', headers, send: JSON.stringify(json) });
    return JSON.parse(body);
  };

  beforeAll(async () => {
    const authority = Authority.root(folder.path, 'root');
    const server = authority.server('server');
    ca = readFileSync(authority.pair.cert);
    service = await startService({
      dataDir: join(folder.path, 'data'),
      env: { CANDOR_TLS_CERT: server.cert, CANDOR_TLS_KEY: server.key },
    });
    port = Number(new URL(service.url).port);
    const session = await post('/auth/login', { username: 'admin', password: adminPassword }, 'none');
    admin = (session as { access_token: string }).access_token;
    for (let n = 0; n < 4; n++) {
      const principal = { name: `viewer-${n}`, kind: 'auditor_client', roles: ['viewer'] };
      const made = (await post('/api/v1/principals', principal)) as { data: { id: string } };
      const token = { name: 'export', principal_id: made.data.id, scopes: ['viewer'] };
      const issued = (await post('/api/v1/tokens', token)) as { data: { attributes: { token: string } } };
      viewers.push(issued.data.attributes.token);
    }
    const alerts = Array.from({ length: 300 }, (_, n) =>
      JSON.stringify({
        ...{ timestamp: '2026-01-01T00:00:00.000000+0000', event_type: 'alert', proto: 'TCP' },
        ...{ src_ip: `10.0.${n % 250}.1`, src_port: 1, dest_ip: '203.0.113.9', dest_port: 80 },
        alert: { action: 'allowed', gid: 1, rev: 1, signature_id: n, signature: `Rule ${n}`, severity: 3 },
      }),
    );
    const sensor = (await post('/api/v1/tokens', { name: 'sensor', scopes: ['sensor'] })) as {
      data: { attributes: { token: string } };
    };
    const headers = {
      'content-type': 'application/x-ndjson',
      authorization: `Bearer ${sensor.data.attributes.token}`,
    };
    const sent = await ask('/api/v1/ingest', {
      ...{ method: 'POST', headers },
      send: flows('flow', stored) + alerts.join('\n'),
    });
    expect(sent.status).toBe(200);
  });
  afterAll(async () => {
    expect(await service.stop()).toBe(0);
    folder.remove();
    expect(service.output.filter((line) => /"level":[56]0/.test(line))).toEqual([]);
  });

  async function open(): Promise<{ readonly raw: Socket; readonly socket: TLSSocket }> {
    const raw = connect({ port, host: '127.0.0.1' });
    raw.on('error', () => undefined);
    await once(raw, 'connect');
    const socket = connectTls({ socket: raw, host: '127.0.0.1', ca });
    socket.on('error', () => undefined);
    await once(socket, 'secureConnect');
    return { raw, socket };
  }

  const gauge = async (name: string): Promise<number> =>
    Number(new RegExp(`^${name} (\\S+)$`, 'm').exec((await ask('/metrics')).body)?.[1]);

  const met: Record<string, number> = {};
  const rng = random(5);
  const one = <T>(from: readonly T[]): T => from[Math.floor(rng.next() * from.length)]!;

  /** Disconnects after a random part of a response, or before the response begins. */
  async function breakOff(): Promise<void> {
    const [path, type, coding, viewer] = [one(paths), one(types), one(codings), one(viewers)];
    const left = Math.floor(rng.next() ** 4 * (coding === 'identity' ? 2_500_000 : 150_000));
    const isReset = rng.next() < 0.5;
    const waitMs = rng.next() < 0.2 ? rng.next() * 10 : undefined;
    const { raw, socket } = await open();
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: x\r\nAccept: ${path.endsWith('export') ? '*/*' : type}\r\n` +
        `Accept-Encoding: ${coding}\r\nAuthorization: Bearer ${viewer}\r\n\r\n`,
    );
    let received = 0;
    await new Promise<void>((resolve) => {
      if (waitMs !== undefined) setTimeout(resolve, waitMs);
      socket.on('data', (bytes: Buffer) => {
        if (received === 0) {
          const status = bytes.subarray(9, 12).toString('latin1');
          met[status] = (met[status] ?? 0) + 1;
        }
        received += bytes.length;
        if (received >= left || bytes.subarray(-5).equals(end) || bytes.includes('HTTP/1.1 4')) resolve();
      });
      socket.once('close', resolve);
    });
    if (isReset) raw.resetAndDestroy();
    else socket.destroy();
  }
  const end = Buffer.from('0\r\n\r\n');

  async function breakOffMany(count: number): Promise<void> {
    let left = count;
    const work = async () => {
      while (left-- > 0) await breakOff();
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  }

  async function wholeExport(token: string): Promise<number> {
    const headers = { accept: 'application/x-ndjson', authorization: `Bearer ${token}` };
    for (;;) {
      const { status, body } = await ask('/api/v1/events/network', { headers });
      if (status === 200) return body.split('\n').length - 1;
      expect([429, 503]).toContain(status);
      await pause(50);
    }
  }

  test('release their connections, export slots and memory', async () => {
    const idle = async () => {
      while ((await gauge('candor_http_requests_in_flight')) > 1) await pause(20);
      // The connection of the metrics request itself remains.
      while ((await gauge('candor_http_connections')) > 1) await pause(20);
      expect(await gauge('candor_http_unsent_bytes')).toBe(0);
    };
    const rss: number[] = [];
    const whole = await wholeExport(viewers[0]!);
    expect(whole).toBeGreaterThanOrEqual(stored);
    for (let round = 0; round < 2; round++) {
      const [lines] = await Promise.all([wholeExport(one(viewers)), breakOffMany(perRound)]);
      expect(lines).toBe(whole);
      await idle();
      rss.push(rssAnonMiB(service.pid));
    }
    for (const viewer of viewers) expect(await wholeExport(viewer)).toBe(whole);
    expect(service.peakRssAnonMiB()).toBeLessThan(600);
    expect(rss[1]! - rss[0]!).toBeLessThan(80);
    expect(met['200']).toBeGreaterThan(perRound);
  });
});

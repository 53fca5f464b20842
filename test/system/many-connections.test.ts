/**
 * Ten thousand concurrent connections from many addresses, while two hundred senders send; then two thousand of
 * the connections send at the same time. Then more than a thousand WebSockets.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { login, type Service, startService, tokenFor } from '../../scripts/service.ts';
import { descriptorLimit } from '../../src/admission/descriptors.ts';
import { limits } from '../../src/limits.ts';
import { call, list } from './call.ts';
import { ownToken } from './own-principal.ts';
import { type Met, type Shipment, ship, shipment, storedUids, uidsOf } from './shipper.ts';

const connections = 10_000;
const senders = 200;
/** Number of connections that send at the same time. */
const atOnce = 2000;
const subscribers = 1500;
/** Each address uses its limit of connections, less a reserve for other connections. */
const addresses = Math.ceil(connections / (limits.maxConnectionsPerAddress - 500));
const addressOf = (n: number) => `127.0.1.${1 + (n % addresses)}`;
/** The limit applies to the service and to this process, which has the client side of each connection. */
const mayOpen = (descriptorLimit() ?? 0) >= connections + senders + limits.reservedDescriptors + 500;

describe.skipIf(!mayOpen)(`${connections} connections`, () => {
  const met: Met = {};
  const sent: Shipment[] = [];
  const lines: Line[] = [];
  const agents = Array.from({ length: senders }, () => new Agent({ keepAlive: true }));
  let service: Service;
  let sensors: string[];
  let viewer: string;

  beforeAll(async () => {
    service = await startService({ env: { CANDOR_THREADS_INGEST: '2', CANDOR_THREADS_ANALYTICS: '2' } });
    const admin = await login(service);
    sensors = await Promise.all(Array.from({ length: 4 }, () => ownToken(service, admin, 'sensor')));
    viewer = await tokenFor(service, 'viewer');
  });
  afterAll(async () => {
    for (const line of lines) line.end();
    for (const agent of agents) agent.destroy();
    expect(await service.stop()).toBe(0);
    expect(service.output.filter((line) => /"level":[456]0/.test(line))).toEqual([]);
  });

  test('are kept, each with less than 10 kB, while two hundred senders are served', async () => {
    const before = rssAnonBytes(service.pid);
    const port = Number(new URL(service.url).port);
    for (let n = 0; n < connections; n += 500) {
      const some = Array.from({ length: 500 }, (_, i) => Line.open(port, addressOf(n + i)));
      lines.push(...(await Promise.all(some)));
    }
    expect(await gauge(service, 'candor_http_connections')).toBeGreaterThanOrEqual(connections);
    expect((rssAnonBytes(service.pid) - before) / connections).toBeLessThan(10_000);

    const bodies = Array.from({ length: senders }, (_, n) => shipment(`beside-${n}`, 20));
    sent.push(...bodies);
    await Promise.all(
      bodies.map((body, n) =>
        ship(service.url, sensors[n % 4]!, body, met, { agent: agents[n]!, localAddress: '127.0.2.1' }),
      ),
    );
    expect((await call(service, 'getHealth')).status).toBe(200);
    expect((await list(service, 'listNetworkEvents', viewer, 'per_page=1')).pagination.total).toBe(20 * senders);
  });

  test('deliver bodies that many of them send at the same time, immediately or after retries', async () => {
    await Promise.all(
      lines.slice(0, atOnce).map(async (line, n) => {
        const one = shipment(`line-${n}`, 1);
        sent.push(one);
        await line.ship(sensors[n % 4]!, one, met);
      }),
    );
    expect(met['200']).toBe(sent.length);
    expect(Object.keys(met).filter((what) => !['200', '429', '503', 'cut'].includes(what))).toEqual([]);
    expect(service.peakRssAnonMiB()).toBeLessThan(800);
    const uids = await storedUids(service, viewer);
    expect(uids).toEqual(uidsOf(sent));
  });

  test(`include ${subscribers} subscribers that receive new events, and release all resources when disconnected`, async () => {
    for (const line of lines.splice(0)) line.end();
    const sockets = Array.from(
      { length: subscribers },
      (_, n) =>
        new WebSocket(`${service.url.replace('http', 'ws')}/api/v1/events/network/stream`, {
          headers: { authorization: `Bearer ${viewer}` },
          localAddress: addressOf(n),
        }),
    );
    const messages = (socket: WebSocket, type: string) =>
      new Promise<void>((resolve, reject) => {
        socket.on('error', reject).on('close', (code) => reject(new Error(`closed with ${code}`)));
        socket.on('message', (data) => {
          if (JSON.parse(String(data)).type === type) resolve();
        });
      });
    await Promise.all(sockets.map((socket) => messages(socket, 'subscribed')));
    expect(await gauge(service, 'candor_sockets')).toBe(subscribers);
    const heard = Promise.all(sockets.map((socket) => messages(socket, 'event')));
    await ship(service.url, sensors[0]!, shipment('live', 1), {}, { agent: agents[0]! });
    await heard;
    for (const socket of sockets) socket.removeAllListeners('close').terminate();
    while ((await gauge(service, 'candor_sockets')) > 0) await pause(50);
    while ((await gauge(service, 'candor_http_connections')) > senders + 20) await pause(50);
  });
});

/** A persistent connection that sends on request, and is reopened if the service closed it as idle. */
class Line {
  readonly #port: number;
  readonly #from: string;
  #socket: Socket;

  private constructor(port: number, from: string) {
    this.#port = port;
    this.#from = from;
    this.#socket = this.#connect();
  }

  static async open(port: number, from: string): Promise<Line> {
    const line = new Line(port, from);
    await once(line.#socket, 'connect');
    return line;
  }

  #connect(): Socket {
    const socket = connect({ port: this.#port, host: '127.0.0.1', localAddress: this.#from });
    return socket.setEncoding('latin1').on('error', () => undefined);
  }

  async ship(token: string, { key, body }: Shipment, met: Met): Promise<void> {
    const request = `POST /api/v1/ingest HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/x-ndjson\r\nIdempotency-Key: ${key}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    for (;;) {
      if (this.#socket.closed || this.#socket.destroyed) this.#socket = this.#connect();
      this.#socket.write(request);
      const answer = await this.#answer();
      const status = answer?.slice(9, 12) ?? 'cut';
      met[status] = (met[status] ?? 0) + 1;
      if (status === '200') return;
      const after = /retry-after: (\d+)/i.exec(answer ?? '')?.[1];
      if (answer !== undefined && after === undefined) throw new Error(answer);
      await pause(1000 * Number(after ?? 1) * (0.5 + 4 * Math.random()));
    }
  }

  /** Returns the response; undefined if the connection was closed. */
  #answer(): Promise<string | undefined> {
    const socket = this.#socket;
    let text = '';
    return new Promise((resolve) => {
      const end = (answer: string | undefined) => {
        socket.off('data', take).off('close', cut);
        resolve(answer);
      };
      const cut = () => end(undefined);
      const take = (more: string) => {
        text += more;
        const head = text.indexOf('\r\n\r\n');
        const length = /content-length: (\d+)/i.exec(text)?.[1];
        if (head >= 0 && text.length >= head + 4 + Number(length)) end(text);
      };
      socket.on('data', take).on('close', cut);
    });
  }

  end(): void {
    this.#socket.destroy();
  }
}

async function gauge(service: Service, name: string): Promise<number> {
  const { body } = await call(service, 'getMetrics');
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(String(body))?.[1]);
}

function rssAnonBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return 1024 * Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]);
}

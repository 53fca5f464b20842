/** A process with a low limit of file descriptors (a real `ulimit -n`), and more clients than descriptors. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { login, type Service, startService, tokenFor } from '../../scripts/service.ts';
import { call } from './call.ts';
import { ship, shipment, storedUids, uidsOf } from './shipper.ts';

const descriptors = 256;

describe.skipIf(process.platform !== 'linux')(`a service with a limit of ${descriptors} descriptors`, () => {
  let service: Service;
  let sensor: string;
  let viewer: string;
  const open: Socket[] = [];

  beforeAll(async () => {
    const wrapper = ['sh', '-c', `ulimit -n ${descriptors} && exec "$@"`, 'sh'];
    service = await startService({ wrapper });
    sensor = await tokenFor(service, 'sensor');
    viewer = await tokenFor(service, 'viewer');
  });
  afterAll(async () => {
    for (const socket of open) socket.destroy();
    expect(await service.stop()).toBe(0);
  });

  const logged = (pattern: RegExp) =>
    service.output
      .filter((line) => line.startsWith('{') && pattern.test(line))
      .map((line) => JSON.parse(line) as { level: number; msg: string });

  test('reports at its start how many connections the limit allows', () => {
    expect(logged(/file descriptors/)).toMatchObject([{ level: 40, descriptors }]);
  });

  const connectOne = (): Socket => {
    const socket = connect({ port: Number(new URL(service.url).port), host: '127.0.0.1' });
    open.push(socket.on('error', () => undefined));
    return socket;
  };
  const used = () => readdirSync(`/proc/${service.pid}/fd`).length;

  test('reserves descriptors for itself for any number of connections, and logs that it refuses connections', async () => {
    let closed = 0;
    for (let n = 0; n < 2 * descriptors; n++) connectOne().on('close', () => closed++);
    while (closed < descriptors || logged(/refusing connections/).length === 0) await pause(20);
    expect(used()).toBeLessThan(descriptors - 50);
    const refusals = logged(/refusing connections/);
    expect(refusals.map(({ level }) => level)).toEqual([40]);

    // Refused clients keep retrying; connections left waiting for an accept would keep the thread busy.
    const before = cpuTicks(service.pid);
    await pause(2000);
    expect(cpuTicks(service.pid) - before).toBeLessThan(100);
  });

  test('accepts events again as soon as there is room', async () => {
    for (const socket of open.splice(0)) socket.destroy();
    await ship(service.url, sensor, shipment('again', 10));
    expect((await call(service, 'getHealth')).status).toBe(200);
    expect(logged(/"level":(50|60)/)).toEqual([]);
  });

  test('keeps its limit if each connection sends a request without a route, and then another request', async () => {
    const packet = ['BREW', 'GET'].map((method) => `${method} / HTTP/1.1\r\nHost: x\r\n\r\n`).join('');
    for (let n = 0; n < 2 * descriptors; n++) {
      const socket = connectOne();
      socket.write(packet);
      await new Promise((resolve) => socket.once('data', resolve).once('close', resolve));
    }
    expect(used()).toBeLessThan(descriptors - 50);
    for (const socket of open.splice(0)) socket.destroy();
    await ship(service.url, sensor, shipment('behind', 10));
  });

  test('stores events and rejects unlogged changes while no descriptor is free, and recovers afterwards', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const admin = await login(service);
    const create = async (name: string) => {
      const json = { name, kind: 'sensor', roles: ['sensor'] };
      return (await call(service, 'createPrincipal', { token: admin, json })).status;
    };
    const bodies = Array.from({ length: 5 }, (_, n) => shipment(`without-${n}`, 20));
    await ship(service.url, sensor, bodies[0]!, {}, { agent });
    limitTo(service.pid, 10);
    // The first changes may succeed, until the log fails to anchor a head; later changes are rejected.
    let status = 201;
    for (let n = 0; status === 201; n++) status = await create(`unlogged ${n}`);
    expect(status).toBe(503);
    for (const body of bodies.slice(1)) await ship(service.url, sensor, body, {}, { agent });
    limitTo(service.pid, descriptors);
    while ((await create('logged')) !== 201) await pause(100);
    expect((await call(service, 'getHealth')).body).toMatchObject({ status: 'ok', ledger: 'ok' });
    const sent = [...bodies, shipment('again', 10), shipment('behind', 10)];
    expect(await storedUids(service, viewer)).toEqual(uidsOf(sent));
    agent.destroy();
  });
});

/** Changes the limit of a running process; its open descriptors stay open. */
function limitTo(pid: number, descriptors: number): void {
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${descriptors}:`]);
}

/** Returns CPU time of the whole process, user and system, in hundredths of a second (proc_pid_stat(5)). */
function cpuTicks(pid: number): number {
  const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const fields = rest.split(' ').map(Number);
  return fields[11]! + fields[12]!;
}

/** A process that may have few file descriptors, and more clients than that: `ulimit -n` is lowered for real. */
import { readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Service, startService, tokenFor } from '../../scripts/service.ts';
import { call } from './call.ts';
import { ship, shipment } from './shipper.ts';

const descriptors = 256;

describe.skipIf(process.platform !== 'linux')(`a service that may have ${descriptors} descriptors`, () => {
  let service: Service;
  let sensor: string;
  const open: Socket[] = [];

  beforeAll(async () => {
    const wrapper = ['sh', '-c', `ulimit -n ${descriptors} && exec "$@"`, 'sh'];
    service = await startService({ wrapper });
    sensor = await tokenFor(service, 'sensor');
  });
  afterAll(async () => {
    for (const socket of open) socket.destroy();
    expect(await service.stop()).toBe(0);
  });

  const logged = (pattern: RegExp) =>
    service.output
      .filter((line) => line.startsWith('{') && pattern.test(line))
      .map((line) => JSON.parse(line) as { level: number; msg: string });

  test('says at its start how many connections that makes', () => {
    expect(logged(/file descriptors/)).toMatchObject([{ level: 40, descriptors }]);
  });

  test('keeps some of them for itself, however many connect, and says that it refuses', async () => {
    const port = Number(new URL(service.url).port);
    let closed = 0;
    for (let n = 0; n < 2 * descriptors; n++) {
      const socket = connect({ port, host: '127.0.0.1' });
      socket.on('error', () => undefined).on('close', () => closed++);
      open.push(socket);
    }
    while (closed < descriptors) await pause(20);
    const used = readdirSync(`/proc/${service.pid}/fd`).length;
    expect(used).toBeLessThan(descriptors - 50);
    const refusals = logged(/connections are refused/);
    expect(refusals.map(({ level }) => level)).toEqual([40]);

    // Whoever is refused tries again and again; those who wait for an accept would keep the thread awake.
    const before = cpuTicks(service.pid);
    await pause(2000);
    expect(cpuTicks(service.pid) - before).toBeLessThan(100);
  });

  test('takes events again as soon as there is room', async () => {
    for (const socket of open.splice(0)) socket.destroy();
    await ship(service.url, sensor, shipment('again', 10));
    expect((await call(service, 'getHealth')).status).toBe(200);
    expect(logged(/"level":(50|60)/)).toEqual([]);
  });
});

/** Of the whole process, user and system, in hundredths of a second (proc_pid_stat(5)). */
function cpuTicks(pid: number): number {
  const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const fields = rest.split(' ').map(Number);
  return fields[11]! + fields[12]!;
}

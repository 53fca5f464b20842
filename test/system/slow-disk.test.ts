/**
 * A disk on which each write takes 10 ms longer and each flush half a second, with more senders than the
 * service can buffer; then the disk is fast again. The service does not need a restart.
 */
import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { login, type Service, startService, tokenFor } from '../../scripts/service.ts';
import { call, list } from './call.ts';
import { FaultyDisk, maySpoilDisks } from './faulty-disk.ts';
import { ownToken } from './own-principal.ts';
import { type Met, type Shipment, sendOnce, ship, shipment, storedUids, uidsOf } from './shipper.ts';

/** Events per body. A body has about 20 kB, so a dozen bodies fit. */
const bodyEvents = 125;
const inFlightBytes = 2 ** 18;
const slowness = { write: 10, flush: 500 };

describe.skipIf(!maySpoilDisks())('a slow disk', () => {
  const agent = new Agent({ keepAlive: true });
  const met: Met = {};
  const sent: Shipment[] = [];
  let disk: FaultyDisk;
  let service: Service;
  let sensors: string[];
  let viewer: string;

  beforeAll(async () => {
    disk = new FaultyDisk();
    const env = { ...disk.env, CANDOR_LIMITS_MAX_INGEST_IN_FLIGHT_BYTES: String(inFlightBytes) };
    service = await startService({ dataDir: disk.dataDir, env });
    const admin = await login(service);
    sensors = [await ownToken(service, admin, 'sensor'), await ownToken(service, admin, 'sensor')];
    viewer = await tokenFor(service, 'viewer');
  });
  afterAll(async () => {
    agent.destroy();
    disk.quick();
    expect(await service.stop()).toBe(0);
    disk.remove();
  });

  test('senders wait or retry, and other requests are served; finally all bodies are stored once', async () => {
    disk.slow(slowness);
    const flushes = disk.flushes;
    let isSlow = true;
    const sender = async (n: number): Promise<void> => {
      while (isSlow) {
        const next = shipment(`slow-${sent.length}`, bodyEvents);
        sent.push(next);
        await ship(service.url, sensors[n % 2]!, next, met, { agent });
      }
    };
    const senders = Promise.all(Array.from({ length: 40 }, (_, n) => sender(n)));
    const looks: [number, number][] = [];
    const refused = () => (met['429'] ?? 0) + (met['503'] ?? 0);
    while ((met['200'] ?? 0) < 40 || refused() < 40) {
      const [health, page] = await Promise.all([
        call(service, 'getHealth'),
        list(service, 'listNetworkEvents', viewer, 'per_page=10'),
      ]);
      looks.push([health.status, page.data.length]);
      await Promise.race([senders, pause(200)]);
    }
    isSlow = false;
    disk.quick();
    await senders;
    expect(disk.flushes).toBeGreaterThan(flushes + 4);
    expect(new Set(looks.map(([health]) => health))).toEqual(new Set([200]));
    expect(looks.at(-1)?.[1]).toBe(10);
    // No connection failed, and every refusal had a Retry-After: `ship` requires it.
    expect(Object.keys(met).filter((what) => !['200', '429', '503'].includes(what))).toEqual([]);
    expect(met['200']).toBe(sent.length);
    expect(await storedUids(service, viewer)).toEqual(uidsOf(sent));
    expect(service.peakRssAnonMiB()).toBeLessThan(500);
    expect(service.output.filter((line) => /"level":[456]0/.test(line))).toEqual([]);
  });

  test('the memory of bodies is released, and the service accepts as much as before', async () => {
    expect(await gauge(service, 'candor_ingest_body_bytes')).toBe(0);
    const more = Array.from({ length: 12 }, (_, n) => shipment(`quick-${n}`, bodyEvents));
    const quick: Met = {};
    for (const next of more) await ship(service.url, sensors[0]!, next, quick, { agent });
    expect(quick).toEqual({ '200': more.length });
  });

  test('a body is stored once when it is sent again after a lost response, or sent twice at the same time', async () => {
    disk.slow(slowness);
    const impatient = shipment('impatient', 50);
    await expect(sendOnce(service.url, sensors[0]!, impatient, { giveUpMs: 200 })).rejects.toThrow();
    const again = () => ship(service.url, sensors[0]!, impatient, {}, { agent });
    await Promise.all([again(), again()]);
    disk.quick();
    const { pagination } = await list(service, 'listNetworkEvents', viewer, 'q=impatient-7');
    expect(pagination.total).toBe(1);
  });
});

async function gauge(service: Service, name: string): Promise<number> {
  const { body } = await call(service, 'getMetrics');
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(String(body))?.[1]);
}

/**
 * A write or a flush of a database fails with EIO: the process ends with a notice, and the next process
 * continues with all acknowledged data. A request that was being written is not answered, so its sender
 * repeats it.
 */
import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { type Service, startService, tokenFor } from '../../scripts/service.ts';
import { failedWriteNotice } from '../../src/database/failed-write.ts';
import { call, listAll } from './call.ts';
import { FaultyDisk, maySpoilDisks } from './faulty-disk.ts';
import { type Met, type Shipment, ship, shipment, storedUids, uidsOf } from './shipper.ts';

/** Several senders to one service. The service may be replaced while they send. */
class Load {
  readonly sent: Shipment[] = [];
  readonly met: Met = {};
  readonly #agent = new Agent({ keepAlive: true });
  readonly #senders: Promise<unknown>;
  #url: string;
  #goesOn = true;

  constructor(service: Service, token: string, next: (n: number) => Shipment) {
    this.#url = service.url;
    const sender = async (): Promise<void> => {
      while (this.#goesOn) {
        const one = next(this.sent.length);
        this.sent.push(one);
        await ship(() => this.#url, token, one, this.met, { agent: this.#agent });
      }
    };
    this.#senders = Promise.all(Array.from({ length: 6 }, sender));
  }

  goTo(service: Service): void {
    this.#url = service.url;
  }

  /** Waits until this number of further bodies is acknowledged. Rejects if a sender fails. */
  async acknowledged(more: number): Promise<void> {
    const wanted = (this.met['200'] ?? 0) + more;
    while ((this.met['200'] ?? 0) < wanted) await Promise.race([this.#senders, pause(20)]);
  }

  /** Stops starting bodies, and waits until the bodies in progress are acknowledged. */
  async end(): Promise<void> {
    this.#goesOn = false;
    await this.#senders;
    this.#agent.destroy();
  }
}

/** Failures, each with the file in which it happens. */
const faults: readonly (readonly [what: string, file: string, fault: Parameters<FaultyDisk['fail']>[0]])[] = [
  ['a write of pages', 'siem.mdb', { writes: 1 }],
  ['a flush', 'siem.mdb', { flushes: 1 }],
  ['a write of the page that makes a commit valid', 'siem.mdb', { smallWrites: 1 }],
  ['a write of pages of the log', 'ledger.mdb', { writes: 1 }],
];

/** Returns flows, and an alert of a separate rule. The alert must be logged. */
function withAlert(n: number): Shipment {
  const alert = `{"timestamp":"2025-11-21T00:00:00.000000+0000","flow_id":${n + 1},"event_type":"alert","src_ip":"10.0.0.1","src_port":1,"dest_ip":"203.0.113.9","dest_port":80,"proto":"TCP","alert":{"action":"allowed","gid":1,"signature_id":${1_000_000 + n},"rev":1,"signature":"Rule ${n}","category":"Test","severity":1}}\n`;
  const { key, body, uids } = shipment(`alert-${n}`, 3);
  return { key, body: `${body}${alert}`, uids: [...uids, String(n + 1)] };
}

/** Waits until each alert is logged, and returns the positions of the alerts in the log. */
async function loggedAlerts(service: Service, analyst: string): Promise<number[]> {
  for (;;) {
    const alerts = await listAll(service, 'listAlerts', analyst, 'rule_source=suricata');
    const places = alerts.map(({ attributes }) => attributes.transparency as { leaf_index: number } | undefined);
    if (!places.includes(undefined)) return places.map((place) => place!.leaf_index);
    await pause(100);
  }
}

describe.skipIf(!maySpoilDisks())('a disk that fails', () => {
  const opened: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close();
  });

  /** Starts the service with one of its files on the disk. */
  async function onDisk(disk: FaultyDisk, file: string): Promise<Service> {
    const service = await startService({ dataDir: disk.dataDir, env: disk.envFor(file) });
    opened.push(() => service.kill().catch(() => undefined));
    return service;
  }

  test('ends the process with a notice at each failed write or flush, and the next process has all acknowledged data', async ({
    signal,
  }) => {
    const disk = new FaultyDisk();
    opened.push(async () => disk.remove());
    let service = await onDisk(disk, faults[0]![1]);
    const viewer = await tokenFor(service, 'viewer');
    const analyst = await tokenFor(service, 'analyst');
    const sensor = await tokenFor(service, 'sensor');
    const sent: Shipment[] = [];
    let alerts = 0;
    for (const [n, [what, file, fault]] of faults.entries()) {
      const isLog = file === 'ledger.mdb';
      const load = new Load(service, sensor, isLog ? withAlert : (count) => shipment(`flow-${n}-${count}`, 20));
      await load.acknowledged(10);
      disk.fail(fault);
      expect(await service.ended, what).not.toBe(0);
      // After a timeout, `afterEach` has ended the process and removed its folder.
      signal.throwIfAborted();
      expect(service.output.join('\n'), what).toContain(failedWriteNotice);

      service = await onDisk(disk, (faults[n + 1] ?? faults[0]!)[1]);
      load.goTo(service);
      await load.acknowledged(10);
      await load.end();
      expect(load.met['200'], what).toBe(load.sent.length);
      sent.push(...load.sent);
      if (isLog) alerts += load.sent.length;
      expect(await storedUids(service, viewer), what).toEqual(uidsOf(sent));
      const places = await loggedAlerts(service, analyst);
      expect(places, what).toHaveLength(alerts);
      expect(new Set(places).size, what).toBe(alerts);
      expect((await call(service, 'getHealth')).body, what).toMatchObject({ status: 'ok' });
    }
    expect(await service.stop()).toBe(0);
  });
});

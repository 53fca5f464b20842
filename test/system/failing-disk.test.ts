/**
 * A disk on which a write, or a flush, fails with EIO. What was being written is answered with 503 and nobody knows
 * whether it is there; the thread that wrote it starts anew, by the same path as after a crash. Where that is not enough,
 * the process ends, for whoever supervises it: a second failure within a minute, and one of the page that makes a commit
 * valid, after which LMDB neither reads nor writes in this process.
 */
import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { type Service, startService, tokenFor } from '../../scripts/service.ts';
import { call, listAll } from './call.ts';
import { FaultyDisk, maySpoilDisks } from './faulty-disk.ts';
import { type Met, type Shipment, ship, shipment, storedUids, uidsOf } from './shipper.ts';

/** Several senders on one service, which may be another one after a while. */
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

  async acknowledged(more: number): Promise<void> {
    const wanted = (this.met['200'] ?? 0) + more;
    while ((this.met['200'] ?? 0) < wanted) await pause(20);
  }

  /** Sends what is begun until it is acknowledged, and no more. */
  async end(): Promise<void> {
    this.#goesOn = false;
    await this.#senders;
    this.#agent.destroy();
  }
}

const flowsOf = (n: number) => shipment(`flow-${n}`, 20);

/** Flows, and an alert of a rule of its own, which has to be logged. */
function withAlert(n: number): Shipment {
  const alert = `{"timestamp":"2025-11-21T00:00:00.000000+0000","flow_id":${n + 1},"event_type":"alert","src_ip":"10.0.0.1","src_port":1,"dest_ip":"203.0.113.9","dest_port":80,"proto":"TCP","alert":{"action":"allowed","gid":1,"signature_id":${1_000_000 + n},"rev":1,"signature":"Rule ${n}","category":"Test","severity":1}}\n`;
  const { key, body, uids } = shipment(`alert-${n}`, 3);
  return { key, body: `${body}${alert}`, uids: [...uids, String(n + 1)] };
}

const serious = ({ output }: Service) =>
  output
    .filter((line) => /"level":[56]0/.test(line))
    .map((line) => JSON.parse(line) as { level: number; msg: string; worker?: string });

describe.skipIf(!maySpoilDisks())('a disk that fails', () => {
  const opened: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close();
  });

  function faulty(files: string): FaultyDisk {
    const disk = new FaultyDisk(files);
    opened.push(async () => disk.remove());
    return disk;
  }

  async function onDisk(disk: FaultyDisk): Promise<Service> {
    const service = await startService({ dataDir: disk.dataDir, env: disk.env });
    opened.push(() => service.kill().catch(() => undefined));
    return service;
  }

  // LMDB can damage its heap when it aborts a transaction after a failed write. The process then ends, and its supervisor
  // starts it again; another attempt shows the restart of the thread.
  test.each(['writes', 'flushes'] as const)(
    'once, one of the %s of the events: all is taken in the end, by the same process',
    { retry: 2 },
    async (what) => {
      const disk = faulty('siem.mdb');
      const service = await onDisk(disk);
      const viewer = await tokenFor(service, 'viewer');
      const load = new Load(service, await tokenFor(service, 'sensor'), flowsOf);
      await load.acknowledged(10);
      disk.fail({ [what]: 1 });
      while (disk.failing > 0) await pause(10);
      await load.acknowledged(10);
      await load.end();

      expect(load.met['503']).toBeGreaterThan(0);
      expect(load.met['200']).toBe(load.sent.length);
      expect(await storedUids(service, viewer)).toEqual(uidsOf(load.sent));
      expect(serious(service)).toMatchObject([
        { level: 50, worker: 'store', msg: 'a worker died and was restarted' },
      ]);
      expect((await call(service, 'getHealth')).status).toBe(200);
      expect(await service.stop()).toBe(0);
    },
  );

  test('once, a flush of the log: alerts wait for it, each is logged once, by the same process', async () => {
    const disk = faulty('ledger.mdb');
    const service = await onDisk(disk);
    const analyst = await tokenFor(service, 'analyst');
    const load = new Load(service, await tokenFor(service, 'sensor'), withAlert);
    await load.acknowledged(3);
    disk.fail({ flushes: 1 });
    while (disk.failing > 0) await pause(10);
    await load.acknowledged(10);
    await load.end();

    const logged = async () => {
      const alerts = await listAll(service, 'listAlerts', analyst, 'rule_source=suricata');
      return alerts.map(({ attributes }) => attributes.transparency as { leaf_index: number } | undefined);
    };
    let leaves = await logged();
    while (leaves.includes(undefined)) {
      await pause(100);
      leaves = await logged();
    }
    expect(leaves).toHaveLength(load.sent.length);
    expect(new Set(leaves.map((leaf) => leaf?.leaf_index)).size).toBe(leaves.length);
    expect(serious(service).map(({ worker, msg }) => [worker, msg])).toEqual([
      ['ledger', 'a worker died and was restarted'],
    ]);
    expect(await service.stop()).toBe(0);
  });

  test.each([
    ['a flush, and another within a minute', [{ flushes: 1 }, { flushes: 1 }]],
    ['what makes a commit valid, so that nobody knows what is on disk', [{ smallWrites: 1 }]],
  ] as const)(
    '%s: the process ends and says why; the next one has all that was acknowledged',
    async (_, faults) => {
      const disk = faulty('siem.mdb');
      const first = await onDisk(disk);
      const viewer = await tokenFor(first, 'viewer');
      const load = new Load(first, await tokenFor(first, 'sensor'), flowsOf);
      for (const fault of faults) {
        await load.acknowledged(10);
        disk.fail(fault);
      }
      expect(await first.ended).toBe(1);
      expect(serious(first).find(({ level }) => level === 60)).toMatchObject({
        worker: 'store',
        msg: 'a worker died twice within a minute',
      });

      const second = await onDisk(disk);
      load.goTo(second);
      await load.acknowledged(10);
      await load.end();
      expect(load.met['200']).toBe(load.sent.length);
      expect(await storedUids(second, viewer)).toEqual(uidsOf(load.sent));
      expect(await second.stop()).toBe(0);
    },
  );
});

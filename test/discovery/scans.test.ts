import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Scan, ScanInput } from '../../src/contract/resources/scan.ts';
import { openScanner } from '../../src/discovery/open-scanner.ts';
import { cutShort, Scans, type ScansOptions } from '../../src/discovery/scans.ts';
import { ServiceError } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import type { ScanUpdate, StoredScan } from '../../src/store/store.ts';
import { uuid7 } from '../../src/uuid.ts';
import { everything, type Opened, opened } from '../store/opened.ts';
import { greeter, type Listening, listen, tarpit } from './servers.ts';

interface Queue extends Opened {
  readonly scans: Scans;
  /** Returns the announced states of scans. */
  updates(): readonly ScanUpdate[];
  /** Resolves with the scan when it has ended. */
  over(id: string): Promise<Scan>;
}

let milliseconds = Date.UTC(2026, 0, 1);

function queue(changes: Partial<ScansOptions> = {}, parts: Opened = opened()): Queue {
  const scans = new Scans({
    store: parts.store,
    reader: parts.reader,
    planning: { allowedNetworks: ['127.0.0.0/8', '::1/128'], nmap: () => undefined },
    openScanner: async () => ({
      api: openScanner({ nameServers: ['127.0.0.1:9'] }),
      close: async () => undefined,
    }),
    now: () => milliseconds++,
    newId: () => uuid7(milliseconds++),
    limitReached: () => undefined,
    onTrouble: () => undefined,
    retryMs: 10,
    ...changes,
  });
  onTestFinished(() => scans.close());
  const over = async (id: string): Promise<Scan> => {
    for (;;) {
      const scan = parts.reader.getScan(id);
      if (scan !== undefined && scan.status !== 'queued' && scan.status !== 'running') return scan;
      await delay(10);
    }
  };
  const updates = () => parts.notices.flatMap(({ scans: changed }) => changed);
  return { ...parts, scans, updates, over };
}

const at = (server: Listening, more: Partial<ScanInput> = {}): ScanInput => ({
  targets: ['127.0.0.1'],
  ports: String(server.port),
  ...more,
});

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'none',
    (error: unknown) => (error instanceof ServiceError ? error.code : error),
  );

/** A long scan: silent hosts consume the rate. */
const endless: ScanInput = { targets: ['127.9.0.0/16'], ports: '1-200', rate: 50 };

describe('a scan', () => {
  test('goes from queued through running to completed, with each state stored and announced', async () => {
    const server = await listen(greeter('SSH-2.0-OpenSSH_9.6\r\n'));
    const { scans, updates, over, reader } = queue();
    const begun = await scans.start(at(server), 'ana');
    expect(begun).toMatchObject({ status: 'queued', requested_by: 'ana', engine: 'connect', rate: 500 });
    const done = await over(begun.id);
    expect(done).toMatchObject({
      status: 'completed',
      progress: { hosts_total: 1, hosts_done: 1, probes_total: 1, probes_done: 1 },
      result: { hosts_up: 1, services_found: 1, assets_created: 1, assets_updated: 0 },
    });
    expect(Date.parse(done.started_at!)).toBeGreaterThan(Date.parse(done.requested_at));
    expect(Date.parse(done.finished_at!)).toBeGreaterThan(Date.parse(done.started_at!));
    expect(updates().map(({ scan }) => scan.status)).toEqual(
      expect.arrayContaining(['queued', 'running', 'completed']),
    );
    expect(updates().map(({ seq }) => seq)).toEqual(updates().map((_, n) => n + 1));
    expect(updates().at(-1)?.scan).toEqual({ id: begun.id, ...done });
    expect(reader.head('discovery')).toBe(updates().length);
    expect(scans.current()).toEqual({ id: begun.id, ...done });
  });

  test('records assets and services, and a service that the next scan does not find is closed', async () => {
    const [stays, goes] = [await listen(greeter('SSH-2.0-OpenSSH_9.6\r\n')), await listen(tarpit())];
    const { scans, over, reader } = queue();
    const input: ScanInput = { targets: ['127.0.0.1'], ports: `${stays.port},${goes.port}` };
    const first = await over((await scans.start(input, 'ana')).id);
    expect(first.result).toMatchObject({ services_found: 2, assets_created: 1, assets_updated: 0 });
    await goes.close();
    const second = await over((await scans.start(input, 'ana')).id);
    expect(second.result).toMatchObject({ services_found: 1, assets_created: 0, assets_updated: 1 });
    const { json } = reader.listServices({ terms: [], sort: 'port', order: 'asc', page: 1, per_page: 10 });
    const services = (JSON.parse(Buffer.from(json).toString()) as { attributes: object }[]).map(
      (one) => one.attributes,
    );
    expect(services).toHaveLength(2);
    expect(services).toContainEqual(
      expect.objectContaining({
        port: stays.port,
        state: 'open',
        name: 'ssh',
        product: 'OpenSSH',
        version: '9.6',
        source: 'scan',
      }),
    );
    expect(services).toContainEqual(expect.objectContaining({ port: goes.port, state: 'closed' }));
  });

  test('waits for the previous scan', async () => {
    const [slow, quick] = [await listen(tarpit()), await listen(greeter('SSH-2.0-OpenSSH_9.6\r\n'))];
    const { scans, updates, over } = queue();
    const ids = [(await scans.start(at(slow), 'a')).id, (await scans.start(at(quick), 'b')).id];
    await over(ids[1]!);
    const states = updates().map(({ scan }) => `${ids.indexOf(scan.id)} ${scan.status}`);
    expect(states.indexOf('1 running')).toBeGreaterThan(states.indexOf('0 completed'));
    expect([slow.accepted, quick.accepted]).toEqual([1, 1]);
  });
});

describe('a cancelled scan', () => {
  test('never starts if it was still queued', async () => {
    const server = await listen(tarpit());
    const { scans, updates, over } = queue();
    const [first, second] = [await scans.start(endless, 'a'), await scans.start(at(server), 'b')];
    expect(await scans.cancel(second.id)).toMatchObject({ status: 'cancelled' });
    expect(await scans.cancel(first.id)).toMatchObject({
      status: 'cancelled',
      result: { services_found: 0 },
    });
    expect((await over(second.id)).started_at).toBeUndefined();
    const ofSecond = updates().filter(({ scan }) => scan.id === second.id);
    expect(ofSecond.map(({ scan }) => scan.status)).toEqual(['queued', 'cancelled']);
    expect(server.accepted).toBe(0);
  });

  test('is cancelled only if the cancellation can be stored', async () => {
    const parts = opened();
    let full = false;
    const { scans, over } = queue(
      {
        store: {
          recordScan: parts.store.recordScan.bind(parts.store),
          async saveScan(scan) {
            if (full && scan.status === 'cancelled') throw new ServiceError('UNAVAILABLE', 'the disk is full');
            return parts.store.saveScan(scan);
          },
        },
      },
      parts,
    );
    const [first, second] = [await scans.start(endless, 'a'), await scans.start(endless, 'b')];
    full = true;
    expect(await codeOf(scans.cancel(second.id))).toBe('UNAVAILABLE');
    expect(parts.reader.getScan(second.id)?.status).toBe('queued');
    full = false;
    await scans.cancel(first.id);
    while (parts.reader.getScan(second.id)?.status !== 'running') await delay(10);
    await scans.cancel(second.id);
    expect((await over(second.id)).status).toBe('cancelled');
  });

  test('stops while running, and the next scan runs', async () => {
    const server = await listen(greeter('SSH-2.0-OpenSSH_9.6\r\n'));
    const { scans, over } = queue();
    const running = await scans.start(endless, 'a');
    const next = await scans.start(at(server), 'b');
    while (scans.current()?.progress.probes_done === 0) await delay(20);
    const cancelled = await scans.cancel(running.id);
    expect(cancelled.status).toBe('cancelled');
    expect(cancelled.progress.probes_done).toBeLessThan(cancelled.progress.probes_total);
    expect(await over(next.id)).toMatchObject({ status: 'completed' });
    expect(await codeOf(scans.cancel(running.id))).toBe('INVALID_TRANSITION');
    expect(await codeOf(scans.cancel(uuid7(0)))).toBe('NOT_FOUND');
  });
});

describe('a restart', () => {
  test('during a scan marks the scan as failed and runs the queued scans', async () => {
    const server = await listen(greeter('SSH-2.0-OpenSSH_9.6\r\n'));
    const parts = opened();
    const before: StoredScan = {
      ...{
        id: uuid7(1),
        targets: ['127.0.0.1'],
        ports: '1-9',
        rate: 1,
        engine: 'connect',
        status: 'running',
      },
      progress: { hosts_total: 1, hosts_done: 0, probes_total: 9, probes_done: 3 },
      ...{
        requested_by: 'ana',
        requested_at: '2025-01-01T00:00:00.000Z',
        started_at: '2025-01-01T00:00:00.000Z',
      },
    };
    const { started_at: _, ...queued } = {
      ...before,
      id: uuid7(2),
      status: 'queued' as const,
      ports: String(server.port),
    };
    const forbidden = { ...queued, id: uuid7(3), targets: ['10.0.0.1'] };
    for (const scan of [before, queued, forbidden]) await parts.store.saveScan(scan);
    const { scans, over } = queue({}, parts);
    await scans.recover();
    expect(await over(before.id)).toMatchObject({
      status: 'failed',
      error: cutShort,
      progress: { probes_done: 3 },
    });
    expect(await over(queued.id)).toMatchObject({ status: 'completed', result: { services_found: 1 } });
    expect(await over(forbidden.id)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('allowed_networks'),
    });
    expect(parts.reader.unfinishedScans()).toEqual([]);
  });

  test('keeps findings, because they are stored while the scan runs', async () => {
    const open = await listen(greeter('SSH-2.0-OpenSSH_9.6\r\n'));
    const parts = opened();
    let crashed = false;
    const throwIfCrashed = () => {
      if (crashed) throw new Error('the service has crashed');
    };
    const store: ScansOptions['store'] = {
      async saveScan(...scan) {
        throwIfCrashed();
        return parts.store.saveScan(...scan);
      },
      async recordScan(...hosts) {
        throwIfCrashed();
        return parts.store.recordScan(...hosts);
      },
    };
    const { scans, reader } = queue({ store }, parts);
    // The scan probes one host after the other, five per second.
    const { id } = await scans.start({ targets: ['127.0.0.0/25'], ports: String(open.port), rate: 5 }, 'ana');
    const found = () => reader.getScan(id)?.result;
    while (reader.getScan(id)?.status !== 'running') await delay(5);
    expect(found()).toMatchObject({ assets_created: 0 });
    while ((found()?.assets_created ?? 0) === 0) await delay(20);
    crashed = true;
    await scans.close();
    expect(reader.getScan(id)?.status).toBe('running');
    await queue({}, parts).scans.recover();
    expect(reader.getScan(id)).toMatchObject({ status: 'failed', error: cutShort });
    expect(found()?.assets_created).toBeGreaterThan(0);
    expect(reader.listAssets(everything).total).toBeGreaterThan(0);
  });

  test('that is orderly marks the running scan as failed immediately, and keeps queued scans', async () => {
    const { scans, reader, ...parts } = queue();
    const [running, waiting] = [await scans.start(endless, 'a'), await scans.start(endless, 'b')];
    while (reader.getScan(running.id)?.status !== 'running') await delay(10);
    await scans.close();
    expect(reader.getScan(running.id)).toMatchObject({ status: 'failed', error: cutShort });
    expect(reader.getScan(waiting.id)).toMatchObject({ status: 'queued' });
    expect(await codeOf(scans.start(endless, 'c'))).toBe('UNAVAILABLE');
    const again = queue({}, { ...parts, reader });
    await again.scans.recover();
    while (reader.getScan(waiting.id)?.status !== 'running') await delay(10);
    expect(await again.scans.cancel(waiting.id)).toMatchObject({ status: 'cancelled' });
  });
});

describe('errors', () => {
  test('a scan fails if its scanner dies, and the next scan gets a new scanner', async () => {
    const server = await listen(greeter('SSH-2.0-OpenSSH_9.6\r\n'));
    let opens = 0;
    const { scans, over } = queue({
      async openScanner() {
        const api = openScanner({ nameServers: ['127.0.0.1:9'] });
        const lost = async () => {
          throw new ServiceError('WORKER_LOST', 'discovery died');
        };
        const dying = { begin: api.begin.bind(api), news: lost, cancel: api.cancel.bind(api) };
        return { api: opens++ === 0 ? dying : api, close: () => api.cancel() };
      },
    });
    const [first, second] = [await scans.start(at(server), 'a'), await scans.start(at(server), 'b')];
    expect(await over(first.id)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('the scanner or the store failed'),
    });
    expect(await over(second.id)).toMatchObject({ status: 'completed' });
    expect(opens).toBe(2);
  });

  test('storing results is retried before the scan fails', async () => {
    const server = await listen(greeter('SSH-2.0-OpenSSH_9.6\r\n'));
    const parts = opened();
    let tries = 0;
    const store = (working: number) => ({
      saveScan: (scan: StoredScan) => parts.store.saveScan(scan),
      recordScan: async (...args: Parameters<typeof parts.store.recordScan>) => {
        if (++tries < working) throw new ServiceError('UNAVAILABLE', 'the disk is full');
        return parts.store.recordScan(...args);
      },
    });
    const comesBack = queue({ store: store(3) }, parts);
    const first = await comesBack.scans.start(at(server), 'a');
    expect(await comesBack.over(first.id)).toMatchObject({
      status: 'completed',
      result: { assets_created: 1 },
    });
    tries = 0;
    const stays = queue({ store: store(1000) }, parts);
    const second = await stays.scans.start(at(server), 'a');
    expect(await stays.over(second.id)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('disk is full'),
    });
  });

  test('too many queued scans, or too many scans started within a minute, are rejected', async () => {
    const reached: string[] = [];
    let now = 0;
    const { scans } = queue({ now: () => now, limitReached: (limit) => reached.push(limit) });
    for (let n = 0; n < limits.maxScansPerMinute; n++) await scans.start(endless, 'a');
    expect(await codeOf(scans.start(endless, 'a'))).toBe('RATE_LIMITED');
    for (let n = limits.maxScansPerMinute; n <= limits.maxQueuedScans; n++) {
      if (n % limits.maxScansPerMinute === 0) now += 60_000;
      await scans.start(endless, 'a');
    }
    now += 60_000;
    expect(await codeOf(scans.start(endless, 'a'))).toBe('OVERLOADED');
    expect(reached).toEqual(['maxScansPerMinute', 'maxQueuedScans']);
  });

  test('an invalid scan is rejected and not stored, and the error names the field', async () => {
    const reached: string[] = [];
    const { scans, reader } = queue({ limitReached: (limit) => reached.push(limit) });
    const field = (input: ScanInput) =>
      scans.start(input, 'a').then(
        () => undefined,
        (error: ServiceError) => error.details?.field,
      );
    expect(await field({ targets: ['127.0.0.1', '10.0.0.1'] })).toBe('targets.1');
    expect(await field({ targets: ['127.0.0.1'], ports: 'x' })).toBe('ports');
    expect(await field({ targets: ['127.0.0.0/16'], ports: '1-1000' })).toBe('ports');
    expect(await field({ targets: ['127.0.0.1'], engine: 'nmap' })).toBe('engine');
    expect(await field({ targets: ['127.0.0.0/15'] })).toBe('targets.0');
    expect(reached).toEqual(['maxScanProbes', 'maxScanHosts']);
    expect(reader.lastScan()).toBeUndefined();
  });

  test('a limit that a scan reached is counted when the scan ends', async () => {
    const reached: string[] = [];
    const counts = { hosts_done: 1, probes_done: 1, hosts_up: 1, services_found: 9 };
    const { scans, over } = queue({
      limitReached: (limit) => reached.push(limit),
      openScanner: async () => ({
        api: {
          begin: async () => undefined,
          cancel: async () => undefined,
          news: async () => ({
            counts: { ...counts, services_skipped: 1, banners_skipped: 2 },
            hosts: [],
            end: { outcome: 'failed', error: 'too much', limit: 'maxNmapOutputBytes' },
          }),
        },
        close: async () => undefined,
      }),
    });
    const { id } = await scans.start({ targets: ['127.0.0.1'], ports: '1' }, 'a');
    const { result } = await over(id);
    expect(result).toMatchObject({ services_found: 9, services_skipped: 1 });
    expect(result).not.toHaveProperty('banners_skipped');
    expect(reached).toEqual(['maxScanServicesPerHost', 'maxScanBannersPerHost', 'maxNmapOutputBytes']);
  });
});

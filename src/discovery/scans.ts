import { setTimeout as delay } from 'node:timers/promises';
import type { ScanInput } from '../contract/resources/scan.ts';
import { ServiceError } from '../errors.ts';
import { type LimitName, limits } from '../limits.ts';
import type { Store, StoredScan, StoreReader } from '../store/store.ts';
import { planScan, type ScanOptions, type ScanPlan } from './plan.ts';
import { type RecordOptions, recordHosts } from './record-hosts.ts';
import type { ScanCounts, ScanEnd, Scanner } from './scanner.ts';

/** A scanner in its own thread. */
export interface ScannerThread {
  readonly api: Scanner;
  close(): Promise<void>;
}

export interface ScansOptions {
  readonly store: Pick<Store, 'saveScan' | 'recordScan'>;
  readonly reader: Pick<StoreReader, 'getScan' | 'lastScan' | 'unfinishedScans'>;
  readonly planning: ScanOptions;
  openScanner(): Promise<ScannerThread>;
  readonly now: () => number;
  readonly newId: () => string;
  readonly limitReached: (limit: LimitName) => void;
  /** Reports an error that cannot be returned to a caller. */
  onTrouble(message: string, error: unknown): void;
  /** Milliseconds between attempts to store a state. Default: 1000. */
  readonly retryMs?: number;
}

interface Planned {
  readonly scan: StoredScan;
  readonly plan: ScanPlan;
}

type Found = { -readonly [K in Exclude<keyof ScanCounts, 'hosts_done' | 'probes_done'>]: number } & {
  assets_created: number;
  assets_updated: number;
};

interface Running {
  scan: StoredScan;
  /** Reason to stop the scan early. */
  stop: 'cancelled' | 'restart' | undefined;
  readonly found: Found;
  /** Resolves with the last state; never rejects. */
  readonly ended: Promise<StoredScan>;
}

const defaultPorts = 'top100';
/** Probes per second. This rate is safe for most networks; a /24 on a hundred ports takes a minute. */
const defaultRate = 500;
export const cutShort = 'interrupted by a restart';

/** Minimum interval between stored progress updates: five per second. */
const progressEveryMs = 200;
/**
 * The queue of scans. Owns the queued and running scans; their states are in the store, which emits changes of
 * the states. One scan runs at a time, in a thread that exists while there are scans.
 *
 * ```
 *   start ──► queued ──► running ──► completed
 *               │           ├──────► failed      the scanner, the store or the service ended
 *               └───────────┴──────► cancelled
 * ```
 * After a crash, `recover` marks the running scan as failed and queues the waiting scans again.
 */
export class Scans {
  readonly #options: ScansOptions;
  readonly #queue: Planned[] = [];
  #running: Running | undefined;
  #thread: ScannerThread | undefined;
  #working: Promise<void> | undefined;
  /** Number of scans that are being stored before they are queued. */
  #starting = 0;
  /** Times at which scans were queued within the last minute. */
  #startTimes: number[] = [];
  #closed = false;
  readonly #retryMs: number;

  constructor(options: ScansOptions) {
    this.#options = options;
    this.#retryMs = options.retryMs ?? 1000;
  }

  /**
   * Recovers the scans of an earlier process. Never rejects: scans that cannot be stored are left for a later
   * start.
   */
  async recover(): Promise<void> {
    for (const scan of this.#options.reader.unfinishedScans()) {
      try {
        if (scan.status === 'running') await this.#save(this.#over(scan, 'failed', cutShort));
        else await this.#requeue(scan);
      } catch (error) {
        this.#options.onTrouble(`scan ${scan.id} could not be recovered`, error);
      }
    }
    this.#work();
  }

  /** Plans the scan again, because the allowed networks may have changed since the request. */
  async #requeue(scan: StoredScan): Promise<void> {
    try {
      this.#queue.push({ scan, plan: this.#plan(scan) });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      await this.#save(this.#over(scan, 'failed', error.message));
    }
  }

  /**
   * Queues a scan. Throws INVALID_REQUEST for targets that are not allowed, OVERLOADED if too many scans are queued,
   * RATE_LIMITED, and UNAVAILABLE while stopping.
   */
  async start(input: ScanInput, requestedBy: string): Promise<StoredScan> {
    const { now, newId } = this.#options;
    if (this.#closed) throw new ServiceError('UNAVAILABLE', 'the service is stopping');
    const { targets, ports = defaultPorts, rate = defaultRate, engine = 'connect' } = input;
    const plan = this.#plan({ targets, ports, rate, engine });
    this.#admit(now());
    const scan: StoredScan = {
      ...{ id: newId(), targets, ports, rate, engine, status: 'queued' },
      progress: { hosts_total: plan.hosts, hosts_done: 0, probes_total: plan.probes, probes_done: 0 },
      ...{ requested_by: requestedBy, requested_at: this.#timestamp() },
    };
    this.#starting++;
    try {
      await this.#save(scan);
    } finally {
      this.#starting--;
    }
    this.#queue.push({ scan, plan });
    this.#work();
    return scan;
  }

  #plan(scan: Parameters<typeof planScan>[0]): ScanPlan {
    const { planning, limitReached } = this.#options;
    return planScan(scan, planning, limitReached);
  }

  #admit(now: number): void {
    this.#startTimes = this.#startTimes.filter((time) => now - time < 60_000 && time <= now);
    if (this.#startTimes.length >= limits.maxScansPerMinute) {
      this.#options.limitReached('maxScansPerMinute');
      throw new ServiceError(
        'RATE_LIMITED',
        `at most ${limits.maxScansPerMinute} scans can be started per minute; try again later`,
      );
    }
    if (this.#queue.length + this.#starting >= limits.maxQueuedScans) {
      this.#options.limitReached('maxQueuedScans');
      throw new ServiceError('OVERLOADED', `the queue is full (${limits.maxQueuedScans} scans); try again later`);
    }
    this.#startTimes.push(now);
  }

  /**
   * Ends a queued or running scan and resolves with its last state when it has stopped. Throws NOT_FOUND, and
   * INVALID_TRANSITION for a scan that has ended.
   */
  async cancel(id: string): Promise<StoredScan> {
    const waiting = this.#queue.findIndex(({ scan }) => scan.id === id);
    const planned = this.#queue[waiting];
    if (planned !== undefined) return this.#drop(planned, waiting);
    if (this.#running?.scan.id === id) return this.#stop(this.#running, 'cancelled');
    const known = this.#options.reader.getScan(id);
    if (known === undefined) throw new ServiceError('NOT_FOUND', `there is no scan ${id}`);
    // The scan was stored, but the response was lost.
    if (known.status === 'queued') return this.#save(this.#over({ id, ...known }, 'cancelled'));
    throw new ServiceError('INVALID_TRANSITION', `scan ${id} is already ${known.status}`);
  }

  /** Cancels a queued scan; if that cannot be stored, the scan stays in the queue. */
  async #drop(planned: Planned, place: number): Promise<StoredScan> {
    this.#queue.splice(place, 1);
    try {
      return await this.#save(this.#over(planned.scan, 'cancelled'));
    } catch (error) {
      this.#queue.splice(place, 0, planned);
      this.#work();
      throw error;
    }
  }

  counts(): { readonly queued: number; readonly running: number } {
    return { queued: this.#queue.length, running: this.#running === undefined ? 0 : 1 };
  }

  /** Returns the running scan, otherwise the last requested scan; undefined without scans. */
  current(): StoredScan | undefined {
    return this.#running?.scan ?? this.#options.reader.lastScan();
  }

  /** Interrupts the running scan; queued scans run after the next start. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#running !== undefined) await this.#stop(this.#running, 'restart');
    await this.#working;
  }

  async #stop(running: Running, stop: 'cancelled' | 'restart'): Promise<StoredScan> {
    running.stop ??= stop;
    // Losing the thread ends the scan too.
    await this.#thread?.api.cancel().catch(() => undefined);
    return running.ended;
  }

  #work(): void {
    if (this.#closed) return;
    this.#working ??= this.#runAll().finally(() => {
      this.#working = undefined;
      if (this.#queue.length > 0) this.#work();
    });
  }

  async #runAll(): Promise<void> {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      const { promise, resolve } = Promise.withResolvers<StoredScan>();
      const begun = { status: 'running', started_at: this.#timestamp(), result: resultOf(nothing) } as const;
      const scan: StoredScan = { ...next.scan, ...begun };
      const running: Running = { scan, stop: undefined, found: { ...nothing }, ended: promise };
      this.#running = running;
      await this.#run(running, next.plan);
      this.#running = undefined;
      resolve(running.scan);
      if (this.#closed) break;
    }
    await this.#endThread();
  }

  /** Runs a scan to its end. Never rejects. */
  async #run(running: Running, plan: ScanPlan): Promise<void> {
    let end: ScanEnd;
    try {
      // Store the scan first, so that no scan is missing in the history.
      await this.#saveSurely(running);
      this.#thread ??= await this.#options.openScanner();
      end = await this.#follow(running, plan, this.#thread.api);
    } catch (error) {
      await this.#endThread();
      end = { outcome: 'failed', error: reasonOf(error) };
      this.#options.onTrouble(`scan ${running.scan.id} failed`, error);
    }
    const { services_skipped, banners_skipped } = running.found;
    if (services_skipped > 0) this.#options.limitReached('maxScanServicesPerHost');
    if (banners_skipped > 0) this.#options.limitReached('maxScanBannersPerHost');
    if (end.outcome === 'failed' && end.limit !== undefined) this.#options.limitReached(end.limit);
    running.scan = { ...this.#ended(running, end), result: resultOf(running.found) };
    await this.#saveSurely(running);
  }

  #ended({ scan, stop }: Running, end: ScanEnd): StoredScan {
    if (end.outcome === 'failed') return this.#over(scan, 'failed', end.error);
    if (end.outcome === 'cancelled' && stop === 'restart') return this.#over(scan, 'failed', cutShort);
    return this.#over(scan, end.outcome);
  }

  /** Processes the updates of the scanner until the scan ends. */
  async #follow(running: Running, plan: ScanPlan, scanner: Scanner): Promise<ScanEnd> {
    if (running.stop !== undefined) return { outcome: 'cancelled' };
    await scanner.begin(plan.job);
    if (running.stop !== undefined) await scanner.cancel();
    const recording: RecordOptions = {
      store: this.#options.store,
      retryMs: this.#retryMs,
      stopped: () => running.stop !== undefined,
      recorded({ assets_created, assets_updated }) {
        running.found.assets_created += assets_created;
        running.found.assets_updated += assets_updated;
      },
    };
    let savedAt = Number.NEGATIVE_INFINITY;
    for (;;) {
      const { counts, hosts, end } = await scanner.news();
      const { hosts_done, probes_done, ...found } = counts;
      Object.assign(running.found, found);
      await recordHosts(running.scan.id, hosts, recording);
      const { progress } = running.scan;
      const changed = progress.hosts_done !== hosts_done || progress.probes_done !== probes_done;
      if (changed)
        running.scan = {
          ...running.scan,
          progress: { ...progress, hosts_done, probes_done },
          result: resultOf(running.found),
        };
      if (end !== undefined) return end;
      if (!changed || performance.now() - savedAt < progressEveryMs) continue;
      savedAt = performance.now();
      await this.#save(running.scan).catch((error: unknown) =>
        this.#options.onTrouble(`the progress of scan ${running.scan.id} could not be stored`, error),
      );
    }
  }

  async #save(scan: StoredScan): Promise<StoredScan> {
    await this.#options.store.saveScan(scan);
    return scan;
  }

  /**
   * Retries until the state is stored or the service stops. After a stop, the next start marks the scan as interrupted.
   */
  async #saveSurely({ scan }: Running): Promise<void> {
    for (let reported = false; ; reported = true) {
      try {
        await this.#save(scan);
        return;
      } catch (error) {
        if (!reported) this.#options.onTrouble(`scan ${scan.id} could not be stored yet`, error);
        if (this.#closed) return;
        await delay(this.#retryMs);
      }
    }
  }

  #over(scan: StoredScan, status: 'completed' | 'failed' | 'cancelled', error?: string): StoredScan {
    return { ...scan, status, ...(error === undefined ? {} : { error }), finished_at: this.#timestamp() };
  }

  async #endThread(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.api.cancel().catch(() => undefined);
    await thread?.close().catch((error: unknown) => this.#options.onTrouble('a scanner could not be closed', error));
  }

  #timestamp(): string {
    return new Date(this.#options.now()).toISOString();
  }
}

const nothing: Found = {
  hosts_up: 0,
  services_found: 0,
  services_skipped: 0,
  banners_skipped: 0,
  assets_created: 0,
  assets_updated: 0,
};

function resultOf({ services_skipped, banners_skipped: _, ...found }: Found): NonNullable<StoredScan['result']> {
  return { ...found, ...(services_skipped === 0 ? {} : { services_skipped }) };
}

/** Returns the reason for the scan history. Details are in the service log. */
function reasonOf(error: unknown): string {
  if (error instanceof ServiceError && error.code === 'WORKER_LOST') return 'the scanner or the store failed';
  if (error instanceof ServiceError) return `the findings could not be stored: ${error.message}`;
  return 'the scanner failed';
}

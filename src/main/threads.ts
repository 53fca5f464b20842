import { join } from 'node:path';
import type { Logger } from 'pino';
import type { BackupTasks } from '../../workers/backup.ts';
import type { IngestTasks } from '../../workers/ingest.ts';
import type { Queries } from '../analytics/queries.ts';
import { isShort } from '../analytics/short-queries.ts';
import type { Verified } from '../backup/verify.ts';
import { ledgerSettings, storeSettings } from '../config/part-settings.ts';
import { failedWriteNotice, isFailedWrite } from '../database/failed-write.ts';
import { ServiceError } from '../errors.ts';
import { requireReadableLog } from '../ledger/check/inspect-file.ts';
import type { Ledger, LedgerStatus, LogReader } from '../ledger/ledger.ts';
import { ledgerMethods, logReaderMethods } from '../ledger/methods.ts';
import { limits } from '../limits.ts';
import type { Start } from '../main.ts';
import { callerApi } from '../rpc/connect.ts';
import { type FairQueueOptions, fairQueue } from '../rpc/fair-queue.ts';
import { createPool, type Pool } from '../rpc/pool.ts';
import { type Supervised, supervise } from '../rpc/supervise.ts';
import { workerUrl } from '../rpc/worker-url.ts';
import type { IntelTasks } from '../rules/intel/tasks.ts';
import type { RuleTasks } from '../rules/tasks.ts';
import { endProcess } from '../service/lifecycle.ts';
import { storeMethods } from '../store/methods.ts';
import type { CommitNotice, Store } from '../store/store.ts';

export async function startLedger(start: Start, counters: SharedArrayBuffer): Promise<Supervised<Ledger>> {
  const { config, opened } = start;
  const anchorPath = config['ledger.anchor_path'];
  const ledger = await supervise<Ledger>({
    name: 'ledger',
    url: workerUrl('ledger'),
    list: ledgerMethods,
    workerData: {
      dataDir: config.data_dir,
      counters,
      ...(anchorPath === undefined ? {} : { anchorPath }),
      publicationDelayMs: config['ledger.publication_delay_ms'],
      anchorLoss: config['ledger.anchor_loss'],
      ...ledgerSettings(config),
    },
    ...lossOf('ledger', start),
  });
  opened.onClose('ledger thread', () => ledger.close());
  opened.onClose('ledger', () => ledger.api.close());
  return ledger;
}

/** How often the ledger receives the findings of the log reader. */
const readReportEveryMs = 1000;

/**
 * Starts the thread that reads the log for requests. If the log is degraded and cannot be opened, reads are refused
 * with the ledger's fault and advice.
 */
export async function startLogReader(
  start: Start,
  counters: SharedArrayBuffer,
  ledger: Ledger,
  { health }: LedgerStatus,
): Promise<Pick<Supervised<LogReader>, 'api' | 'stats'>> {
  const { config, opened, log } = start;
  try {
    requireReadableLog(join(config.data_dir, 'ledger.mdb'));
    const reader = await supervise<LogReader>({
      name: 'log-reader',
      url: workerUrl('log-reader'),
      list: logReaderMethods,
      workerData: {
        dataDir: config.data_dir,
        counters,
        publicationDelayMs: config['ledger.publication_delay_ms'],
      },
      ...lossOf('log-reader', start),
    });
    opened.onClose('log reader thread', () => reader.close());
    opened.onClose('log reader', () => reader.api.close());
    const takeReport = async () => ledger.reportReads(await reader.api.report());
    opened.every('reports of the log reader', readReportEveryMs, () => {
      takeReport().catch((err: unknown) => log.warn({ err }, 'could not process the report of the log reader'));
    });
    return reader;
  } catch (error) {
    if (health.state === 'ok') throw error;
    log.error({ err: error }, 'the log cannot be read');
    const { advice, fault } = health;
    const refuse = () => Promise.reject(new ServiceError('UNAVAILABLE', advice, { fault }));
    const keys = { keys: () => ledger.keys(), currentKeys: () => ledger.currentKeys() };
    return {
      api: { ...callerApi(logReaderMethods, refuse), ...keys },
      stats: () => ({ pending: 0, inFlightBytes: 0, restarts: 0 }),
    };
  }
}

export async function startStore(
  start: Start,
  onCommitted: (notice: CommitNotice) => void,
): Promise<Supervised<Store>> {
  const { config, opened } = start;
  const store = await supervise<Store>({
    name: 'store',
    url: workerUrl('store'),
    list: storeMethods,
    onNotice: (notice) => onCommitted(notice as CommitNotice),
    workerData: {
      ...storeSettings(config),
      retention: { maxAgeMs: config['retention.max_age_ms'], maxBytes: config['retention.max_bytes'] },
    },
    // Few objects of a commit outlive it. With 24 MB, all threads together take 10 % more CPU per event.
    maxYoungGenerationMb: 8,
    // Limits the heap to fifteen times the observed use under load. With the default of 4 GB, a heap with 100
    // MB in use grows to 300 MB before it is collected; below 2 GB, V8 lets it grow less, here to 1.8 times
    // the memory in use.
    maxOldGenerationMb: 1536,
    ...lossOf('store', start),
  });
  opened.onClose('store thread', () => store.close());
  opened.onClose('store', () => store.api.close());
  return store;
}

/** Returns the reactions to the loss of a thread without which the service cannot run. */
const lossOf = (worker: string, { log, stopping }: Start) => ({
  isFinal: isFailedWrite,
  onRestart: (err: Error) => log.error({ err, worker }, 'a worker died and was restarted'),
  onGiveUp: (err: Error) => {
    if (isFailedWrite(err)) {
      log.fatal({ err, worker }, failedWriteNotice);
      // An exit waits for the thread, which may wait forever for the lock that its transaction holds.
      void endProcess(false);
      return;
    }
    log.fatal({ err, worker }, 'a worker died twice within a minute');
    stopping.request(1, `worker ${worker} is lost`);
  },
});

export function startIngest({ config, log, opened }: Start): Pool<IngestTasks> {
  const ingest = createPool<IngestTasks>({
    name: 'ingest',
    url: workerUrl('ingest'),
    threads: config['threads.ingest'],
    maxQueue: limits.maxQueuedBodies,
    // Objects created for a line are garbage when the next line is parsed. With frequent collections, 2
    // threads need 100 MB less and are as fast (bench ingest-http).
    maxYoungGenerationMb: 8,
    onWorkerLost: poolLoss('ingest', log),
  });
  opened.onClose('ingest pool', () => ingest.close());
  return ingest;
}

export function startAnalytics({ config, log, opened }: Start): Pool<Queries & IntelTasks> {
  const analytics = createPool<Queries & IntelTasks>({
    name: 'analytics',
    url: workerUrl('analytics'),
    threads: config['threads.analytics'],
    maxQueue: config['limits.max_queued_queries'],
    workerData: { dataDir: config.data_dir },
    // Columns are outside the heap; all other objects of a query are garbage after the query. Saves 24 MB per
    // thread.
    maxYoungGenerationMb: 8,
    idleMs: limits.idleQueryThreadMs,
    onWorkerLost: poolLoss('analytics', log),
  });
  const queue = fairQueue(
    analytics,
    queryQueueOptions(config['threads.analytics'], config['limits.max_queued_queries']),
  );
  opened.onClose('analytics pool', () => queue.close());
  return queue;
}

/**
 * Starts the thread that parses, compiles and tests rules, so that long tasks do not delay queries. Changes
 * take precedence over waiting tests and validations.
 */
export function startRuleTasks({ config, log, opened }: Start): Pool<RuleTasks> {
  const pool = createPool<RuleTasks>({
    name: 'rules',
    url: workerUrl('rules'),
    threads: 1,
    maxQueue: limits.maxQueuedRuleTasks,
    workerData: { dataDir: config.data_dir },
    maxTaskMs: limits.ruleTaskMs,
    idleMs: limits.idleRuleThreadMs,
    onWorkerLost: poolLoss('rules', log),
  });
  const queue = fairQueue(pool, {
    threads: 1,
    maxQueue: limits.maxQueuedRuleTasks,
    maxOfCaller: limits.maxRuleTasksPerPrincipal,
    longShare: limits.ruleTestShare,
    isShort: (task) => task !== 'testRules' && task !== 'validateRules',
  });
  opened.onClose('rules pool', () => queue.close());
  return queue;
}

/** Reserves a thread for short queries, and limits each principal to a share of the running and waiting queries. */
const queryQueueOptions = (threads: number, maxQueue: number): FairQueueOptions => ({
  threads,
  maxQueue,
  maxOfCaller: Math.ceil((threads + maxQueue) * limits.maxQueryShareOfPrincipal),
  isShort,
});

const poolLoss = (pool: string, log: Logger) => (err: Error) =>
  log.error({ err, pool }, 'a pool lost a thread and replaced it');

/**
 * Verifies a backup in a separate thread, which ends after the verification: verifications are rare, and read
 * everything once without keeping it.
 */
export async function verifyInThread(folder: string, signal: AbortSignal): Promise<Verified> {
  const pool = createPool<BackupTasks>({
    name: 'backup',
    url: workerUrl('backup'),
    threads: 1,
    maxQueue: 1,
  });
  try {
    return await pool.run('verify', folder, { signal });
  } finally {
    await pool.close();
  }
}

export function workerStatus(name: string, worker: Pick<Supervised<object>, 'stats'>) {
  const { pending, inFlightBytes, restarts } = worker.stats();
  return { name, pending, in_flight_bytes: inFlightBytes, restarts };
}

export function poolStatus(name: string, pool: Pick<Pool<never>, 'stats'>) {
  const { queued, running, completed } = pool.stats();
  return { name, pending: queued + running, completed };
}

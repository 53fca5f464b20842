/**
 * The composition root: configuration, workers, front, signals, shutdown. The only file that starts anything.
 *
 * Start, in order: the data folder is taken; the ledger opens, before the event database exists, so that it can tell
 * a new folder from one that lost its log; then the store, the pools, the front. Stop, in reverse: the front answers
 * what it accepted, the outbox is drained, the databases are closed.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Logger, pino } from 'pino';
import type { BackupTasks } from '../workers/backup.ts';
import type { IngestTasks } from '../workers/ingest.ts';
import type { Queries } from './analytics/queries.ts';
import { isShort } from './analytics/short-queries.ts';
import { announce, show, showPassword } from './announce.ts';
import { type AccessPolicy, openAccessPolicy } from './auth/access-policy.ts';
import { createAuth } from './auth/auth.ts';
import { ensureAdministrator } from './auth/bootstrap.ts';
import { BackupFolder, type BackupRecord } from './backup/backups.ts';
import { checkRecipients } from './backup/private-keys.ts';
import type { Verified } from './backup/verify.ts';
import { checkFolder } from './check-folder.ts';
import { type ExitCode, exitCodes } from './cli/exit-codes.ts';
import { ConfigError } from './config/config-error.ts';
import { type LoadedConfig, loadSettings } from './config/load.ts';
import {
  keySettings,
  policyDefaults,
  rulePlaceholders,
  storeSettings,
  tlsSettings,
} from './config/part-settings.ts';
import type { Config } from './config/settings.ts';
import { openStoredSettings, type StoredSettings } from './config/stored-settings.ts';
import { consoleFolder } from './console-folder.ts';
import { takeDataFolder } from './data-folder.ts';
import { foreignFiles } from './data-folder-files.ts';
import { findNmap } from './discovery/find-nmap.ts';
import { ScannerThreads } from './discovery/scanner-thread.ts';
import { Scans } from './discovery/scans.ts';
import { ServiceError } from './errors.ts';
import { compileHome, homeAdvice } from './events/home-networks.ts';
import { freeBytesOf } from './free-bytes.ts';
import { AuditLog } from './http/audit-log.ts';
import { Connections } from './http/connections.ts';
import { consoleEndpoints, firstPage } from './http/console-endpoints.ts';
import { readConsole } from './http/console-files.ts';
import { descriptorLimit, descriptorsForConnections } from './http/descriptors.ts';
import { FindingsLog } from './http/findings-log.ts';
import { HealthCheck } from './http/health.ts';
import { IngestQueue } from './http/ingest-queue.ts';
import { LiveFeeds } from './http/live/feeds.ts';
import { serviceHub } from './http/live/service-hub.ts';
import { createSockets } from './http/live/sockets.ts';
import { Metrics } from './http/metrics.ts';
import { LogReadRate, RequestRate } from './http/request-rate.ts';
import { endpoints } from './http/routes/index.ts';
import { type Server, startServer } from './http/server.ts';
import type { Services } from './http/services.ts';
import { TopologyGate } from './http/topology-gate.ts';
import { Turns } from './http/turns.ts';
import { requireAddress } from './http/uws.ts';
import { goesTogether } from './ingest/parse-bodies.ts';
import { requireReadableLog } from './ledger/check/inspect-file.ts';
import { requireSoundTree } from './ledger/check/tree-damage.ts';
import type { Ledger, LedgerStatus, LogReader } from './ledger/ledger.ts';
import { ledgerCounters, ledgerMethods, logReaderMethods } from './ledger/methods.ts';
import { OutboxPump } from './ledger/outbox-pump.ts';
import { ProofBundles } from './ledger/proof-bundles.ts';
import { endProcess, Opened, Reloads, Stop } from './lifecycle.ts';
import { limits } from './limits.ts';
import { openToOthers } from './private-files.ts';
import { requirements } from './requirements.ts';
import { callerApi } from './rpc/connect.ts';
import { createCounters } from './rpc/counters.ts';
import { fromFault } from './rpc/fault.ts';
import { inLanes, type LaneOptions } from './rpc/lanes.ts';
import { createPool, type Pool } from './rpc/pool.ts';
import { type Supervised, supervise } from './rpc/supervise.ts';
import { DetectionRules, type RulesParts } from './rules/detection-rules.ts';
import { IntelLists } from './rules/intel/intel-lists.ts';
import type { IntelTasks } from './rules/intel/tasks.ts';
import type { RuleTasks } from './rules/tasks.ts';
import { EventSealer } from './store/event-sealer.ts';
import { compileAlertFilter } from './store/lists/alerts.ts';
import { listKeys } from './store/lists/keys.ts';
import { compileScanFilter } from './store/lists/scans.ts';
import { openReader } from './store/lmdb/reader.ts';
import { isDamage } from './store/lmdb/seal.ts';
import { storeMethods } from './store/methods.ts';
import { SiemDamage } from './store/siem-damage.ts';
import type { AlertUpdate, Store, StoreReader } from './store/store.ts';
import type { Timestamper } from './timestamps/timestamper.ts';
import { SecondOpinion } from './triage-endpoint/second-opinion.ts';
import { uuid7 } from './uuid.ts';
import { productVersion } from './version.ts';
import { Cosigner } from './witness/cosigner.ts';
import { loadPolicy } from './witness/policy-file.ts';
import { workerUrl } from './worker-url.ts';
import { isDiskFull } from './write-errors.ts';

/**
 * Runs the service until it is told to stop (SIGTERM, SIGINT) or cannot go on, and returns the exit code of the
 * process: 0 after a stop that finished what was accepted, 1 otherwise; 7 where `strict` wants a log that is whole and
 * it isn't.
 */
export async function start(env: NodeJS.ProcessEnv, { strict = false } = {}): Promise<ExitCode> {
  let loaded: LoadedConfig;
  try {
    loaded = loadSettings(env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`candor: ${error.message}\n`);
    return 1;
  }
  const { config } = loaded;
  const log = pino({ level: config['log.level'], base: null, timestamp: pino.stdTimeFunctions.isoTime });
  const stopping = new Stop();
  // A second one is no news and must not end the process half-way: a supervisor that signals the whole group, or a
  // terminal, reaches us directly and through the launcher.
  const stopMs = config['http.drain_ms'] + limits.stopMs;
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      stopping.request(0, signal);
      // A start that hangs, too.
      setTimeout(() => endProcess(false), stopMs).unref();
    });
  const opened = new Opened(log);
  const reloads = new Reloads();
  process.on('SIGHUP', () => reloads.run());
  try {
    const settings = openStoredSettings(env, loaded, requirements);
    await open({ config, settings, strict, log, stopping, opened, reloads });
    const { code, reason } = await stopping.requested;
    log.info({ reason }, 'stopping');
    return code;
  } catch (error) {
    const isFull = isDiskFull(error);
    log.fatal(isFull ? {} : { err: error }, 'cannot start');
    const advice = isFull
      ? `the volume of ${config.data_dir} is full: make room on it and start again; `
      : isDamage(error)
        ? 'siem.mdb is damaged: check the disk, and bring a backup back with `candor restore --replace <backup>`; '
        : '';
    process.stderr.write(`candor: ${advice}${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof DegradedLogError ? exitCodes.degraded : exitCodes.failed;
  } finally {
    const isClosed = await opened.close(stopMs);
    log.info(isClosed ? 'stopped' : 'stopped, though not all could be closed');
    if (!isClosed) await endProcess(false);
  }
}

/** The log can't go on, and the operator wants no service without it. The message is the advice. */
class DegradedLogError extends Error {
  override readonly name = 'DegradedLogError';
}

/** What every part of the start is given. */
interface Start {
  readonly config: Config;
  readonly settings: StoredSettings;
  /** No service without a log that is whole. */
  readonly strict: boolean;
  readonly log: Logger;
  readonly stopping: Stop;
  readonly opened: Opened;
  readonly reloads: Reloads;
}

/** What the parts take from the world. */
const sources = { now: Date.now, newId: (atMs = Date.now()) => uuid7(atMs) };

async function open(start: Start): Promise<void> {
  const { config, settings, log, opened, reloads } = start;
  const startedAt = Date.now();
  const dataDir = config.data_dir;
  await checkFolder(dataDir);
  await checkRecipients(config['backup.recipient']);
  const folder = takeDataFolder(dataDir);
  opened.onClose('data folder', () => folder.release());
  // Before the first start makes an administrator, whose password it prints.
  await requireAddress(config.host, config.port);
  const mended = requireSoundTree(join(dataDir, 'siem.mdb'));

  const counters = createCounters(ledgerCounters);
  const ledger = await startLedger(start, counters.buffer);
  const found = await statusOf(ledger.api, start);
  const warnings = [
    ...found.warnings,
    ...mended,
    ...lostFiles(dataDir, found.size),
    ...openToOthers(dataDir),
    ...foreignFiles(dataDir),
    ...lackOfRoom(dataDir),
  ];
  for (const warning of warnings) log.warn({ warning }, 'start-up noticed something');
  const logReader = await startLogReader(start, counters.buffer, ledger.api, found);
  const store = await startStore(start);
  const advice = homeAdvice(config['network.home'], (await store.api.status()).public_host);
  for (const warning of advice) log.warn({ warning }, 'start-up noticed something');
  const reader = openReader(dataDir);
  opened.onClose('reader', () => reader.close());
  const ingestPool = startIngest(start);
  const damage = new SiemDamage(store.api, Date.now);
  await damage.refresh();
  opened.every('damage of the store', storeDamageEveryMs, () => void damage.refresh().catch(() => undefined));
  const analytics = damage.repeating(startAnalytics(start));
  const ruleTasks = damage.repeating(startRuleTasks(start));

  const metrics = new Metrics(performance.now(), () => counters.read());
  opened.onClose('metrics', () => metrics.close());
  const { limitReached } = metrics;
  const audit = new AuditLog({ store: store.api, ...sources, log, limitReached });
  opened.onClose('audit log', () => audit.close());
  const { auth, takeTokenKeys } = await openAuth(start, {
    store: store.api,
    reader,
    ledger: ledger.api,
    metrics,
  });

  const logError = (err: unknown, message: string) => log.error({ err }, message);
  const hub = serviceHub({
    reader,
    queries: analytics,
    alertFilter: compileAlertFilter,
    scanFilter: compileScanFilter,
    observer: metrics,
    logError,
  });
  const opinions = openSecondOpinion(start, {
    store: store.api,
    reader,
    metrics,
    publish: (update) => live.alerts([update]),
  });
  const live = new LiveFeeds(hub, reader, (updates) => opinions?.saw(updates));
  const accessPolicy = await openAccessPolicy({
    dataDir,
    file: config['policy.file'],
    defaults: policyDefaults(config),
    reader,
    writer: store.api,
    sources,
    isUsed: found.size > 0,
    onChange: () => {
      pump.poke();
      sockets.policyChanged();
    },
    warn: (message, err) => log.warn({ err }, message),
  });
  opened.onClose('access policy', () => accessPolicy.close());
  reloads.add(() => reloadPolicy(accessPolicy, log));
  const sockets = createSockets({
    hub,
    authenticate: auth.authenticate,
    accessOf: (operation) => accessPolicy.accessOf(operation),
    now: Date.now,
    maxSockets: config['limits.max_sockets'],
    limitReached,
    logError,
  });
  const pump = openPump(start, store.api, ledger.api, live);
  opened.every('changes by the store itself', ownChangesEveryMs, () => {
    live.topology();
    if (live.raised() || reader.outboxHead() > 0) pump.poke();
  });
  const rules = await openRules(start, {
    reader,
    writer: store.api,
    tasks: ruleTasks,
    isUsed: found.size > 0,
    onChange: () => pump.poke(),
  });
  reloads.add(() => reloadRules(rules, log));
  const ingest = openIngestQueue(start, ingestPool, rules);
  const intel = new IntelLists({
    reader,
    writer: store.api,
    tasks: analytics,
    home: config['network.home'],
    now: Date.now,
    onChange: () => pump.poke(),
  });
  const backups = openBackups(start, store.api, ledger.api);
  if (found.health.state === 'ok') void backups.recover();
  const cosigner = await openCosigner(start, ledger.api, found);
  const checkpoint = () => cosigner?.checkpoint() ?? ledger.api.checkpoint();
  const timestamper = await openTimestamper(start, ledger.api, checkpoint);
  let sealer: EventSealer | undefined;
  const logStatus = async (): Promise<LedgerStatus> => {
    const status = await ledger.api.status();
    const others = [cosigner, timestamper, sealer].flatMap((part) => part?.findings() ?? []);
    return { ...status, findings: [...status.findings, ...others, ...damage.findings()] };
  };
  const findingsLog = new FindingsLog(log);
  // A ledger thread that is gone is reported by its supervisor.
  const reportFindings = () =>
    logStatus().then(
      (status) => findingsLog.report(status),
      () => undefined,
    );
  opened.every('findings', findingsEveryMs, () => void reportFindings());
  const scanners = new ScannerThreads((err) =>
    log.error({ err, worker: 'discovery' }, 'a worker died, and a scan with it'),
  );
  const scans = await openScans(start, { store: store.api, reader, scanners, live, metrics });

  sealer = await EventSealer.open(config['transparency.seal_events'], {
    store: store.api,
    reader,
    digest: (query) => analytics.run('digestEvents', query),
    onTrouble: (err) => log.error({ err }, 'events could not be sealed; they wait for the next interval'),
    intervalMs: config['transparency.seal_interval_ms'],
  });
  const sealing = sealer;
  if (sealing !== undefined) opened.onClose('event sealer', () => sealing.close());

  let ready = false;
  const services: Services = {
    version: productVersion(),
    startedAt,
    config,
    settings,
    log,
    metrics,
    store: store.api,
    reader,
    policy: accessPolicy,
    ledger: ledger.api,
    logStatus,
    logReader: logReader.api,
    ...(sealing === undefined ? {} : { sealing: () => sealing.status() }),
    proofBundles: new ProofBundles({ reader: logReader.api, ledger: ledger.api, published: checkpoint }),
    logRate: logRate(config, metrics),
    health: new HealthCheck({ store: store.api, ledger: { status: logStatus }, ready: () => ready }),
    checkpoint,
    auth,
    backups,
    scans,
    rules,
    intel,
    ingest: (input) => ingest.add(input),
    queries: analytics,
    damage,
    exports: new Turns('maxExports', limitReached),
    bulkChanges: new Turns('maxBulkChanges', limitReached),
    topology: new TopologyGate({ queries: analytics, head: () => reader.head('topology'), limitReached }),
    listKeys: async (query) => listKeys(await ledger.api.keyRecords(), query),
    publish: (committed) => live.batch(committed),
    publishAlert: (update) => live.alerts([update]),
    pokeOutbox: () => pump.poke(),
    revoked: (jti) => sockets.revoked(jti),
    principalChanged: (id) => sockets.principalChanged(id),
    keysChanged: takeTokenKeys,
    witnesses: () => cosigner?.status(),
    threads: () => [
      ...Object.entries({ ledger, 'log-reader': logReader, store }).map(([name, worker]) =>
        workerStatus(name, worker),
      ),
      ...(scanners.running === undefined ? [] : [workerStatus('discovery', scanners.running)]),
      { ...poolStatus('ingest', ingestPool), pending: ingest.pending },
      poolStatus('analytics', analytics),
      poolStatus('rules', ruleTasks),
    ],
    sockets: () => ({ connections: sockets.count(), subscriptions: hub.subscriptions }),
    ready: () => ready,
  };
  const built = await readConsole(consoleFolder(), { log, limitReached });
  const server = await startServer({
    host: config.host,
    port: config.port,
    ...tlsSettings(config),
    endpoints: [...endpoints(services), ...consoleEndpoints(built)],
    pages: [firstPage(built)],
    authenticate: auth.authenticate,
    audit,
    corsOrigins: config['cors.origins'],
    ...admission(start, metrics),
    log,
    observer: metrics,
    sockets: sockets.register,
    leave: sockets.leave,
    drainMs: config['http.drain_ms'],
  });
  watchFront(metrics, server);
  reloads.add(() => server.reloadTls());
  opened.onClose(
    'front',
    () => {
      ready = false;
      sockets.closeAll();
      return server.close();
    },
    config['http.drain_ms'] + limits.closeMs,
  );
  ready = true;
  const refused = accessPolicy.current.file_refused;
  const policyWarnings = refused === undefined ? [] : [`the access policy stays as it was: ${refused}`];
  await reportFindings();
  show({ ...(await logStatus()), warnings: [...warnings, ...advice, ...policyWarnings] });
  announce(config, server.port, log);
}

async function startLedger(start: Start, counters: SharedArrayBuffer): Promise<Supervised<Ledger>> {
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
      ...keySettings(config),
    },
    ...lossOf('ledger', start),
  });
  opened.onClose('ledger thread', () => ledger.close());
  opened.onClose('ledger', () => ledger.api.close());
  return ledger;
}

/** How often damage that the store found by itself is asked for. */
const storeDamageEveryMs = 1000;

/** How often the ledger takes over what the reader of the log found. */
const readReportEveryMs = 1000;

/**
 * The thread that reads the log for requests. Where a degraded log cannot be opened, reads are refused as the ledger
 * refuses them.
 */
async function startLogReader(
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
      takeReport().catch((err: unknown) =>
        log.warn({ err }, 'the report of the log reader was not taken over'),
      );
    });
    return reader;
  } catch (error) {
    if (health.state === 'ok') throw error;
    log.error({ err: error }, 'the log cannot be read');
    const { advice, fault } = health;
    const refuse = () => Promise.reject(new ServiceError('UNAVAILABLE', advice, { fault }));
    return {
      api: callerApi(logReaderMethods, refuse),
      stats: () => ({ pending: 0, inFlightBytes: 0, restarts: 0 }),
    };
  }
}

function logRate(config: Config, { limitReached }: Metrics): LogReadRate | undefined {
  const perAddress = config['limits.log_reads_per_s_per_address'];
  return perAddress === 0 ? undefined : new LogReadRate(perAddress, limitReached);
}

/** How the log was found. @throws DegradedLogError where it can't go on and `strict` wants that it can. */
async function statusOf(ledger: Ledger, { strict }: Start): Promise<LedgerStatus> {
  const found = await ledger.status();
  if (found.health.state === 'degraded' && strict) {
    show(found);
    throw new DegradedLogError(found.health.advice);
  }
  return found;
}

/**
 * The log remembers that there was more. Without siem.mdb, the store is about to begin with no events and no identities:
 * with another password for the administrator, and without what waited to be logged.
 */
function lostFiles(dataDir: string, logSize: number): string[] {
  const lost = {
    'siem.mdb':
      'events, alerts, principals and what was yet to be logged are lost, and a new, empty one was begun',
    'policy.in-effect.json': 'who may do what was lost, and is what policy.file says, or else the default',
  };
  return Object.entries(lost)
    .filter(([name]) => logSize > 0 && !existsSync(join(dataDir, name)))
    .map(
      ([name, consequence]) =>
        `${name} was missing, though the log has entries: ${consequence}. To have it back, stop the service and run ` +
        '`candor restore --replace <backup>`.',
    );
}

/** Writes that a volume without room refuses; the limits are checked at each write. */
function lackOfRoom(dataDir: string): string[] {
  const free = freeBytesOf(dataDir);
  if (free >= limits.minFreeDiskBytes) return [];
  return [
    `the volume of ${dataDir} has ${free} bytes free: events are refused below ${limits.minFreeDiskBytes} bytes, and log ` +
      `entries below ${limits.minFreeLedgerDiskBytes}. Stored data can be read. Make room: nothing needs a restart.`,
  ];
}

async function startStore(start: Start): Promise<Supervised<Store>> {
  const { config, opened } = start;
  const store = await supervise<Store>({
    name: 'store',
    url: workerUrl('store'),
    list: storeMethods,
    workerData: {
      ...storeSettings(config),
      retention: { maxAgeMs: config['retention.max_age_ms'], maxBytes: config['retention.max_bytes'] },
    },
    // What a commit makes outlives a small one: with 8 MB, 1.4 µs more an event go into copying it (6.3 of 7.7), and the
    // old generation takes the room that the young one saves.
    maxYoungGenerationMb: 24,
    // Fifteen times what was seen in use under load. With the default, 4 GB, a heap of which 100 MB are in use grows to 300
    // before it is collected; with less than 2 GB, V8 lets it grow by less, here to 1.8 times what is in use.
    maxOldGenerationMb: 1536,
    ...lossOf('store', start),
  });
  opened.onClose('store thread', () => store.close());
  opened.onClose('store', () => store.api.close());
  return store;
}

/** Without the ledger or the store there is no service. */
const lossOf = (worker: string, { log, stopping }: Start) => ({
  onRestart: (err: Error) => log.error({ err, worker }, 'a worker died and was restarted'),
  onGiveUp: (err: Error) => {
    log.fatal({ err, worker }, 'a worker died twice within a minute');
    stopping.request(1, `worker ${worker} is lost`);
  },
});

function startIngest({ config, log, opened }: Start): Pool<IngestTasks> {
  const ingest = createPool<IngestTasks>({
    name: 'ingest',
    url: workerUrl('ingest'),
    threads: config['threads.ingest'],
    maxQueue: limits.maxQueuedBodies,
    // A line's objects die with it: collected often, 2 threads need 100 MB less, and lose no speed (bench ingest-http).
    maxYoungGenerationMb: 8,
    onWorkerLost: poolLoss('ingest', log),
  });
  opened.onClose('ingest pool', () => ingest.close());
  return ingest;
}

/** Bodies on their way to the pool, each with the rules that are in effect when a thread takes it. */
function openIngestQueue(
  { config }: Start,
  pool: Pool<IngestTasks>,
  rules: Pick<DetectionRules, 'inEffect'>,
): IngestQueue {
  return new IngestQueue(
    config['threads.ingest'],
    async (bodies) => {
      const { groups, places } = await pool.run('ingest', { bodies, rules: rules.inEffect });
      const told = places.map((place) => ('fault' in place ? { error: fromFault(place.fault) } : place));
      return { groups, places: told };
    },
    goesTogether,
  );
}

function startAnalytics({ config, log, opened }: Start): Pool<Queries & IntelTasks> {
  const analytics = createPool<Queries & IntelTasks>({
    name: 'analytics',
    url: workerUrl('analytics'),
    threads: config['threads.analytics'],
    maxQueue: config['limits.max_queued_queries'],
    workerData: { dataDir: config.data_dir },
    // Columns lie outside of the heap; what queries make in it dies with them. Saves 24 MB a thread.
    maxYoungGenerationMb: 8,
    onWorkerLost: poolLoss('analytics', log),
  });
  const lanes = inLanes(
    analytics,
    queryLanes(config['threads.analytics'], config['limits.max_queued_queries']),
  );
  opened.onClose('analytics pool', () => lanes.close());
  return lanes;
}

/**
 * The thread in which rules are parsed, compiled and tried: however long that takes, queries have theirs. Changes go
 * before tests and validations that wait.
 */
function startRuleTasks({ config, log, opened }: Start): Pool<RuleTasks> {
  const pool = createPool<RuleTasks>({
    name: 'rules',
    url: workerUrl('rules'),
    threads: 1,
    maxQueue: limits.maxQueuedRuleTasks,
    workerData: { dataDir: config.data_dir },
    maxTaskMs: limits.ruleTaskMs,
    onWorkerLost: poolLoss('rules', log),
  });
  const lanes = inLanes(pool, {
    threads: 1,
    maxQueue: limits.maxQueuedRuleTasks,
    maxOfCaller: limits.maxRuleTasksPerPrincipal,
    isShort: (task) => task !== 'testRules' && task !== 'validateRules',
  });
  opened.onClose('rules pool', () => lanes.close());
  return lanes;
}

/** Long queries leave a thread to the short ones; no principal takes all that may be under way. */
const queryLanes = (threads: number, maxQueue: number): LaneOptions => ({
  threads,
  maxQueue,
  maxOfCaller: Math.ceil((threads + maxQueue) * limits.maxQueryShareOfPrincipal),
  isShort,
});

const poolLoss = (pool: string, log: Logger) => (err: Error) =>
  log.error({ err, pool }, 'a pool lost a thread and replaced it');

/**
 * How old the front's idea of the token keys may be. It is told of changes; this is for those that the ledger made by
 * itself, finishing at its start what a crash cut short, and for dropping keys whose tokens have all expired.
 */
const tokenKeysEveryMs = 5000;

/** How often it is written down when tokens were last used: to the minute is what is promised. */
const tokenUsesEveryMs = 60_000;

/** Credentials, with what keeps them up: the keys that the ledger has now, and when tokens were last used. */
async function openAuth(
  { config, log, opened }: Start,
  parts: {
    readonly store: Store;
    readonly reader: StoreReader;
    readonly ledger: Ledger;
    readonly metrics: Metrics;
  },
) {
  const { store, reader, ledger, metrics } = parts;
  const auth = createAuth({
    reader,
    writer: store,
    tokenKeys: await ledger.accessTokenKeys(),
    sources,
    limitReached: metrics.limitReached,
    lives: { accessTokenMs: config['auth.access_token_ms'], sessionMs: config['auth.session_ms'] },
    loginFailuresPerAddress: config['limits.login_failures_per_min_per_address'],
  });
  const isNew = await ensureAdministrator(
    { reader, writer: store, sources },
    config.admin_password,
    showPassword,
  );
  if (!isNew && config.admin_password !== undefined)
    log.warn(
      'CANDOR_ADMIN_PASSWORD is ignored: it sets the password at the first start only; `candor reset-password` changes it',
    );
  const takeTokenKeys = async () => auth.useTokenKeys(await ledger.accessTokenKeys());
  // The ledger's thread may be restarting: the keys that are here do until it is back.
  opened.every('token keys', tokenKeysEveryMs, () =>
    takeTokenKeys().catch((err: unknown) => log.warn({ err }, 'the token keys could not be read')),
  );
  opened.onClose('last token uses', () => auth.writeTokenUses());
  opened.every('token uses', tokenUsesEveryMs, () =>
    auth
      .writeTokenUses()
      .catch((err: unknown) => log.warn({ err }, 'when tokens were last used could not be written yet')),
  );
  return { auth, takeTokenKeys };
}

/** How often changes of the graph and of alerts are looked for that came after a commit or without one. */
const ownChangesEveryMs = 1000;

/** How often new findings of the transparency log are looked for, to be written to the service's log. */
const findingsEveryMs = 60_000;

/** SIGHUP reads the file of the access policy anew. One that cannot be used is told of and changes nothing. */
function reloadPolicy(policy: AccessPolicy, log: Logger): void {
  policy.reload({ id: 'system', name: 'system' }).then(
    ({ version }) => log.info({ version }, 'the access policy was reloaded'),
    (err: unknown) => log.warn({ err }, 'the access policy stays as it was'),
  );
}

/** The detection rules: those that come with the program, those of the operator's folder and those that people made. */
async function openRules(
  { config, log, opened }: Start,
  parts: Pick<RulesParts, 'reader' | 'writer' | 'tasks' | 'isUsed' | 'onChange'>,
): Promise<DetectionRules> {
  const rules = await DetectionRules.open({
    ...parts,
    folders: [
      { origin: 'shipped', path: fileURLToPath(new URL('detect/rules', import.meta.url)) },
      { origin: 'folder', path: config['detection.rules_dir'] ?? join(config.data_dir, 'rules') },
    ],
    placeholders: rulePlaceholders(config),
    sources,
    warn: (message, details) => log.warn(details, message),
  });
  opened.onClose('detection rules', () => rules.close());
  return rules;
}

/** SIGHUP reads the folders of detection rules anew. */
function reloadRules(rules: DetectionRules, log: Logger): void {
  rules.reload({ id: 'system', name: 'system' }).then(
    ({ broken: _, unchanged: __, ...reloaded }) => log.info(reloaded, 'the detection rules were reloaded'),
    (err: unknown) => log.warn({ err }, 'the detection rules stay as they were'),
  );
}

function openPump(
  { log, opened }: Start,
  store: Store,
  ledger: Ledger,
  live: LiveFeeds,
): OutboxPump<AlertUpdate> {
  const pump = new OutboxPump<AlertUpdate>({
    source: store,
    ledger,
    onUpdates: (updates) => live.alerts(updates),
    onRetry: (error, waitMs) => log.warn({ err: error, wait_ms: waitMs }, 'the outbox waits for the ledger'),
    onRefused: (row, error) => log.error({ err: error, entry: row.id }, 'the ledger refused an entry'),
  });
  opened.onClose('outbox pump', () => pump.idle().then(() => pump.close()));
  return pump;
}

function openBackups({ config, log, opened }: Start, store: Store, ledger: Ledger): BackupFolder {
  const backups = new BackupFolder({
    dir: config['backup.dir'] ?? join(config.data_dir, 'backups'),
    dataDir: config.data_dir,
    store,
    ledger,
    verify: verifyInThread,
    recipients: config['backup.recipient'],
    productVersion: productVersion(),
    now: Date.now,
    onEnd: ({ id, attributes }: BackupRecord, err?: unknown) =>
      err === undefined
        ? log.info({ backup: id, path: attributes.path, bytes: attributes.size }, 'backup completed')
        : log.error({ err, backup: id }, 'backup failed'),
    onFinding: (message, err) => log.warn(err === undefined ? {} : { err }, message),
  });
  opened.onClose('backups', () => backups.close());
  return backups;
}

/** A thread for one verification: it reads everything once, seldom, and keeps nothing. */
async function verifyInThread(folder: string, signal: AbortSignal): Promise<Verified> {
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

/** Undefined where no witnesses are configured. A log that lost its key has no checkpoints. */
async function openCosigner(
  { config, log, opened }: Start,
  ledger: Ledger,
  found: LedgerStatus,
): Promise<Cosigner | undefined> {
  const path = config['witness.policy'];
  const policy = path === undefined ? undefined : loadPolicy(path);
  if (policy === undefined || found.checkpoint_vkey === '') return undefined;
  const cosigner = await Cosigner.start({
    ledger,
    policy,
    waitMs: config['witness.wait_ms'],
    intervalMs: config['witness.interval_ms'],
    fail: config['witness.fail'],
    log,
    now: Date.now,
  });
  opened.onClose('cosigning', () => cosigner.close());
  return cosigner;
}

/** Has published checkpoints timestamped, where authorities are configured. */
async function openTimestamper(
  { config, log, opened }: Start,
  ledger: Ledger,
  checkpoint: () => Promise<string>,
): Promise<Timestamper | undefined> {
  const { 'timestamps.authorities': authorities, 'timestamps.ca_file': caFile } = config;
  if (authorities.length === 0) return undefined;
  // Services without timestamps do not load what reads ASN.1.
  const { Timestamper } = await import('./timestamps/timestamper.ts');
  const { readCertificates } = await import('./timestamps/certificates.ts');
  const timestamper = await Timestamper.start({
    ledger,
    checkpoint,
    authorities,
    trusted: caFile === undefined ? undefined : readCertificates(caFile),
    intervalMs: config['timestamps.interval_ms'],
    timeoutMs: config['timestamps.timeout_ms'],
    log,
    ...sources,
  });
  opened.onClose('timestamps', () => timestamper.close());
  return timestamper;
}

/** Whoever is asked for a second verdict on alerts; undefined where nobody is configured. */
function openSecondOpinion(
  { config, log, opened }: Start,
  parts: {
    readonly store: Store;
    readonly reader: StoreReader;
    readonly metrics: Metrics;
    readonly publish: (update: AlertUpdate) => void;
  },
): SecondOpinion | undefined {
  const { store, reader, metrics, publish } = parts;
  const { 'triage.endpoint': url, 'triage.model': model } = config;
  if (url === undefined || model === undefined) return undefined;
  const opinions = new SecondOpinion({
    endpoint: { url, model, apiKey: config['triage.api_key'], timeoutMs: config['triage.timeout_ms'] },
    minSeverity: config['triage.min_severity'],
    maxPerMinute: config['triage.max_per_minute'],
    redact: config['triage.redact'],
    isHome: compileHome(config['network.home']),
    store,
    reader,
    publish,
    onOutcome: metrics.asked,
    limitReached: metrics.limitReached,
    onTrouble: (message, details) => log.warn(details, message),
    now: Date.now,
    newMark: randomUUID,
  });
  opened.onClose('second opinions', () => opinions.close());
  return opinions;
}

/** The queue of scans, with what an earlier process left undone. */
async function openScans(
  { config, log, opened }: Start,
  parts: {
    readonly store: Store;
    readonly reader: StoreReader;
    readonly scanners: ScannerThreads;
    readonly live: LiveFeeds;
    readonly metrics: Metrics;
  },
): Promise<Scans> {
  const { store, reader, scanners, live, metrics } = parts;
  const scans = new Scans({
    store,
    reader,
    terms: {
      allowedNetworks: config['discovery.allowed_networks'],
      nmap: () => findNmap(config['discovery.nmap'], process.env.PATH ?? ''),
    },
    openScanner: () => scanners.open(),
    publish: (update) => live.scan(update),
    ...sources,
    limitReached: metrics.limitReached,
    onTrouble: (message, err) => log.warn({ err }, message),
  });
  opened.onClose('scans', () => scans.close());
  await scans.recover();
  return scans;
}

/** A request to the wrong protocol ends its connection before it can be read. */
const unusedConnection = (isTls: boolean): string =>
  `a connection ended before its first request: if a client cannot connect, check that its URL begins with ${
    isTls
      ? 'https:// (not http://) and that it trusts the certificate'
      : 'http:// (not https://), or set CANDOR_TLS_CERT'
  }; reported at most once an hour`;

/** How many may connect, and how often they may ask. */
function admission({ config, log }: Start, { limitReached }: Metrics) {
  const max = config['limits.max_connections'];
  const all = descriptorLimit();
  const descriptors = all === undefined ? undefined : descriptorsForConnections(all);
  if (descriptors !== undefined && descriptors < max)
    log.warn(
      { descriptors: all, connections: descriptors, 'limits.max_connections': max },
      'the file descriptors of this process are enough for fewer connections than are allowed: raise its limit (ulimit -n)',
    );
  return {
    connections: new Connections({
      max,
      maxPerAddress: config['limits.max_connections_per_address'],
      descriptors,
      limitReached,
      onRefused: (open) => log.warn({ open }, 'connections are refused: the limit is reached'),
      onUnused: (address) => log.info({ address }, unusedConnection(config['tls.cert'] !== undefined)),
    }),
    rate: new RequestRate({
      perAddress: config['limits.requests_per_s_per_address'],
      perPrincipal: config['limits.requests_per_s_per_principal'],
      limitReached,
    }),
  };
}

function watchFront(metrics: Metrics, server: Server): void {
  metrics.watch(
    'candor_http_connections',
    'Open connections, WebSockets included.',
    () => server.connections,
  );
  metrics.watch(
    'candor_http_requests_in_flight',
    'Requests that were not answered yet.',
    () => server.inFlight,
  );
  metrics.watch(
    'candor_http_unsent_bytes',
    'Bytes of answers that clients have not read.',
    () => server.unsentBytes,
  );
}

function workerStatus(name: string, worker: Pick<Supervised<object>, 'stats'>) {
  const { pending, inFlightBytes, restarts } = worker.stats();
  return { name, pending, in_flight_bytes: inFlightBytes, restarts };
}

function poolStatus(name: string, pool: Pick<Pool<never>, 'stats'>) {
  const { queued, running, completed } = pool.stats();
  return { name, pending: queued + running, completed };
}

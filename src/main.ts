/**
 * The composition root: configuration, workers, HTTP server, signals and shutdown. No other file
 * starts the parts of the service; `main/threads.ts` starts their threads.
 *
 * Start order: lock the data folder; open the ledger (before the event database exists, so that it can
 * distinguish a new folder from one that lost its log); then the store, the worker pools and the HTTP server.
 * Shutdown is the reverse: the HTTP server finishes accepted requests, the outbox is drained, and the
 * databases are closed.
 */
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { type Logger, pino } from 'pino';
import type { IngestTasks } from '../workers/ingest.ts';
import { Connections } from './admission/connections.ts';
import { descriptorLimit, descriptorsForConnections } from './admission/descriptors.ts';
import { LogReadRate, RequestRate } from './admission/request-rate.ts';
import { Semaphore } from './admission/semaphore.ts';
import { compileAlertFilter } from './alerts/lists/alerts.ts';
import { ExternalTriage } from './alerts/triage/external/external-triage.ts';
import { BackupFolder, type BackupRecord } from './backup/backups.ts';
import { checkRecipients } from './backup/private-keys.ts';
import { ConfigError } from './config/config-error.ts';
import { type LoadedConfig, loadSettings } from './config/load.ts';
import { policyDefaults, rulePlaceholders, tlsSettings } from './config/part-settings.ts';
import type { Config } from './config/settings.ts';
import { openStoredSettings, type StoredSettings } from './config/stored-settings.ts';
import { restoreAdvice, unusableStoreAdvice } from './database/damage.ts';
import { isFailedWrite } from './database/failed-write.ts';
import { isDamage } from './database/rows.ts';
import { findNmap } from './discovery/find-nmap.ts';
import { compileScanFilter } from './discovery/lists/scans.ts';
import { ScannerThreads } from './discovery/scanner-thread.ts';
import { Scans } from './discovery/scans.ts';
import { SealScheduler } from './events/store/seal-scheduler.ts';
import { checkFolder } from './files/check-folder.ts';
import { takeDataFolder } from './files/data-folder.ts';
import { foreignFiles } from './files/data-folder-files.ts';
import { freeBytesOf } from './files/free-bytes.ts';
import { openToOthers } from './files/private-files.ts';
import { isDiskFull } from './files/write-errors.ts';
import { AuditLog } from './http/audit-log.ts';
import { consoleEndpoints, firstPage } from './http/console-endpoints.ts';
import { readConsole } from './http/console-files.ts';
import { LiveFeeds } from './http/live/feeds.ts';
import { serviceHub } from './http/live/service-hub.ts';
import { createSockets } from './http/live/sockets.ts';
import { endpoints } from './http/routes/index.ts';
import { type Server, startServer } from './http/server.ts';
import type { Services } from './http/services.ts';
import { SingleFlight } from './http/single-flight.ts';
import { requireAddress } from './http/uws.ts';
import { type AccessPolicy, openAccessPolicy } from './identities/access-policy.ts';
import { createAuth } from './identities/auth.ts';
import { ensureAdministrator } from './identities/bootstrap.ts';
import { IngestPipeline } from './ingest/pipeline.ts';
import { requireSoundTree } from './ledger/check/tree-damage.ts';
import { listKeys } from './ledger/keys/key-list.ts';
import type { Ledger, LedgerStatus } from './ledger/ledger.ts';
import { ledgerCounters } from './ledger/methods.ts';
import { OutboxPump } from './ledger/outbox-pump.ts';
import { ProofBundles } from './ledger/proof-bundles.ts';
import { SignedCheckpoint } from './ledger/signed-checkpoint.ts';
import { limits } from './limits.ts';
import {
  poolStatus,
  startAnalytics,
  startIngest,
  startLedger,
  startLogReader,
  startRuleTasks,
  startStore,
  verifyInThread,
  workerStatus,
} from './main/threads.ts';
import { compileHome, homeAdvice } from './net/home-networks.ts';
import { FindingsLog } from './observability/findings-log.ts';
import { HealthCheck } from './observability/health.ts';
import { Metrics } from './observability/metrics.ts';
import { createCounters } from './rpc/counters.ts';
import { fromFault } from './rpc/fault.ts';
import type { Pool } from './rpc/pool.ts';
import { DetectionRules, type RulesParts } from './rules/detection-rules.ts';
import { IntelLists } from './rules/intel/intel-lists.ts';
import { announce, show, showPassword } from './service/announce.ts';
import { consoleFolder } from './service/console-folder.ts';
import { type ExitCode, exitCodes } from './service/exit-codes.ts';
import { endProcess, Opened, Reloads, Stop } from './service/lifecycle.ts';
import { requirements } from './service/requirements.ts';
import { productVersion } from './service/version.ts';
import { openReader } from './store/reader.ts';
import { SiemDamage } from './store/siem-damage.ts';
import type { CommitNotice, Store, StoreReader } from './store/store.ts';
import type { Timestamper } from './timestamps/timestamper.ts';
import { uuid7 } from './uuid.ts';
import { Cosigner } from './witness/cosigner.ts';
import { loadPolicy } from './witness/policy-file.ts';

/**
 * Runs the service until a signal (SIGTERM, SIGINT) or a fatal error, and returns the exit code of the
 * process: 0 after a stop that completed accepted work; 7 if `strict` requires an intact log and the log is
 * degraded; 1 otherwise.
 */
export async function start(env: NodeJS.ProcessEnv, { strict = false } = {}): Promise<ExitCode> {
  // The launcher's option limits the young generation of this thread. It would override the limits of the threads that
  // start later.
  setFlagsFromString('--max-semi-space-size=0');
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
  // Repeated signals are ignored so that shutdown can finish: a supervisor that signals the whole group, or a
  // terminal, reaches this process both directly and through the launcher.
  const stopMs = config['http.drain_ms'] + limits.stopMs;
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      stopping.request(0, signal);
      // The timer also ends a start-up that hangs.
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
      ? `the volume of ${config.data_dir} is full: free space on it and start again; `
      : isDamage(error)
        ? `siem.mdb is damaged. ${unusableStoreAdvice} The error: `
        : '';
    process.stderr.write(`candor: ${advice}${error instanceof Error ? error.message : String(error)}\n`);
    // Closing the other database could crash or hang: see `isFailedWrite`.
    if (isFailedWrite(error)) process.exit(exitCodes.failed);
    return error instanceof DegradedLogError ? exitCodes.degraded : exitCodes.failed;
  } finally {
    const isClosed = await opened.close(stopMs);
    log.info(isClosed ? 'stopped' : 'stopped, but not everything could be closed');
    if (!isClosed) await endProcess(false);
  }
}

/** Thrown if the log is degraded although the operator requires an intact log. The message is the log's advice. */
class DegradedLogError extends Error {
  override readonly name = 'DegradedLogError';
}

/** Context that the functions of the start-up share. */
export interface Start {
  readonly config: Config;
  readonly settings: StoredSettings;
  /** Whether the log must be intact. */
  readonly strict: boolean;
  readonly log: Logger;
  readonly stopping: Stop;
  readonly opened: Opened;
  readonly reloads: Reloads;
}

/** Parts that several other parts use. */
interface SharedParts {
  readonly store: Store;
  readonly reader: StoreReader;
  readonly ledger: Ledger;
  readonly metrics: Metrics;
}

/** Sources of time and ids for all parts. */
const sources = { now: Date.now, newId: (atMs = Date.now()) => uuid7(atMs) };

async function open(start: Start): Promise<void> {
  const { config, settings, log, opened, reloads } = start;
  const startedAt = Date.now();
  const dataDir = config.data_dir;
  await checkFolder(dataDir);
  await checkRecipients(config['backup.recipient']);
  const folder = takeDataFolder(dataDir);
  opened.onClose('data folder', () => folder.release());
  // Checks the address before the first start creates an administrator and prints the password.
  await requireAddress(config.host, config.port);
  const mended = requireSoundTree(join(dataDir, 'siem.mdb'));

  const counters = createCounters(ledgerCounters);
  const ledger = await startLedger(start, counters.buffer);
  const found = await statusOf(ledger.api, start);
  const warnings = [
    ...found.warnings,
    ...mended,
    ...lostStore(dataDir, found.size),
    ...openToOthers(dataDir),
    ...foreignFiles(dataDir),
    ...lackOfRoom(dataDir),
  ];
  for (const warning of warnings) log.warn({ warning }, 'start-up warning');
  const logReader = await startLogReader(start, counters.buffer, ledger.api, found);
  const committed = new EventEmitter<{ notice: [CommitNotice] }>();
  const store = await startStore(start, (notice) => committed.emit('notice', notice));
  const advice = homeAdvice(config['network.home'], (await store.api.status()).public_host);
  for (const warning of advice) log.warn({ warning }, 'start-up warning');
  const reader = openReader(dataDir);
  opened.onClose('reader', () => reader.close());
  const ingestPool = startIngest(start);
  const damage = new SiemDamage(store.api, Date.now);
  await damage.refresh();
  opened.every('store damage check', storeDamageEveryMs, () => void damage.refresh().catch(() => undefined));
  const analytics = damage.repeating(startAnalytics(start));
  const ruleTasks = damage.repeating(startRuleTasks(start));

  const metrics = new Metrics(performance.now(), () => counters.read());
  opened.onClose('metrics', () => metrics.close());
  const { limitReached } = metrics;
  const audit = new AuditLog({ store: store.api, ...sources, log, limitReached });
  opened.onClose('audit log', () => audit.close());
  const shared = { store: store.api, reader, ledger: ledger.api, metrics };
  const { auth, takeTokenKeys } = await openAuth(start, shared);

  const logError = (err: unknown, message: string) => log.error({ err }, message);
  const hub = serviceHub({
    reader,
    queries: analytics,
    alertFilter: compileAlertFilter,
    scanFilter: compileScanFilter,
    observer: metrics,
    logError,
  });
  const opinions = openSecondOpinion(start, shared);
  const live = new LiveFeeds({ hub, reader, logError, onAlerts: (updates) => opinions?.saw(updates) });
  committed.on('notice', (notice) => live.committed(notice));
  const pump = openPump(start, store.api, ledger.api);
  committed.on('notice', ({ outbox }) => {
    if (outbox > 0) pump.wake();
  });
  const accessPolicy = await openAccessPolicy({
    dataDir,
    file: config['policy.file'],
    defaults: policyDefaults(config),
    reader,
    writer: store.api,
    sources,
    isUsed: found.size > 0,
    onChange: () => sockets.policyChanged(),
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
  const rules = await openRules(start, {
    reader,
    writer: store.api,
    tasks: ruleTasks,
    isUsed: found.size > 0,
  });
  reloads.add(() => reloadRules(rules, log));
  const ingest = openIngest(start, { pool: ingestPool, store: store.api, rules, live, metrics });
  const intel = new IntelLists({
    reader,
    writer: store.api,
    tasks: analytics,
    home: config['network.home'],
    now: Date.now,
  });
  const backups = openBackups(start, store.api, ledger.api);
  if (found.health.state === 'ok') void backups.recover();
  const cosigner = await openCosigner(start, ledger.api, found);
  const signed = new SignedCheckpoint({ reader: logReader.api, ledger: ledger.api });
  const checkpoint = () => cosigner?.checkpoint() ?? signed.get();
  const timestamper = await openTimestamper(start, ledger.api, checkpoint);
  let sealer: SealScheduler | undefined;
  const logStatus = async (): Promise<LedgerStatus> => {
    const status = await ledger.api.status();
    const others = [cosigner, timestamper, sealer].flatMap((part) => part?.findings() ?? []);
    return { ...status, findings: [...status.findings, ...others, ...damage.findings()] };
  };
  const findingsLog = new FindingsLog(log);
  // Errors are ignored, because the supervisor reports a dead ledger thread.
  const reportFindings = () =>
    logStatus().then(
      (status) => findingsLog.report(status),
      () => undefined,
    );
  opened.every('findings', findingsEveryMs, () => void reportFindings());
  const scanners = new ScannerThreads((err) =>
    log.error({ err, worker: 'discovery' }, 'a worker died, which ended a scan'),
  );
  const scans = await openScans(start, shared, scanners);

  sealer = await SealScheduler.open(config['transparency.seal_events'], {
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
    ingest,
    queries: analytics,
    damage,
    exports: new Semaphore('maxExports', limitReached),
    bulkChanges: new Semaphore('maxBulkChanges', limitReached),
    topology: new SingleFlight({ queries: analytics, head: () => reader.head('topology'), limitReached }),
    listKeys: async (query) => listKeys(await ledger.api.keyRecords(), query),
    revoked: (jti) => sockets.revoked(jti),
    principalChanged: (id) => sockets.principalChanged(id),
    keysChanged: takeTokenKeys,
    witnesses: () => cosigner?.status(),
    threads: () => [
      ...Object.entries({ ledger, 'log-reader': logReader, store }).map(([name, worker]) => workerStatus(name, worker)),
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
  const policyWarnings = refused === undefined ? [] : [`the previous access policy stays in effect: ${refused}`];
  await reportFindings();
  show({ ...(await logStatus()), warnings: [...warnings, ...advice, ...policyWarnings] });
  announce(config, server.port, log);
}

/** How often the store is queried for the damage that it knows of. */
const storeDamageEveryMs = 1000;

function logRate(config: Config, { limitReached }: Metrics): LogReadRate | undefined {
  const perAddress = config['limits.log_reads_per_s_per_address'];
  return perAddress === 0 ? undefined : new LogReadRate(perAddress, limitReached);
}

/** Returns the state of the log. Throws DegradedLogError if the log is degraded and `strict` is set. */
async function statusOf(ledger: Ledger, { strict }: Start): Promise<LedgerStatus> {
  const found = await ledger.status();
  if (found.health.state === 'degraded' && strict) {
    show(found);
    throw new DegradedLogError(found.health.advice);
  }
  return found;
}

/**
 * Returns a warning if siem.mdb is missing although the log has entries. The store then starts without events
 * and identities: the administrator gets a new password, and entries that waited to be logged are lost.
 */
function lostStore(dataDir: string, logSize: number): string[] {
  if (logSize === 0 || existsSync(join(dataDir, 'siem.mdb'))) return [];
  return [
    'siem.mdb was missing, though the log has entries: events, alerts, principals and waiting log entries are lost, and ' +
      'a new, empty one was created. The access policy is now that of policy.file or, without policy.file, the default. ' +
      `To recover siem.mdb, stop the service, put the file back and run \`candor fsck\`. ${restoreAdvice('If there is no newer copy')}`,
  ];
}

/**
 * Returns a warning if writes will be refused because the volume is full. The limits are checked at each
 * write.
 */
function lackOfRoom(dataDir: string): string[] {
  const free = freeBytesOf(dataDir);
  if (free >= limits.minFreeDiskBytes) return [];
  return [
    `the volume of ${dataDir} has ${free} bytes free: events are refused below ${limits.minFreeDiskBytes} bytes, and log ` +
      `entries below ${limits.minFreeLedgerDiskBytes}. Stored data can be read. Free space on the volume; no restart is necessary.`,
  ];
}

/** Opens the ingest path. Each body is parsed with the rules in effect when a thread takes it. */
function openIngest(
  { config }: Start,
  parts: {
    readonly pool: Pool<IngestTasks>;
    readonly store: Store;
    readonly rules: DetectionRules;
    readonly live: LiveFeeds;
    readonly metrics: Metrics;
  },
): IngestPipeline {
  const { pool, store, rules, live, metrics } = parts;
  return new IngestPipeline({
    threads: config['threads.ingest'],
    parse: async (bodies) => {
      const { groups, places } = await pool.run('ingest', { bodies, rules: rules.inEffect });
      return {
        groups,
        places: places.map((place) => ('fault' in place ? { error: fromFault(place.fault) } : place)),
      };
    },
    store,
    rules,
    limitReached: metrics.limitReached,
    onStored: (blocks) => live.events(blocks),
  });
}

/**
 * Interval at which the HTTP server reads the token keys. The server is notified of most changes; the refresh finds
 * changes that the ledger completed at its start, and drops keys whose tokens have all expired.
 */
const tokenKeysEveryMs = 5000;

/** How often the last use of tokens is written; the documented precision is a minute. */
const tokenUsesEveryMs = 60_000;

/** Opens authentication, and regularly updates the token keys and writes the last use of tokens. */
async function openAuth({ config, log, opened }: Start, { store, reader, ledger, metrics }: SharedParts) {
  const auth = createAuth({
    reader,
    writer: store,
    tokenKeys: await ledger.accessTokenKeys(),
    sources,
    limitReached: metrics.limitReached,
    lives: { accessTokenMs: config['auth.access_token_ms'], sessionMs: config['auth.session_ms'] },
    loginFailuresPerAddress: config['limits.login_failures_per_min_per_address'],
  });
  const isNew = await ensureAdministrator({ reader, writer: store, sources }, config.admin_password, showPassword);
  if (!isNew && config.admin_password !== undefined)
    log.warn(
      'CANDOR_ADMIN_PASSWORD is ignored: it sets the password at the first start only; `candor reset-password` changes it',
    );
  const takeTokenKeys = async () => auth.useTokenKeys(await ledger.accessTokenKeys());
  // The ledger's thread may be restarting; the current keys are used until the thread is available.
  opened.every('token keys', tokenKeysEveryMs, () =>
    takeTokenKeys().catch((err: unknown) => log.warn({ err }, 'could not read the token keys')),
  );
  opened.onClose('last token uses', () => auth.writeTokenUses());
  opened.every('token uses', tokenUsesEveryMs, () =>
    auth.writeTokenUses().catch((err: unknown) => log.warn({ err }, 'could not write the last use of tokens yet')),
  );
  return { auth, takeTokenKeys };
}

/** How often new findings of the transparency log are written to the service's log. */
const findingsEveryMs = 60_000;

/** Handles SIGHUP for the access policy file. An invalid file is reported and has no effect. */
function reloadPolicy(policy: AccessPolicy, log: Logger): void {
  policy.reload({ id: 'system', name: 'system' }).then(
    ({ version }) => log.info({ version }, 'the access policy was reloaded'),
    (err: unknown) => log.warn({ err }, 'cannot reload the access policy; keeping the previous one'),
  );
}

/** Opens the detection rules: shipped rules, rules in the operator's folder, and rules that users created. */
async function openRules(
  { config, log, opened }: Start,
  parts: Pick<RulesParts, 'reader' | 'writer' | 'tasks' | 'isUsed'>,
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

/** Handles SIGHUP for the rule folders. */
function reloadRules(rules: DetectionRules, log: Logger): void {
  rules.reload({ id: 'system', name: 'system' }).then(
    ({ broken: _, unchanged: __, ...reloaded }) => log.info(reloaded, 'the detection rules were reloaded'),
    (err: unknown) => log.warn({ err }, 'cannot reload the detection rules; keeping the previous ones'),
  );
}

function openPump({ log, opened }: Start, store: Store, ledger: Ledger): OutboxPump {
  const pump = new OutboxPump({
    source: store,
    ledger,
    onRetry: (error, waitMs) => log.warn({ err: error, wait_ms: waitMs }, 'the outbox is waiting for the ledger'),
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

/**
 * Opens the cosigner; undefined if no witnesses are configured, or if the log lost its key and therefore has
 * no checkpoints.
 */
async function openCosigner(
  { config, log, opened }: Start,
  ledger: Ledger,
  found: LedgerStatus,
): Promise<Cosigner | undefined> {
  const path = config['witness.policy'];
  const policy = path === undefined ? undefined : await loadPolicy(path);
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

/** Requests timestamps for published checkpoints if authorities are configured. */
async function openTimestamper(
  { config, log, opened }: Start,
  ledger: Ledger,
  checkpoint: () => Promise<string>,
): Promise<Timestamper | undefined> {
  const { 'timestamps.authorities': authorities, 'timestamps.ca_file': caFile } = config;
  if (authorities.length === 0) return undefined;
  // Services without timestamps do not load the ASN.1 parser.
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

/** Opens the triage endpoint; undefined if none is configured. */
function openSecondOpinion(
  { config, log, opened }: Start,
  { store, reader, metrics }: SharedParts,
): ExternalTriage | undefined {
  const { 'triage.endpoint': url, 'triage.model': model } = config;
  if (url === undefined || model === undefined) return undefined;
  const opinions = new ExternalTriage({
    endpoint: { url, model, apiKey: config['triage.api_key'], timeoutMs: config['triage.timeout_ms'] },
    minSeverity: config['triage.min_severity'],
    maxPerMinute: config['triage.max_per_minute'],
    redact: config['triage.redact'],
    isHome: compileHome(config['network.home']),
    store,
    reader,
    onOutcome: metrics.asked,
    limitReached: metrics.limitReached,
    onTrouble: (message, details) => log.warn(details, message),
    now: Date.now,
    newMark: randomUUID,
  });
  opened.onClose('triage endpoint', () => opinions.close());
  return opinions;
}

/** Opens the queue of scans, including scans that an earlier process left unfinished. */
async function openScans(
  { config, log, opened }: Start,
  { store, reader, metrics }: SharedParts,
  scanners: ScannerThreads,
): Promise<Scans> {
  const scans = new Scans({
    store,
    reader,
    planning: {
      allowedNetworks: config['discovery.allowed_networks'],
      nmap: () => findNmap(config['discovery.nmap'], process.env.PATH ?? ''),
    },
    openScanner: () => scanners.open(),
    ...sources,
    limitReached: metrics.limitReached,
    onTrouble: (message, err) => log.warn({ err }, message),
  });
  opened.onClose('scans', () => scans.close());
  await scans.recover();
  return scans;
}

/**
 * Returns the log message for a connection that ended before a valid request. With the wrong protocol, the
 * connection ends before the request can be read.
 */
const unusedConnection = (isTls: boolean): string =>
  `a connection ended before its first request: if a client cannot connect, check that its URL begins with ${
    isTls
      ? 'https:// (not http://) and that it trusts the certificate'
      : 'http:// (not https://), or set CANDOR_TLS_CERT'
  }; reported at most once an hour`;

/** Creates the limits on connections and request rates. */
function admission({ config, log }: Start, { limitReached }: Metrics) {
  const max = config['limits.max_connections'];
  const all = descriptorLimit();
  const descriptors = all === undefined ? undefined : descriptorsForConnections(all);
  if (descriptors !== undefined && descriptors < max)
    log.warn(
      { descriptors: all, connections: descriptors, 'limits.max_connections': max },
      'the file descriptors of this process suffice for fewer connections than allowed: raise its limit (ulimit -n)',
    );
  return {
    connections: new Connections({
      max,
      maxPerAddress: config['limits.max_connections_per_address'],
      descriptors,
      limitReached,
      onRefused: (open) => log.warn({ open }, 'refusing connections: limit reached'),
      onUnused: (address) => log.info({ address }, unusedConnection(config['tls.cert'] !== undefined)),
      onMiscount: () => log.error('more connections were closed than opened; the counts stay at zero'),
    }),
    rate: new RequestRate({
      perAddress: config['limits.requests_per_s_per_address'],
      perPrincipal: config['limits.requests_per_s_per_principal'],
      limitReached,
    }),
  };
}

function watchFront(metrics: Metrics, server: Server): void {
  metrics.watch('candor_http_connections', 'Open connections, WebSockets included.', () => server.connections);
  metrics.watch('candor_http_requests_in_flight', 'Requests in progress.', () => server.inFlight);
  metrics.watch('candor_http_unsent_bytes', 'Bytes of answers that clients have not read.', () => server.unsentBytes);
}

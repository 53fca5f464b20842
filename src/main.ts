/**
 * The composition root: configuration, workers, front, signals, shutdown. The only file that starts anything.
 *
 * Start, in order: the data folder is taken; the ledger opens, before the event database exists, so that it can tell
 * a new folder from one that lost its log; then the store, the pools, the front. Stop, in reverse: the front answers
 * what it accepted, the outbox is drained, the databases are closed.
 */
import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import type { BackupTasks } from '../workers/backup.ts';
import type { IngestTasks } from '../workers/ingest.ts';
import type { Queries } from './analytics/queries.ts';
import { type AccessPolicy, openAccessPolicy } from './auth/access-policy.ts';
import { createAuth } from './auth/auth.ts';
import { ensureAdministrator } from './auth/bootstrap.ts';
import { BackupFolder, type BackupRecord } from './backup/backups.ts';
import type { Verified } from './backup/verify.ts';
import { type ExitCode, exitCodes } from './cli/exit-codes.ts';
import { ConfigError } from './config/config-error.ts';
import { type LoadedConfig, loadSettings } from './config/load.ts';
import type { Config } from './config/settings.ts';
import { openStoredSettings, type Requirement, type StoredSettings } from './config/stored-settings.ts';
import { takeDataFolder } from './data-folder.ts';
import { findNmap } from './discovery/find-nmap.ts';
import { type Scanner, scannerMethods } from './discovery/scanner.ts';
import { type ScannerThread, Scans } from './discovery/scans.ts';
import { AuditLog } from './http/audit-log.ts';
import { toldOfCalls } from './http/caused-entries.ts';
import { Connections } from './http/connections.ts';
import { alertChannel, LiveAlerts } from './http/live/alert-channel.ts';
import { discoveryChannel, LiveScan } from './http/live/discovery-channel.ts';
import { eventChannel, LiveBlock } from './http/live/event-channel.ts';
import { Hub } from './http/live/hub.ts';
import { LiveAssets } from './http/live/live-assets.ts';
import { createSockets } from './http/live/sockets.ts';
import { TopologyFeed, topologyChannel } from './http/live/topology-channel.ts';
import { Metrics } from './http/metrics.ts';
import { RequestRate } from './http/request-rate.ts';
import { endpoints } from './http/routes/index.ts';
import { startServer } from './http/server.ts';
import type { Services } from './http/services.ts';
import { readTlsFiles } from './http/tls-files.ts';
import type { TlsOptions } from './http/tls-listener.ts';
import { banner } from './ledger/banner.ts';
import type { Ledger, LedgerStatus } from './ledger/ledger.ts';
import { ledgerCounters, ledgerMethods } from './ledger/methods.ts';
import { OutboxPump } from './ledger/outbox-pump.ts';
import { Opened, Reloads, Stop } from './lifecycle.ts';
import { limits } from './limits.ts';
import { openToOthers } from './private-files.ts';
import { createCounters } from './rpc/counters.ts';
import { createPool, type Pool } from './rpc/pool.ts';
import { type Supervised, supervise } from './rpc/supervise.ts';
import { compileAlertFilter } from './store/lists/alerts.ts';
import { listKeys } from './store/lists/keys.ts';
import { compileScanFilter } from './store/lists/scans.ts';
import { openReader } from './store/lmdb/reader.ts';
import { storeMethods } from './store/methods.ts';
import type { AlertUpdate, Store } from './store/store.ts';
import { uuid7 } from './uuid.ts';
import { productVersion } from './version.ts';
import { Cosigner } from './witness/cosigner.ts';
import { loadPolicy } from './witness/policy-file.ts';
import { workerUrl } from './worker-url.ts';

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
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stopping.request(0, signal));
  const opened = new Opened(log);
  const reloads = new Reloads();
  process.on('SIGHUP', () => reloads.run());
  try {
    await open(config, openStoredSettings(env, loaded, requirements), strict, log, stopping, opened, reloads);
    const { code, reason } = await stopping.requested;
    log.info({ reason }, 'stopping');
    return code;
  } catch (error) {
    log.fatal({ err: error }, 'cannot start');
    process.stderr.write(`candor: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof DegradedLogError ? exitCodes.degraded : exitCodes.failed;
  } finally {
    await opened.close();
    log.info('stopped');
  }
}

/** The log can't go on, and the operator wants no service without it. The message is the advice. */
class DegradedLogError extends Error {
  override readonly name = 'DegradedLogError';
}

async function open(
  config: Config,
  settings: StoredSettings,
  strict: boolean,
  log: Logger,
  stopping: Stop,
  opened: Opened,
  reloads: Reloads,
): Promise<void> {
  const startedAt = Date.now();
  const dataDir = config.data_dir;
  const folder = takeDataFolder(dataDir);
  opened.onClose('data folder', () => folder.release());
  const lost = (name: string) => ({
    onRestart: (error: Error) => log.error({ err: error, worker: name }, 'a worker died and was restarted'),
    onGiveUp: (error: Error) => {
      log.fatal({ err: error, worker: name }, 'a worker died twice within a minute');
      stopping.request(1, `worker ${name} is lost`);
    },
  });

  const counters = createCounters(ledgerCounters);
  const anchorPath = config['ledger.anchor_path'];
  const ledger = await supervise<Ledger>({
    name: 'ledger',
    url: workerUrl('ledger'),
    list: ledgerMethods,
    workerData: {
      dataDir,
      counters: counters.buffer,
      ...(anchorPath === undefined ? {} : { anchorPath }),
      ...keySettings(config),
    },
    ...lost('ledger'),
  });
  opened.onClose('ledger thread', () => ledger.close());
  opened.onClose('ledger', () => ledger.api.close());
  const found = await ledger.api.status();
  if (found.health.state === 'degraded') {
    const { fault, advice } = found.health;
    log.error({ fault, advice }, 'the transparency log is degraded');
    if (strict) {
      show(found);
      throw new DegradedLogError(advice);
    }
  }
  const warnings = [...found.warnings, ...eventsLost(dataDir, found.size), ...openToOthers(dataDir)];
  for (const warning of warnings) log.warn({ warning }, 'start-up noticed something');
  const store = await supervise<Store>({
    name: 'store',
    url: workerUrl('store'),
    list: storeMethods,
    workerData: { dataDir, alertWindowMs: config['alerts.window_ms'], home: config['network.home'] },
    ...lost('store'),
  });
  opened.onClose('store thread', () => store.close());
  opened.onClose('store', () => store.api.close());
  const changes = toldOfCalls(store.api);
  const reader = openReader(dataDir);
  opened.onClose('reader', () => reader.close());

  const poolLost = (name: string) => (error: Error) =>
    log.error({ err: error, pool: name }, 'a pool lost a thread and replaced it');
  const ingest = createPool<IngestTasks>({
    name: 'ingest',
    url: workerUrl('ingest'),
    threads: config['threads.ingest'],
    maxQueue: limits.maxQueuedBodies,
    // A line's objects die with it: collected often, 2 threads need 100 MB less, and lose no speed (bench ingest-http).
    maxYoungGenerationMb: 8,
    onWorkerLost: poolLost('ingest'),
  });
  opened.onClose('ingest pool', () => ingest.close());
  const analytics = createPool<Queries>({
    name: 'analytics',
    url: workerUrl('analytics'),
    threads: config['threads.analytics'],
    maxQueue: config['limits.max_queued_queries'],
    workerData: { dataDir },
    onWorkerLost: poolLost('analytics'),
  });
  opened.onClose('analytics pool', () => analytics.close());

  const sources = { now: Date.now, newId: () => uuid7(Date.now()) };
  const auth = createAuth({
    reader,
    writer: changes,
    tokenKeys: await ledger.api.accessTokenKeys(),
    sources,
    limitReached: (limit) => metrics.limitReached(limit),
    lives: { accessTokenMs: config['auth.access_token_ms'], sessionMs: config['auth.session_ms'] },
  });
  await ensureAdministrator({ reader, writer: store.api, sources }, config.admin_password, showPassword);
  const takeTokenKeys = async () => auth.useTokenKeys(await ledger.api.accessTokenKeys());
  const tokenKeysTimer = setInterval(() => {
    // The ledger's thread may be restarting: the keys that are here do until it is back.
    takeTokenKeys().catch((error: unknown) => log.warn({ err: error }, 'the token keys could not be read'));
  }, tokenKeysEveryMs);
  opened.onClose('token keys', () => clearInterval(tokenKeysTimer));
  const tokenUsesTimer = setInterval(() => {
    auth
      .writeTokenUses()
      .catch((error: unknown) =>
        log.warn({ err: error }, 'when tokens were last used could not be written yet'),
      );
  }, tokenUsesEveryMs);
  opened.onClose('token uses', () => {
    clearInterval(tokenUsesTimer);
    return auth.writeTokenUses();
  });

  const metrics = new Metrics(performance.now(), () => counters.read());
  opened.onClose('metrics', () => metrics.close());
  const audit = new AuditLog({
    store: store.api,
    newId: sources.newId,
    now: Date.now,
    log,
    limitReached: metrics.limitReached,
  });
  opened.onClose('audit log', () => audit.close());
  const logError = (error: unknown, message: string) => log.error({ err: error }, message);
  const liveAssets = new LiveAssets(reader.assets);
  const hub = createHub(reader, liveAssets, analytics, metrics, logError);
  const topologyFeed = new TopologyFeed({
    reader,
    publish: (batch) => hub.publish('topology', batch),
    limitReached: () => metrics.limitReached('maxTopologyEdges'),
  });
  const topologyTimer = setInterval(() => topologyFeed.poll(), topologyEveryMs);
  opened.onClose('topology', () => clearInterval(topologyTimer));
  const accessPolicy = await openAccessPolicy({
    dataDir,
    file: config['policy.file'],
    defaults: policyDefaults(config),
    reader,
    writer: changes,
    sources,
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
    limitReached: metrics.limitReached,
    logError,
  });
  const publishAlerts = (updates: readonly AlertUpdate[]) => {
    if (updates.length > 0) hub.publish('alerts', new LiveAlerts(updates, liveAssets));
  };
  const pump = new OutboxPump<AlertUpdate>({
    source: store.api,
    ledger: ledger.api,
    onUpdates: publishAlerts,
    onRetry: (error, waitMs) => log.warn({ err: error, wait_ms: waitMs }, 'the outbox waits for the ledger'),
    onRefused: (row, error) => log.error({ err: error, entry: row.id }, 'the ledger refused an entry'),
  });
  opened.onClose('outbox pump', () => pump.idle().then(() => pump.close()));

  const backups = new BackupFolder({
    dir: config['backup.dir'] ?? join(dataDir, 'backups'),
    dataDir,
    store: store.api,
    ledger: ledger.api,
    verify: verifyInThread,
    productVersion: productVersion(),
    now: Date.now,
    onEnd: ({ id, attributes }: BackupRecord, err?: unknown) =>
      err === undefined
        ? log.info({ backup: id, path: attributes.path, bytes: attributes.size }, 'backup completed')
        : log.error({ err, backup: id }, 'backup failed'),
    onFinding: (message, err) => log.warn(err === undefined ? {} : { err }, message),
  });
  opened.onClose('backups', () => backups.close());
  if (found.health.state === 'ok') void backups.recover();

  const policyPath = config['witness.policy'];
  const policy = policyPath === undefined ? undefined : loadPolicy(policyPath);
  // A log that lost its key has no checkpoints.
  const cosigner =
    policy === undefined || found.checkpoint_vkey === ''
      ? undefined
      : await Cosigner.start({
          ledger: ledger.api,
          policy,
          waitMs: config['witness.wait_ms'],
          intervalMs: config['witness.interval_ms'],
          fail: config['witness.fail'],
          log,
          now: Date.now,
        });
  opened.onClose('cosigning', () => cosigner?.close());

  let scanner: Supervised<Scanner> | undefined;
  const scans = new Scans({
    store: store.api,
    reader,
    terms: {
      allowedNetworks: config['discovery.allowed_networks'],
      nmap: () => findNmap(config['discovery.nmap'], process.env.PATH ?? ''),
    },
    async openScanner(): Promise<ScannerThread> {
      const thread = await startScanner(log);
      scanner = thread;
      return {
        api: thread.api,
        close() {
          scanner = undefined;
          return thread.close();
        },
      };
    },
    publish: (update) => hub.publish('discovery', new LiveScan(update)),
    ...sources,
    limitReached: metrics.limitReached,
    onTrouble: (message, err) => log.warn({ err }, message),
  });
  opened.onClose('scans', () => scans.close());
  await scans.recover();

  let ready = false;
  const services: Services = {
    version: productVersion(),
    startedAt,
    config,
    settings,
    log,
    metrics,
    store: changes,
    reader,
    policy: accessPolicy,
    ledger: ledger.api,
    checkpoint: () => cosigner?.checkpoint() ?? ledger.api.checkpoint(),
    auth,
    backups,
    scans,
    ingest: (input) => ingest.run('ingest', input),
    queries: {
      listEvents: (query, signal) => analytics.run('listEvents', query, { signal }),
      listAlerts: (query, signal) => analytics.run('listAlerts', query, { signal }),
      listAssets: (query, signal) => analytics.run('listAssets', query, { signal }),
      listAssetHistory: (assetId, query, signal) =>
        analytics.run('listAssetHistory', { assetId, query }, { signal }),
      listServices: (query, signal) => analytics.run('listServices', query, { signal }),
      listScans: (query, signal) => analytics.run('listScans', query, { signal }),
      listNotes: (alertId, query, signal) => analytics.run('listNotes', { alertId, query }, { signal }),
      listPrincipals: (query, signal) => analytics.run('listPrincipals', query, { signal }),
      listTokens: (query, signal) => analytics.run('listTokens', query, { signal }),
      listAudit: (query, signal) => analytics.run('listAudit', query, { signal }),
      topology: (query, signal) => analytics.run('topology', query, { signal }),
      listKeys: async (query) => listKeys(await ledger.api.keyRecords(), query),
    },
    publish({ blocks, alerts }) {
      for (const block of blocks)
        hub.publish(
          block.table === 'network' ? 'events.network' : 'events.dns',
          new LiveBlock(block, liveAssets),
        );
      publishAlerts(alerts);
      topologyFeed.poll();
    },
    publishAlert: (update) => publishAlerts([update]),
    pokeOutbox: () => pump.poke(),
    revoked: (jti) => sockets.revoked(jti),
    principalChanged: (id) => sockets.principalChanged(id),
    keysChanged: takeTokenKeys,
    witnesses: () => cosigner?.status(),
    threads: () => [
      ...Object.entries({ ledger, store }).map(([name, worker]) => workerStatus(name, worker)),
      ...(scanner === undefined ? [] : [workerStatus('discovery', scanner)]),
      ...Object.entries({ ingest, analytics }).map(([name, pool]) => poolStatus(name, pool)),
    ],
    sockets: () => ({ connections: sockets.count(), subscriptions: hub.subscriptions }),
    ready: () => ready,
  };
  const server = await startServer({
    host: config.host,
    port: config.port,
    ...tlsSettings(config),
    endpoints: endpoints(services),
    authenticate: auth.authenticate,
    audit,
    corsOrigins: config['cors.origins'],
    connections: new Connections({
      max: config['limits.max_connections'],
      maxPerAddress: config['limits.max_connections_per_address'],
      limitReached: metrics.limitReached,
    }),
    rate: new RequestRate({
      perAddress: config['limits.requests_per_s_per_address'],
      perPrincipal: config['limits.requests_per_s_per_principal'],
      limitReached: metrics.limitReached,
    }),
    log,
    observer: metrics,
    sockets: sockets.register,
    leave: sockets.leave,
    drainMs: config['http.drain_ms'],
  });
  reloads.add(() => server.reloadTls());
  opened.onClose('front', () => {
    ready = false;
    sockets.closeAll();
    return server.close();
  });
  ready = true;
  const refused = accessPolicy.current.file_refused;
  const policyWarnings = refused === undefined ? [] : [`the access policy stays as it was: ${refused}`];
  show({ ...(await ledger.api.status()), warnings: [...warnings, ...policyWarnings] });
  announce(config, server.port, log);
}

/**
 * The log remembers that there were events and identities, and the store is about to begin with none: with another
 * password for the administrator, and without what waited to be logged.
 */
function eventsLost(dataDir: string, logSize: number): string[] {
  if (logSize === 0 || existsSync(join(dataDir, 'siem.mdb'))) return [];
  return [
    'siem.mdb was missing, though the log has entries: events, alerts, principals and what was yet to be logged are lost, ' +
      'and a new, empty one was begun. To have them back, stop the service and run `candor restore --replace <backup>`.',
  ];
}

/** A thread that scans, while there are scans. What dies with it is the scan, not the service. */
function startScanner(log: Logger): Promise<Supervised<Scanner>> {
  const lost = (err: Error) => log.error({ err, worker: 'discovery' }, 'a worker died, and a scan with it');
  return supervise<Scanner>({
    name: 'discovery',
    url: workerUrl('discovery'),
    list: scannerMethods,
    workerData: undefined,
    maxOldGenerationMb: 256,
    onRestart: lost,
    onGiveUp: lost,
  });
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

/**
 * How old the front's idea of the token keys may be. It is told of changes; this is for those that the ledger made by
 * itself, finishing at its start what a crash cut short, and for dropping keys whose tokens have all expired.
 */
const tokenKeysEveryMs = 5000;

/** How often changes of the graph are looked for that came after a commit or without one. */
const topologyEveryMs = 1000;

/** How often it is written down when tokens were last used: to the minute is what is promised. */
const tokenUsesEveryMs = 60_000;

/** Settings that shape the first access policy. */
function policyDefaults(config: Config) {
  return {
    metricsNeedRole: config['metrics.require_auth'],
    publicEntries: config['transparency.public_entries'],
  };
}

/** SIGHUP reads the file of the access policy anew. One that cannot be used is told of and changes nothing. */
function reloadPolicy(policy: AccessPolicy, log: Logger): void {
  policy.reload({ id: 'system', name: 'system' }).then(
    ({ version }) => log.info({ version }, 'the access policy was reloaded'),
    (err: unknown) => log.warn({ err }, 'the access policy stays as it was'),
  );
}

/** What the next start would stumble over, were it stored without a look. */
const requirements: readonly Requirement[] = [
  {
    setting: 'host',
    check({ host }) {
      if (!mayListenOn(host)) throw new Error(`${host} is not an address of this machine`);
    },
  },
  {
    setting: 'tls.cert',
    check(config) {
      const { tls } = tlsSettings(config);
      if (tls !== undefined) readTlsFiles(tls);
    },
  },
  {
    setting: 'witness.policy',
    check({ 'witness.policy': path }) {
      if (path !== undefined) loadPolicy(path);
    },
  },
];

/** Names are left to the resolver. */
function mayListenOn(host: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const isEverywhere = host === '0.0.0.0' || host === '::' || host.startsWith('127.');
  return isIP(host) === 0 || isEverywhere || own.some(({ address }) => address === host);
}

/** Plain HTTP without a certificate. */
function tlsSettings(config: Config): { tls?: TlsOptions } {
  const { 'tls.cert': cert, 'tls.key': key, 'tls.client_ca': clientCa } = config;
  if (cert === undefined || key === undefined) return {};
  const clientCertificates = config['tls.client_certificates'];
  return { tls: { cert, key, ...(clientCa === undefined ? {} : { clientCa }), clientCertificates } };
}

/** What the ledger's thread needs to know of keys. */
function keySettings(config: Config) {
  const { 'ledger.origin': origin, key_passphrase: keyPassphrase } = config;
  return {
    ...(origin === undefined ? {} : { origin }),
    ...(keyPassphrase === undefined ? {} : { keyPassphrase }),
    rotation: {
      periods: {
        'transparency-sth': config['keys.sth_rotation_ms'],
        'event-signing': config['keys.event_rotation_ms'],
      },
      overlapMs: config['keys.overlap_ms'],
    },
  };
}

/** The channels over the reader's heads and the pool's replays. */
function createHub(
  reader: ReturnType<typeof openReader>,
  assets: LiveAssets,
  analytics: Pool<Queries>,
  metrics: Metrics,
  logError: (error: unknown, message: string) => void,
): Hub {
  const events = (table: 'network' | 'dns') =>
    eventChannel(
      table,
      () => reader.head(`events.${table}`),
      (query, signal) => analytics.run('replayEvents', query, { signal }),
      assets,
    );
  const alerts = alertChannel(
    () => reader.head('alerts'),
    compileAlertFilter,
    (query, signal) => analytics.run('replayAlerts', query, { signal }),
  );
  const topology = topologyChannel(
    () => reader.head('topology'),
    (query, signal) => analytics.run('replayTopology', query, { signal }),
  );
  const discovery = discoveryChannel(
    () => reader.head('discovery'),
    compileScanFilter,
    (query, signal) => analytics.run('replayScans', query, { signal }),
  );
  return new Hub(
    { 'events.network': events('network'), 'events.dns': events('dns'), alerts, topology, discovery },
    metrics,
    logError,
  );
}

function workerStatus(name: string, worker: Supervised<object>) {
  const { pending, inFlightBytes, restarts } = worker.stats();
  return { name, pending, in_flight_bytes: inFlightBytes, restarts };
}

function poolStatus(name: string, pool: Pick<Pool<never>, 'stats'>) {
  const { queued, running, completed } = pool.stats();
  return { name, pending: queued + running, completed };
}

function showPassword(password: string): void {
  process.stdout.write(`  administrator  admin, password ${password} (shown this once)\n`);
}

/** What the operator sees of a start and compares with the journal. */
function show(status: LedgerStatus): void {
  process.stdout.write(`candor ${productVersion()}\n${banner(status)}\n`);
}

function announce(config: Config, port: number, log: Logger): void {
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  const url = `${config['tls.cert'] ? 'https' : 'http'}://${host}:${port}`;
  log.info({ url, port, pid: process.pid, data_dir: config.data_dir }, 'listening');
  // Whoever wants no such messages still waits for the service, and may not know its port.
  if (!log.isLevelEnabled('info')) process.stdout.write(`  listening      ${url}\n`);
}

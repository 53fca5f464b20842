import { EventEmitter } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { assertResponse } from '../../scripts/contract-assertions.ts';
import { LogReadRate } from '../../src/admission/request-rate.ts';
import { Semaphore } from '../../src/admission/semaphore.ts';
import { compileAlertFilter } from '../../src/alerts/lists/alerts.ts';
import { type Queries, queries } from '../../src/analytics/queries.ts';
import { BackupFolder } from '../../src/backup/backups.ts';
import { verifyCopy } from '../../src/backup/verify.ts';
import { loadSettings } from '../../src/config/load.ts';
import { rulePlaceholders } from '../../src/config/part-settings.ts';
import { openStoredSettings } from '../../src/config/stored-settings.ts';
import type { OperationId } from '../../src/contract/routes.ts';
import { RecordRules } from '../../src/detect/record-rules.ts';
import { findSuricataAlert } from '../../src/detect/suricata-alert.ts';
import { findZeekNotice } from '../../src/detect/zeek-notice.ts';
import { findNmap } from '../../src/discovery/find-nmap.ts';
import { compileScanFilter } from '../../src/discovery/lists/scans.ts';
import { type Scanner, scannerMethods } from '../../src/discovery/scanner.ts';
import { Scans } from '../../src/discovery/scans.ts';
import { takeDataFolder } from '../../src/files/data-folder.ts';
import { consoleEndpoints, firstPage } from '../../src/http/console-endpoints.ts';
import type { ConsoleFiles } from '../../src/http/console-files.ts';
import { LiveFeeds } from '../../src/http/live/feeds.ts';
import { serviceHub } from '../../src/http/live/service-hub.ts';
import { createSockets } from '../../src/http/live/sockets.ts';
import { endpoints } from '../../src/http/routes/index.ts';
import { startServer } from '../../src/http/server.ts';
import type { Services } from '../../src/http/services.ts';
import { SingleFlight } from '../../src/http/single-flight.ts';
import { openAccessPolicy } from '../../src/identities/access-policy.ts';
import { createAuth } from '../../src/identities/auth.ts';
import { ensureAdministrator } from '../../src/identities/bootstrap.ts';
import { parseBodies } from '../../src/ingest/parse-bodies.ts';
import { IngestPipeline } from '../../src/ingest/pipeline.ts';
import { listKeys } from '../../src/ledger/keys/key-list.ts';
import { ledgerCounters } from '../../src/ledger/methods.ts';
import { type LedgerOptions, openLedger } from '../../src/ledger/open.ts';
import { OutboxPump } from '../../src/ledger/outbox-pump.ts';
import { ProofBundles } from '../../src/ledger/proof-bundles.ts';
import { SnapshotReader } from '../../src/ledger/reads/snapshot-reader.ts';
import { SignedCheckpoint } from '../../src/ledger/signed-checkpoint.ts';
import { HealthCheck } from '../../src/observability/health.ts';
import { Metrics } from '../../src/observability/metrics.ts';
import { createCounters } from '../../src/rpc/counters.ts';
import { supervise } from '../../src/rpc/supervise.ts';
import { workerUrl } from '../../src/rpc/worker-url.ts';
import { DetectionRules } from '../../src/rules/detection-rules.ts';
import { IntelLists } from '../../src/rules/intel/intel-lists.ts';
import { intelTasks } from '../../src/rules/intel/tasks.ts';
import { ruleTasks } from '../../src/rules/tasks.ts';
import { openReader } from '../../src/store/reader.ts';
import { SiemDamage } from '../../src/store/siem-damage.ts';
import type { AlertUpdate, CommitNotice, CommittedBlock } from '../../src/store/store.ts';
import { openStore } from '../../src/store/writer.ts';
import { uuid7 } from '../../src/uuid.ts';

/** Returns an access token of the administrator. */
export async function adminOf(service: Service): Promise<string> {
  const json = { username: 'admin', password };
  const { body } = await service.call('login', 'POST /auth/login', { json });
  return (body as { access_token: string }).access_token;
}

/** Issues a long-lived token with these roles, as the holder of `token`. */
export async function issue(
  service: Service,
  token: string,
  scopes: readonly string[],
  principal_id?: string,
): Promise<string> {
  const json = { name: `with ${scopes}`, scopes, principal_id };
  const { body } = await service.call('issueToken', 'POST /api/v1/tokens', { token, json });
  return (body as { data: { attributes: { token: string } } }).data.attributes.token;
}

async function bodyOf(answer: Response): Promise<unknown> {
  switch (answer.headers.get('content-type')) {
    case 'application/json':
      return answer.json();
    case 'application/octet-stream':
      return new Uint8Array(await answer.arrayBuffer());
    default:
      return answer.text();
  }
}

export const password = 'correct horse battery';

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/**
 * Opens the HTTP server with the real store, ledger and parsers, all on this thread; without `built`, it has
 * no console.
 */
export async function openService(
  env: Record<string, string> = {},
  replace: Partial<Services> = {},
  built?: ConsoleFiles,
  ledgerOptions: Partial<LedgerOptions> = {},
) {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-http-'));
  const environment = { CANDOR_DATA_DIR: dataDir, ...env };
  const loaded = loadSettings(environment);
  const { config } = loaded;
  const folder = takeDataFolder(dataDir);
  const publicationDelayMs = config['ledger.publication_delay_ms'];
  const ledger = await openLedger({ dataDir, publicationDelayMs, ...ledgerOptions });
  const logReader = await SnapshotReader.open({ dataDir, publicationDelayMs });
  const signedCheckpoint = new SignedCheckpoint({ reader: logReader, ledger });
  const committed = new EventEmitter<{ notice: [CommitNotice] }>();
  const store = openStore({
    dataDir,
    alertWindowMs: config['alerts.window_ms'],
    receiptIntervalMs: 20,
    home: config['network.home'],
    onCommitted: (notice) => committed.emit('notice', notice),
  });
  const commit = store.commit.bind(store);
  // A request that stores events gets its response when the events are processed, so that tests see the results.
  store.commit = async (batch) => {
    const result = await commit(batch);
    await store.processed().catch(() => undefined);
    return result;
  };
  const reader = openReader(dataDir);
  const sources = { now: Date.now, newId: () => uuid7(Date.now()) };
  const auth = createAuth({ reader, writer: store, tokenKeys: await ledger.accessTokenKeys(), sources });
  await ensureAdministrator({ reader, writer: store, sources }, password, () => undefined);

  const published = { events: [] as CommittedBlock[], alerts: [] as AlertUpdate[] };
  const revoked: string[] = [];
  const logged: Record<string, unknown>[] = [];
  const log = pino({}, { write: (line: string) => logged.push(JSON.parse(line)) });
  const metrics = new Metrics(performance.now(), () => createCounters(ledgerCounters).read());
  const run = queries(reader);
  const damage = new SiemDamage(store, Date.now);
  const pool: Services['queries'] = damage.repeating<Queries>({
    run: async (task, input) => (run[task] as (input: unknown) => never)(input),
    stats: () => ({ queued: 0, running: 0, completed: 0 }),
    close: async () => undefined,
  });
  const logError = (error: unknown, message: string) => log.error({ err: error }, message);
  const policy = await openAccessPolicy({
    dataDir,
    file: config['policy.file'],
    defaults: {
      metricsNeedRole: config['metrics.require_auth'],
      publicEntries: config['transparency.public_entries'],
    },
    reader,
    writer: store,
    sources,
    onChange: () => sockets.policyChanged(),
    warn: (message, err) => log.warn({ err }, message),
  });
  const hub = serviceHub({
    reader,
    queries: pool,
    alertFilter: compileAlertFilter,
    scanFilter: compileScanFilter,
    observer: metrics,
    logError,
  });
  const live = new LiveFeeds({
    hub,
    reader,
    logError,
    onAlerts: (updates) => published.alerts.push(...updates),
  });
  committed.on('notice', (notice) => live.committed(notice));
  const pump = new OutboxPump({
    source: store,
    ledger,
    onRetry: () => undefined,
    onRefused: () => undefined,
  });
  committed.on('notice', ({ outbox }) => {
    if (outbox > 0) pump.wake();
  });
  const sockets = createSockets({
    hub,
    authenticate: auth.authenticate,
    accessOf: (operation) => policy.accessOf(operation),
    now: Date.now,
    maxSockets: config['limits.max_sockets'],
    limitReached: metrics.limitReached,
    logError,
  });
  const detectors = { suricataAlert: findSuricataAlert, zeekNotice: findZeekNotice };
  const tasks = ruleTasks(reader);
  const rules = await DetectionRules.open({
    folders: [{ origin: 'folder', path: join(dataDir, 'rules') }],
    reader,
    writer: store,
    tasks: { run: async (task, input) => structuredClone((tasks[task] as (input: unknown) => never)(input)) },
    placeholders: rulePlaceholders(config),
    sources,
    isUsed: false,
    warn: (message, details) => log.warn(details, message),
  });
  const ofIntel = intelTasks(reader);
  const intel = new IntelLists({
    reader,
    writer: store,
    tasks: {
      run: async (task, input) => structuredClone((ofIntel[task] as (input: unknown) => never)(input)),
    },
    home: config['network.home'],
    now: Date.now,
  });
  const recordRules = new RecordRules();
  const backups = new BackupFolder({
    dir: join(dataDir, 'backups'),
    dataDir,
    store,
    ledger,
    verify: (folder) => verifyCopy(folder),
    productVersion: '0.0.0-test',
    now: Date.now,
  });
  const scans = new Scans({
    store,
    reader,
    planning: {
      allowedNetworks: config['discovery.allowed_networks'],
      nmap: () => findNmap(config['discovery.nmap'], process.env.PATH ?? ''),
    },
    openScanner: () =>
      supervise<Scanner>({
        name: 'discovery',
        url: workerUrl('discovery'),
        list: scannerMethods,
        workerData: undefined,
        onGiveUp: () => undefined,
      }),
    ...sources,
    limitReached: metrics.limitReached,
    onTrouble: (message, err) => log.warn({ err }, message),
  });
  const ingest = new IngestPipeline({
    threads: 1,
    parse: async (bodies) => parseBodies(bodies, { ...detectors, rules: recordRules.at(rules.inEffect) }),
    store,
    rules,
    limitReached: metrics.limitReached,
    onStored: (blocks) => {
      published.events.push(...blocks);
      live.events(blocks);
    },
  });
  const services: Services = {
    version: '0.0.0-test',
    startedAt: Date.now(),
    config,
    settings: openStoredSettings(environment, loaded),
    log,
    metrics,
    store,
    reader,
    policy,
    ledger,
    damage,
    logStatus: async () => {
      const status = await ledger.status();
      return { ...status, findings: [...status.findings, ...damage.findings()] };
    },
    logReader,
    proofBundles: new ProofBundles({ reader: logReader, ledger, published: () => services.checkpoint() }),
    logRate: new LogReadRate(config['limits.log_reads_per_s_per_address'], metrics.limitReached),
    checkpoint: () => signedCheckpoint.get(),
    auth,
    backups,
    scans,
    rules,
    intel,
    ingest,
    queries: pool,
    exports: new Semaphore('maxExports', metrics.limitReached),
    bulkChanges: new Semaphore('maxBulkChanges', metrics.limitReached),
    topology: new SingleFlight({
      queries: pool,
      head: () => reader.head('topology'),
      limitReached: metrics.limitReached,
    }),
    listKeys: async (query) => listKeys(await ledger.keyRecords(), query),
    revoked: (jti) => {
      revoked.push(jti);
      sockets.revoked(jti);
    },
    principalChanged: sockets.principalChanged,
    keysChanged: async () => auth.useTokenKeys(await ledger.accessTokenKeys()),
    witnesses: () => undefined,
    threads: () => [],
    sockets: () => ({ connections: 0, subscriptions: 0 }),
    ready: () => true,
    health: new HealthCheck({ store, ledger, ready: () => true, ...replace }),
    ...replace,
  };
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    endpoints: [...endpoints(services), ...consoleEndpoints(built)],
    pages: [firstPage(built)],
    authenticate: auth.authenticate,
    log,
    observer: metrics,
    sockets: sockets.register,
    drainMs: 5000,
  });
  const url = `http://127.0.0.1:${server.port}`;

  /** Calls an operation and checks the response against the contract. */
  async function call(
    operation: OperationId,
    target: string,
    {
      token,
      json,
      text,
      headers = {},
    }: { token?: string; json?: unknown; text?: string; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const [method = 'GET', path = ''] = target.split(' ');
    const body = json === undefined ? text : JSON.stringify(json);
    const answer = await fetch(url + path, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    });
    const read = await bodyOf(answer);
    assertResponse(operation, answer.status, read);
    return { status: answer.status, headers: answer.headers, body: read };
  }

  async function close(): Promise<void> {
    await server.close();
    await backups.close();
    await scans.close();
    await pump.idle();
    await pump.close();
    await logReader.close();
    await ledger.close();
    await store.close();
    reader.close();
    metrics.close();
    folder.release();
    rmSync(dataDir, { recursive: true });
  }

  return {
    url,
    server,
    services,
    hub,
    sockets,
    auth,
    store,
    reader,
    ledger,
    logReader,
    pump,
    published,
    revoked,
    logged,
    call,
    close,
  };
}

export type Service = Awaited<ReturnType<typeof openService>>;

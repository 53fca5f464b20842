export interface Layer {
  readonly may: readonly string[];
  readonly types?: readonly string[];
}

/**
 * The map of the source: the folders and files of `src`, lowest first, and the imports that each may have.
 * Folders in `types` may be imported for types only; the values are passed in. `main` and `cli` compose all
 * parts and may import all of them.
 */
export const layers: Readonly<Record<string, Layer>> = {
  /** the errors of the API */
  errors: { may: [] },
  /** each limit, with its reason and the effect when the limit is reached */
  limits: { may: [] },
  /** UUIDv7 */
  uuid: { may: [] },
  /** lengths of time as text */
  duration: { may: [] },
  /** the interface: resources, routes, channels, vocabulary */
  contract: { may: ['errors', 'limits', 'uuid'] },
  /** addresses, networks, targets and ports of scans, names of hosts and domains */
  net: { may: ['errors', 'limits', 'contract'] },
  /** limits of requests, connections and logins */
  admission: { may: ['errors', 'limits', 'net'] },
  /** reading, writing and checking files and folders; serial queues */
  files: { may: ['errors', 'limits'] },
  /** hashes, distinct counts, lists of the largest values */
  sketch: { may: [] },
  /** LMDB: rows with checksums, group commit, lists */
  database: { may: ['errors', 'contract', 'net', 'files', 'sketch'], types: ['events', 'store'] },
  /** SHA-256 and Ed25519 */
  crypto: { may: [], types: ['tlog'] },
  /** RFC 6962 and C2SP: trees, proofs, tiles, checkpoints */
  tlog: { may: [] },
  /** events: their format, queries and store */
  events: {
    may: ['errors', 'limits', 'uuid', 'contract', 'net', 'sketch', 'database', 'crypto', 'tlog'],
    types: ['inventory', 'store'],
  },
  /** assets and services: model, lists and store */
  inventory: {
    may: ['errors', 'limits', 'uuid', 'contract', 'net', 'sketch', 'database', 'events'],
    types: ['projections', 'alerts', 'store'],
  },
  /** the engine that applies what the projector derives from stored events */
  projections: { may: ['limits', 'errors', 'database', 'events', 'inventory'], types: ['alerts', 'store'] },
  /** counts for dashboards and trends */
  rollups: {
    may: ['limits', 'contract', 'net', 'sketch', 'database', 'events', 'inventory', 'projections'],
    types: ['alerts'],
  },
  /** alerts: deduplication, silences, history, triage */
  alerts: {
    may: ['errors', 'limits', 'uuid', 'contract', 'net', 'sketch', 'database', 'events', 'inventory', 'rollups'],
    types: ['projections', 'identities', 'store'],
  },
  /** the graph of hosts */
  topology: {
    may: ['limits', 'contract', 'net', 'sketch', 'database', 'events', 'inventory'],
    types: ['projections', 'store'],
  },
  /** queries that run in separate threads */
  analytics: {
    may: ['limits', 'contract', 'sketch', 'database', 'inventory', 'rollups', 'topology'],
    types: ['events', 'store'],
  },
  /** calls between threads, and their supervision */
  rpc: { may: ['errors', 'limits'] },
  /** keys held by an ssh-agent */
  'ssh-agent': { may: ['limits', 'files', 'rpc'] },
  /** the transparency log */
  ledger: {
    may: [
      'errors',
      'limits',
      'uuid',
      'duration',
      'contract',
      'files',
      'sketch',
      'database',
      'crypto',
      'tlog',
      'rpc',
      'ssh-agent',
    ],
    types: ['store'],
  },
  /** rules, behaviour detectors, intelligence, correlations */
  detect: {
    may: [
      'errors',
      'limits',
      'uuid',
      'duration',
      'contract',
      'net',
      'sketch',
      'database',
      'events',
      'inventory',
      'projections',
      'alerts',
    ],
    types: ['store'],
  },
  /** active scans */
  discovery: {
    may: ['errors', 'limits', 'contract', 'net', 'admission', 'database', 'rpc'],
    types: ['store'],
  },
  /** principals, tokens, sign-in, access policy, audit */
  identities: {
    may: ['errors', 'limits', 'uuid', 'contract', 'admission', 'files', 'database'],
    types: ['store'],
  },
  /** the store, composed of the parts above: one writer, many readers */
  store: {
    may: [
      'errors',
      'limits',
      'uuid',
      'contract',
      'net',
      'files',
      'database',
      'crypto',
      'tlog',
      'events',
      'inventory',
      'projections',
      'rollups',
      'alerts',
      'topology',
      'rpc',
      'detect',
      'discovery',
      'identities',
    ],
  },
  /** backup and restore */
  backup: {
    may: ['errors', 'limits', 'uuid', 'contract', 'files', 'database', 'tlog', 'ledger', 'store'],
    types: ['events'],
  },
  /** typed client, verifier and auditor */
  client: { may: ['errors', 'limits', 'contract', 'net', 'tlog', 'events'] },
  /** settings */
  config: { may: ['errors', 'limits', 'contract', 'files'] },
  /** the web console */
  console: { may: ['errors', 'limits', 'contract', 'net', 'tlog', 'client'] },
  /** the server, its routes, live feeds and shippers */
  http: {
    may: [
      'errors',
      'limits',
      'uuid',
      'contract',
      'net',
      'admission',
      'files',
      'crypto',
      'tlog',
      'events',
      'inventory',
      'alerts',
      'topology',
    ],
    types: [
      'database',
      'analytics',
      'rpc',
      'ledger',
      'discovery',
      'identities',
      'store',
      'backup',
      'config',
      'ingest',
      'observability',
      'rules',
    ],
  },
  /** conversion of sensor bodies to events */
  ingest: { may: ['errors', 'limits', 'contract', 'net', 'events'], types: ['inventory', 'store'] },
  /** metrics and health */
  observability: { may: ['errors', 'limits', 'contract'], types: ['ledger', 'store', 'http'] },
  /** sources of detection rules and intelligence */
  rules: {
    may: ['errors', 'limits', 'uuid', 'contract', 'net', 'files', 'events', 'detect'],
    types: ['rpc', 'store'],
  },
  /** cosigning of checkpoints */
  witness: { may: ['errors', 'limits', 'contract', 'files', 'crypto', 'tlog'], types: ['ledger'] },
  /** start, stop, requirements and version */
  service: { may: ['limits', 'files', 'ledger', 'config', 'http', 'witness'], types: ['client'] },
  /** RFC 3161 */
  timestamps: { may: ['errors', 'limits', 'contract', 'files', 'crypto', 'tlog'], types: ['ledger'] },
};

/**
 * Every limit of the service, with the reason for its value. Bytes, milliseconds and counts are named in
 * the unit of the constant. What a limit refuses is answered with a code and counted in `/metrics`.
 */
export const limits = {
  /** A request body as sent. Shippers batch at 1–8 MB; twice that leaves room without inviting abuse. */
  maxBodyBytes: 16 * 2 ** 20,
  /** What a compressed body may inflate to: sensors' NDJSON shrinks about tenfold, bombs a thousandfold. */
  maxInflatedBytes: 64 * 2 ** 20,
  /** JSON bodies of operations other than ingest. */
  maxJsonBodyBytes: 256 * 2 ** 10,
  /** One line of NDJSON or TSV. The longest real record (a Suricata alert with packets) is under 200 kB. */
  maxLineBytes: 2 ** 20,
  /** Nesting of one JSON record; real records reach 6. */
  maxNesting: 32,
  /** Bytes of text kept of any one field; names end at 255, Suricata signatures stay under 1 kB. */
  maxTextBytes: 4096,
  /** Per-line errors listed in an ingest answer; the rest are counted. */
  maxReportedErrors: 100,
  /** Ingest bodies received or in work at once: what bounds the memory of the whole ingest path. */
  maxIngestInFlightBytes: 48 * 2 ** 20,
  /** Bytes of calls in flight to one worker. */
  maxRpcInFlightBytes: 128 * 2 ** 20,
  /** Rows of one event block: codes of a dictionary column then always fit 16 bits. */
  maxBlockRows: 8192,
  /** Items on a list page. */
  maxPerPage: 1000,
  defaultPerPage: 50,
  /** Values of one repeated query parameter. */
  maxFilterValues: 100,
  /** Queries waiting for the analytics pool; more than this and users wait longer than they will. */
  maxQueuedQueries: 64,
  /** How long an answer to an Idempotency-Key is kept. */
  idempotencyTtlMs: 24 * 3600 * 1000,
  /** Length of an Idempotency-Key. */
  maxIdempotencyKeyBytes: 255,
  /** Events kept as the sample of one alert. */
  maxAlertEventIds: 20,
  /** New alerts of one rule within one deduplication window; past it they become one alert that says so. */
  maxAlertsPerRuleWindow: 1000,
  /** Canonical bytes of a log entry: C2SP entry bundles hold 65,535. */
  maxEntryBytes: 60_000,
  /** Outbox rows waiting for the ledger before changes that must be logged are refused. */
  maxOutboxRows: 100_000,
  /** WebSocket connections. Each costs about 10 kB plus what it has not read. */
  maxSockets: 10_000,
  /** Subscriptions on one socket. */
  maxSubscriptionsPerSocket: 100,
  /** A message from a WebSocket client. */
  maxSocketMessageBytes: 16 * 2 ** 10,
  /** What one WebSocket reader may leave unread before events are skipped for it. */
  maxSocketBacklogBytes: 2 * 2 ** 20,
  /** Time for the first `auth` message on a socket. */
  socketAuthTimeoutMs: 5000,
  /** Request target and headers. */
  maxHeaderBytes: 16 * 2 ** 10,
  /** Failed logins of one account, or from one address, within a minute. */
  maxLoginFailuresPerMinute: 10,
} as const;

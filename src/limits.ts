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
  /** Records of one ingest body: at 64 MB real ones, of 100 bytes and more, stay under; a flood of bad ones of two
   * bytes each, at 5 µs to refuse, would hold a thread for minutes. */
  maxBodyRecords: 1_000_000,
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
  /** Notes on one alert: more is a machine talking to itself. */
  maxNotesPerAlert: 10_000,
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
  /** What all WebSocket readers together may leave unread before each is held to a 32nd of its own allowance. */
  maxTotalSocketBacklogBytes: 128 * 2 ** 20,
  /** A socket that sends nothing for this long, not even the answer to our pings, is dead. */
  socketIdleTimeoutS: 120,
  /** Time for the first `auth` message on a socket. */
  socketAuthTimeoutMs: 5000,
  /** Request target and headers. */
  maxHeaderBytes: 16 * 2 ** 10,
  /** Failed logins of one account, or from one address, within a minute. */
  maxLoginFailuresPerMinute: 10,
  /** Bodies other than ingest received or in work at once: 64 of the largest. */
  maxJsonInFlightBytes: 16 * 2 ** 20,
  /** Requests not answered yet. Each costs about 2 kB besides its body; more would only wait for each other. */
  maxRequestsInFlight: 4096,
  /** Answers that clients have not read. Past it the slowest are cut off; a list page is about 1 MB. */
  maxUnsentReplyBytes: 64 * 2 ** 20,
  /** A whole body, from the first byte to the last: 16 MB at 1 Mbit/s. Idle ones end after 10 s anyway. */
  bodyTimeoutMs: 120_000,
  /** A whole answer to a client that does not keep up. */
  replyTimeoutMs: 120_000,
  /** Read and thrown away of a refused body so that its sender sees the answer; past it the connection is cut. */
  maxDiscardedBodyBytes: 64 * 2 ** 20,
  /** An X-Request-Id of the client that is taken over: UUIDs and trace ids are under 64. */
  maxRequestIdBytes: 128,
} as const;

export type LimitName = keyof typeof limits;

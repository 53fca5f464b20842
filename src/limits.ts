/**
 * The fixed limits of the service, each with the reason for its value; the name states the unit.
 * `limitMeanings` lists the limits that `/metrics` counts when they are reached.
 */
export const limits = {
  /**
   * Maximum bytes of a request body on the wire. Shippers batch at 1–8 MB; twice the largest batch leaves
   * room without inviting abuse.
   */
  maxBodyBytes: 16 * 2 ** 20,
  /** JSON response bodies below this size are sent uncompressed, because they fit in one packet. */
  minCompressedBytes: 1024,
  /**
   * Maximum bytes of a JSON response body that is compressed. A page of the largest items takes a few megabytes.
   */
  maxCompressedBytes: 16 * 2 ** 20,
  /**
   * Maximum response bodies being compressed, or waiting for one of libuv's threads. A console page sends a
   * dozen requests together, whose responses take a millisecond each to compress. Further responses are sent
   * uncompressed.
   */
  maxCompressions: 16,
  /**
   * Maximum bytes of an inflated body. Compression shrinks NDJSON from sensors about tenfold, and decompression
   * bombs a thousandfold.
   */
  maxInflatedBytes: 64 * 2 ** 20,
  /** Maximum bytes of a JSON body of operations other than ingest. */
  maxJsonBodyBytes: 256 * 2 ** 10,
  /**
   * Maximum bytes of one line of NDJSON or TSV. The longest real record (a Suricata alert with packets) is
   * under 200 kB.
   */
  maxLineBytes: 2 ** 20,
  /**
   * Maximum records per ingest body. 64 MB of real records, which have 100 bytes or more, stay below this. Without
   * this limit, a flood of invalid two-byte records, each taking up to 6 µs to reject, would occupy a thread for
   * minutes.
   */
  maxBodyRecords: 1_000_000,
  /**
   * Maximum items of one Elasticsearch _bulk body: many times the batch size of shippers. The response has up
   * to 900 bytes per item, 45 MB in total, which must fit `maxUnsentReplyBytes`.
   */
  maxBulkItems: 50_000,
  /** Maximum bytes of the action line before each _bulk item. An id, an index and some options take 1 kB. */
  maxBulkActionBytes: 8192,
  /** Elasticsearch's limit for document ids. */
  maxDocumentIdBytes: 512,
  /** Elasticsearch's limit for index names. */
  maxIndexNameBytes: 255,
  /** Maximum bytes of one OTLP log record: the longest line, with every quote escaped. */
  maxLogRecordBytes: 2 ** 21,
  /**
   * Maximum Splunk collector channels kept, 150 bytes each: enough for a thousand shippers that open a new
   * channel at every start. The least recently used channel is dropped first.
   */
  maxSplunkChannels: 16_384,
  /**
   * Maximum Splunk channels kept per principal, so that no principal can evict the channels of other principals.
   */
  maxSplunkChannelsPerPrincipal: 1024,
  /** How long Splunk's health check reports the service as full after the service rejected a body for lack of space. */
  splunkFullMs: 10_000,
  /**
   * Maximum distinct facts about hosts in the records of one body: a day's known_hosts of a large network.
   */
  maxBodySightings: 50_000,
  /** Maximum columns of a Zeek TSV header; the widest log has 60. */
  maxTsvColumns: 1024,
  /** Maximum Zeek TSV headers kept per principal for rows in later bodies. Zeek has some 60 logs. */
  maxTsvHeaders: 64,
  /** Maximum characters of one principal's headers in total; real headers have 40,000. */
  maxTsvHeaderBytes: 128 * 1024,
  /**
   * Maximum principals whose headers are kept, in at most 32 MB. The principal whose headers are oldest is
   * dropped first.
   */
  maxTsvHeaderSensors: 256,
  /**
   * Maximum bytes kept of the payload in a sensor's alert: the start of a request. Payload and packet add 5
   * kB to each alert in a list.
   */
  maxAlertPayloadBytes: 2048,
  /** Maximum bytes kept of the packet in a sensor's alert: an Ethernet frame. */
  maxAlertPacketBytes: 1518,
  /**
   * Maximum references, CVEs and metadata keys kept of a signature, and maximum values of each key; real
   * signatures have at most 12.
   */
  maxSignatureValues: 20,
  /** Maximum length of a reference, CVE, metadata key or value of a signature; URLs are the longest. */
  maxSignatureTextLength: 200,
  /** Maximum sensors listed separately in the report of data that was not stored. */
  maxNotStoredSensors: 100,
  /** Maximum reasons listed per sensor in the report of data that was not stored, 800 bytes each. */
  maxNotStoredReasons: 24,
  /** Maximum samples kept per reason why data was not stored. */
  maxNotStoredSamples: 3,
  /** Maximum reasons that `/status` lists for data that was not stored. */
  maxNotStoredShown: 100,
  /** Maximum nesting of one JSON record; real records reach 6. */
  maxNesting: 32,
  /**
   * Maximum length of the name of a transport protocol. The name is part of keys. IANA's longest,
   * `rsvp-e2e-ignore`, has 15 characters.
   */
  maxTransportLength: 16,
  /**
   * Maximum bytes kept of the text of a field. Names have at most 255 bytes, Suricata signatures less than 1
   * kB.
   */
  maxTextBytes: 4096,
  /** Maximum errors about single lines in an ingest response; further errors are only counted. */
  maxReportedErrors: 100,
  /**
   * Maximum bytes of ingest bodies being received or processed. This bounds the memory of the whole ingest
   * path.
   */
  maxIngestInFlightBytes: 48 * 2 ** 20,
  /**
   * Maximum share of `maxIngestInFlightBytes` for one principal: two of the largest bodies, so that room
   * is left for a body of another principal.
   */
  maxIngestShareOfPrincipal: 2 / 3,
  /** Maximum bytes of memory blocks that the HTTP server keeps for reuse by later bodies. */
  maxSpareBodyBytes: 16 * 2 ** 20,
  /**
   * Size of the buffer that each ingest thread keeps to assemble bodies. A longer body gets its own buffer.
   */
  maxKeptBodyBytes: 8 * 2 ** 20,
  /**
   * Maximum inflated bytes of small bodies that are parsed and stored together when bodies arrive faster than
   * they are processed. If one of these bodies is invalid, the other bodies are read twice. The value
   * corresponds to about 700 lines of conn.log, parsed in 1 to 2 ms.
   */
  maxGroupedBytes: 256 * 2 ** 10,
  /**
   * Maximum ingest bodies waiting for a thread of the pool, at most half of them from one sensor. Unless
   * bodies are tiny, `maxIngestInFlightBytes` is reached first.
   */
  maxQueuedBodies: 1024,
  /** Maximum bytes of calls in flight to one worker. */
  maxRpcInFlightBytes: 128 * 2 ** 20,
  /**
   * Maximum rows of one event block. Dictionary codes then fit 16 bits, and a column of 1, 2, 4 or 8 bytes per row fits
   * whole 4 kB pages with little waste.
   */
  maxBlockRows: 8160,
  /**
   * Number of event block headers cached per thread, a power of two: enough for 33 million events, in 8 MB.
   * With more blocks, a query over all events rereads headers: 2 µs each.
   */
  keptHeaders: 4096,
  /** Maximum bytes of a cached header: usually 1.2 kB, more if field values are long. */
  maxKeptHeaderBytes: 2048,
  /**
   * Time after which a thread that has the header of an event block cached verifies the checksum of a part of
   * the block again. Later damage is found within this time.
   */
  reverifyMs: 600_000,
  /** Maximum damaged rows listed in the finding about them; further rows are only counted. */
  maxNamedDamage: 100,
  /**
   * Number of recent block merges whose replaced blocks are reported to readers, so that they reread only
   * these blocks: a few seconds of merges.
   */
  toldMerges: 64,
  /** Maximum addresses whose assets one thread caches, about 150 bytes each; a full cache is cleared. */
  maxCachedOwners: 32_768,
  /**
   * Maximum filters for which one thread caches the number of matching events per block, 8 bytes per block: 50
   * kB per filter at 50 million events. The least recently used filter is dropped.
   */
  maxCountedFilters: 32,
  /**
   * Maximum bytes of cached filter counts, not including the newest filter. Enough for 32 filters at
   * 125 million events, or four at a billion.
   */
  maxCountedBytes: 4 * 2 ** 20,
  /** Maximum events that a deep page sorts in memory, 16 bytes each; larger sets are narrowed down first. */
  maxSortedEvents: 2 ** 17,
  /** Maximum items on a list page. */
  maxPerPage: 1000,
  defaultPerPage: 50,
  /** Maximum values of a repeated query parameter. */
  maxFilterValues: 100,
  /**
   * Maximum queries waiting for the analytics pool, counted separately for short and long queries. Users
   * would not wait for a longer queue.
   */
  maxQueuedQueries: 64,
  /**
   * Maximum share of the waiting and running queries for one principal, so that capacity remains
   * for a second principal.
   */
  maxQueryShareOfPrincipal: 1 / 2,
  /** How long the response to a request with an Idempotency-Key is kept. */
  idempotencyTtlMs: 24 * 3600 * 1000,
  /** Maximum length of an Idempotency-Key. */
  maxIdempotencyKeyBytes: 255,
  /** How long `/health` waits for a busy thread: less than the timeout of probes. */
  healthAnswerMs: 1000,
  /**
   * How long a thread may stay busy before `/health` reports it as stuck: longer than any transaction takes.
   */
  healthStuckMs: 120_000,
  /** Maximum events kept as the sample of one alert. */
  maxAlertEventIds: 20,
  /**
   * Maximum sensors listed in an alert: the first sensors that reported the alert. Alerts with more sensors are rare.
   */
  maxAlertSensors: 20,
  /**
   * Maximum new alerts of one rule and one sensor within a deduplication window; further alerts become one
   * summary alert. Analysts cannot review more alerts of one rule individually within an hour.
   */
  maxAlertsPerRuleWindow: 50,
  /**
   * Maximum severe alerts of a rule that concern a home network, within five minutes. Each host of an
   * outbreak gets an alert, up to a rate that a person can follow.
   */
  maxGraveAlertsPerBurst: 50,
  /**
   * Maximum alerts of a rule about one home host and its peers; further alerts become one summary alert about
   * this host.
   */
  maxAlertsPerHostWindow: 20,
  /**
   * Maximum alerts of a rule about home hosts whose asset has high or critical criticality. Alerts about
   * other hosts do not count.
   */
  maxCriticalHostsPerRuleWindow: 100,
  /**
   * Maximum severe alerts of a rule for events outside the current window, per hour of the local clock. Only
   * imports and sensors with jumping clocks cause more; further alerts become one summary alert.
   */
  maxUntimelyAlertsPerRuleWindow: 600,
  /**
   * Maximum alerts of all rules of one source (Suricata, Sigma, …) within an hour of the local clock: enough for
   * the first alerts of sixty flooding rules. Storing them takes the store thread a second.
   */
  maxAlertsPerSourceHour: 6000,
  /** Maximum source addresses, and maximum destination addresses, listed in a summary alert. */
  maxFoldedNames: 20,
  /**
   * Maximum hashes kept of the source addresses, and of the destination addresses, of a summary alert (1 kB).
   * With more addresses, their number is estimated (4 kB).
   */
  maxFoldedHashes: 256,
  /**
   * Maximum silences, including ended ones that were not deleted: more than people manage. After each change,
   * all silences are compiled again.
   */
  maxSilences: 1000,
  /** Maximum values of one attribute of a silence: 100 kB for all silences. */
  maxSilenceValues: 100,
  /**
   * Maximum share of the IPv4 addresses that a silence without other conditions may cover: 64 blocks of /8. A
   * larger share would silence nearly everything.
   */
  maxSilencedIpv4: 1 / 4,
  /**
   * Maximum share of the IPv6 addresses that a silence without other conditions may cover: twice `fc00::/7`.
   */
  maxSilencedIpv6: 1 / 64,
  /** How far ahead the end of a silence may be, so that a forgotten silence ends within three months. */
  maxSilenceMs: 90 * 24 * 3600 * 1000,
  /**
   * Maximum records in the history of one alert, 150 bytes each. The oldest automatic records are dropped
   * first.
   */
  maxAlertHistory: 500,
  /** Maximum alert ids in one bulk change, as many as a list page has. */
  maxBulkIds: 1000,
  /**
   * Maximum alerts that match the filter of a bulk change: more than are raised on a typical bad day. At about a
   * millisecond per alert, the change takes ten seconds.
   */
  maxBulkAlerts: 10_000,
  /** Number of alerts that a bulk change writes per transaction: 10 to 50 ms, during which ingest waits. */
  bulkAlertsAtOnce: 50,
  /** Maximum bulk changes in progress, of all callers. Each bulk change has one waiting transaction. */
  maxBulkChanges: 4,
  /** Maximum exports in progress. Each holds a connection and one page of up to 2 MB. */
  maxExports: 8,
  /** Maximum exports in progress per principal, so that capacity remains for two other principals. */
  maxExportsPerPrincipal: 3,
  /** Target size of one page of an export. The last line of a page may exceed it. */
  exportPageBytes: 256 * 2 ** 10,
  /**
   * Maximum alerts examined per page of an export. A page then occupies a pool thread for at most 0.2 s, and
   * pages follow quickly enough to keep the client's connection active.
   */
  exportPageAlerts: 20_000,
  /** Maximum event rows examined per page of an export: 5 to 300 ms, depending on the filter. */
  exportScanRows: 500_000,
  /**
   * Maximum retries of an export page, a second apart, while the threads are overloaded or being replaced.
   */
  maxExportRetries: 5,
  /** Maximum groups in a query for alert groups, which then takes 20 MB. */
  maxAlertGroups: 50_000,
  /** Maximum buckets of a histogram: more than fit on a screen. */
  maxHistogramBuckets: 500,
  defaultHistogramBuckets: 60,
  /** Maximum values of an attribute shown with their counts. */
  maxShownValues: 100,
  defaultShownValues: 20,
  /**
   * Maximum memory for counting the values of an attribute: about 250,000 addresses. Senders determine the
   * number of values.
   */
  maxValueTallyBytes: 32 * 2 ** 20,
  /** Maximum notes per alert. More than this can only come from automation. */
  maxNotesPerAlert: 10_000,
  /** Maximum canonical bytes of a log entry. C2SP entry bundles allow 65,535 bytes per entry. */
  maxEntryBytes: 60_000,
  /**
   * Maximum canonical bytes of the entries on one list page. A thousand typical entries take 1 MB; their JSON is
   * more than twice as long.
   */
  maxEntriesPageBytes: 4 * 2 ** 20,
  /**
   * Maximum ended keys of one purpose in /.well-known/jwks.json. Access tokens are valid for 15 minutes by default,
   * and keys are rarely rotated more than four times in that time. Older keys are listed at /api/transparency/keys.
   */
  publishedEndedKeys: 4,
  /**
   * Maximum log entries waiting for a commit: a few seconds of work for a slow disk. Further appends fail
   * with OVERLOADED.
   */
  maxQueuedAppends: 65_536,
  /**
   * Maximum time between the event that an entry records and the append of the entry. An older entry must state when
   * its delay began, so that an intruder with the event key cannot backdate an entry.
   */
  maxEntryAgeMs: 86_400_000,
  /**
   * Maximum time by which the event time of an entry may be later than its append. Both times are read on one host,
   * almost simultaneously.
   */
  maxEntryAheadMs: 300_000,
  /**
   * How far the wall clock may move against the monotonic clock between two checks. Slewing and leap seconds
   * cause smaller differences.
   */
  maxClockStepMs: 60_000,
  /**
   * How far the clock may jump forward, and tree heads may be ahead of the clock, before the log refuses entries until
   * the clock is corrected or confirmed. The times of heads cannot decrease, so a wrong signed time is permanent.
   */
  maxClockJumpMs: 3_600_000,
  /**
   * How far the clock may be ahead of the last head at start-up. The service is rarely stopped for three
   * months.
   */
  maxClockGapMs: 90 * 86_400_000,
  /** How long a jump of the clock is reported after it happened. */
  clockFindingMs: 86_400_000,
  /**
   * Maximum key derivation rounds of an encrypted key file: five times the number that Candor uses, and 0.5 s
   * of CPU time.
   */
  maxKeyDerivationRounds: 1_000_000,
  /**
   * Timeout of an ssh-agent for one signature. Hardware tokens take up to half a second. The log's thread
   * waits at most this long, and only once: while the agent fails, appends are refused without a request to
   * it.
   */
  signerTimeoutMs: 3000,
  /**
   * How much longer than `signerTimeoutMs` the log's thread waits for the ssh-agent thread, which holds the
   * agent's socket and enforces that timeout.
   */
  signerGraceMs: 500,
  /** How often a failed ssh-agent is retried. */
  signerProbeMs: 1000,
  /** Maximum bytes of an ssh-agent message: OpenSSH's own limit. */
  maxAgentFrameBytes: 256 * 2 ** 10,
  /** Maximum number of keys that an ssh-agent may list: OpenSSH's own limit. */
  maxAgentIdentities: 2048,
  /**
   * Maximum outbox rows waiting for the ledger. When this limit is reached, changes that must be logged are
   * refused.
   */
  maxOutboxRows: 100_000,
  /**
   * Maximum receipts covered by one log entry. Their hash tree has ten levels, and 32 kB of hashes are read to prove
   * one receipt.
   */
  maxReceiptsPerEntry: 1024,
  /** How long a receipt waits for other receipts before an entry covers them: at most 8,640 entries a day. */
  receiptIntervalMs: 10_000,
  /**
   * Maximum stored receipts, 400 bytes each. The oldest receipts that a log entry covers are dropped. While this
   * many receipts wait for an entry, bodies that request a receipt are refused.
   */
  maxReceipts: 200_000,
  /** How often new events are sealed in a log entry: at most 1,440 entries of 0.7 kB a day. */
  sealIntervalMs: 60_000,
  /** Number of events that one task hashes for a seal. A query may have to wait for this task, which takes 35 ms. */
  sealTaskRows: 98_304,
  /** Maximum rows of one sealed range, with 16 kB of roots. Further rows get another log entry. */
  maxSealedRows: 4_194_304,
  /**
   * Maximum findings in stored events that wait to be processed. While this limit is reached, no events are
   * accepted.
   */
  maxWaitingFindings: 10_000,
  /**
   * Free bytes of the databases' volume below which no events are accepted. They are reserved for small
   * changes and for the log, its anchor and its journal, without which the ledger could not continue.
   */
  minFreeDiskBytes: 64 * 2 ** 20,
  /**
   * The part of `minFreeDiskBytes` that events never use, even if the database file has enough free pages. LMDB
   * uses free pages before the file grows, but sometimes no run of free pages is long enough for a block.
   */
  minReservedDiskBytes: 32 * 2 ** 20,
  /**
   * Free bytes, on the volume and in free pages of the database file, below which nothing is written, because
   * a write that finds the volume full ends the process. A small change needs fewer bytes.
   */
  minWritableDiskBytes: 256 * 2 ** 10,
  /** Length of one step of retention, during which commits wait. */
  retentionStepMs: 10,
  /**
   * Length of a step of retention when ingest must be slowed down, because too many event ids wait to be
   * removed from their index.
   */
  retentionHurryMs: 1000,
  /**
   * How often retention checks whether events are past their limits: a flood of 300,000
   * events a second adds 15 MB in that time.
   */
  retentionLookMs: 1000,
  /** Maximum speed of the clock that retention uses, relative to real time, after the host's clock jumped forward. */
  retentionClockRate: 24,
  /**
   * How long the clock of retention is limited to `retentionClockRate` after a jump, so that operators can notice the
   * jump. Then the host's clock is trusted.
   */
  retentionLeapMs: 4 * 86_400_000,
  /** How often the clock of retention is persisted: a restart loses its progress since the last write. */
  retentionClockEveryMs: 3600 * 1000,
  /**
   * Minimum share of the bytes of all events that a table keeps, regardless of the other table's size. DNS
   * rarely needs less.
   */
  retainedTableShare: 1 / 4,
  /** Minimum time between two log entries that retention writes for the same table and reason. */
  expiredEntryEveryMs: 3600 * 1000,
  /** Maximum files of one backup: the databases, and a key file for each day of fifty years. */
  maxBackupFiles: 20_000,
  /** Maximum bytes of a backup's manifest, which has 200 bytes for each file. */
  maxManifestBytes: 8 * 2 ** 20,
  /**
   * Maximum bytes of the identity file that decrypts the private keys of a backup. An identity is a line of
   * 100 bytes.
   */
  maxIdentityFileBytes: 64 * 2 ** 10,
  /**
   * Number of backups, the newest ones, whose log entries are checked at start-up. Hourly backups for a year
   * are 8,760.
   */
  maxCheckedBackups: 10_000,
  /** How long an operation on one file or folder of a volume may take before the caller gets an error. */
  volumeAnswerMs: 5000,
  /** Time allowed for a backup in addition to the time for its bytes at `minBackupBytesPerS`. */
  backupMs: 10 * 60_000,
  /** Minimum rate of a backup. Slower disks and networks are not suitable for backups. */
  minBackupBytesPerS: 2 ** 20,
  /** How long one part of the service may take to close. */
  closeMs: 15_000,
  /**
   * Maximum duration of a stop after the time for requests (http.drain_ms). Then the process ends itself with SIGKILL,
   * which loses nothing, because acknowledged data is on disk. systemd would kill the process after 90 s.
   */
  stopMs: 45_000,
  /** Maximum failed backups shown, until the process ends. */
  maxFailedBackups: 100,
  /**
   * Free bytes of the ledger's volume below which the log accepts no entries, so that they wait in the
   * outbox. A commit that fails for lack of space ends the ledger's thread; if this happens twice in a
   * minute, the service ends. The remaining bytes are for the anchor, the journal and key files, which are small.
   */
  minFreeLedgerDiskBytes: 16 * 2 ** 20,
  /** Maximum WebSocket connections. Each costs about 10 kB plus its unread bytes. */
  maxSockets: 10_000,
  /** Maximum subscriptions on one WebSocket. */
  maxSubscriptionsPerSocket: 100,
  /**
   * Maximum subscriptions on all WebSockets together. Each costs about 1 kB, and up to 50 kB with the longest
   * filter.
   */
  maxSubscriptions: 20_000,
  /**
   * Maximum WebSocket connections that have not authenticated, so that they cannot use up `maxSockets`. As many
   * further connections may wait for the check of their credentials, which takes milliseconds.
   */
  maxUnauthenticatedSockets: 500,
  /**
   * Maximum messages that a WebSocket client may send in a burst, for example when it subscribes to all
   * channels.
   */
  maxSocketMessageBurst: 250,
  /** Maximum sustained rate of messages from a WebSocket client. Each message costs about 20 µs. */
  maxSocketMessagesPerS: 50,
  /** Maximum messages of one WebSocket client that wait while its token is being checked. */
  maxWaitingSocketMessages: 250,
  /**
   * Maximum time per second that the main thread spends on the filters of live subscriptions and on writing their
   * messages as JSON. Subscriptions whose filter was not evaluated read the missed events from disk, in turn.
   */
  maxLiveMatchMsPerS: 500,
  /**
   * Maximum commits of a channel kept so that replays can continue from them: enough for 0.1 s at 2,000 commits a
   * second, which is longer than one read.
   */
  maxRecentBatches: 256,
  /** Maximum bytes of the commits of a channel kept for replays. */
  maxRecentBatchBytes: 4 * 2 ** 20,
  /** Maximum concurrent reads of replays. Further replays wait, so that threads remain free for lists. */
  maxConcurrentReplays: 2,
  /** Maximum messages that a replay reads at a time. */
  maxReplayMessages: 500,
  /** Maximum rows that one task of a replay examines: 5 to 300 ms, depending on the filter. */
  maxReplayScanRows: 500_000,
  /**
   * Maximum retries of a replay, a second apart, while the reading threads are overloaded or being replaced.
   */
  maxReplayRetries: 10,
  /**
   * How long the client of a closing WebSocket may take to read its unread bytes before it is disconnected.
   */
  socketCloseGraceMs: 5000,
  /** Maximum bytes of a message from a WebSocket client. */
  maxSocketMessageBytes: 16 * 2 ** 10,
  /** Maximum unread bytes of one WebSocket client before events are skipped for this client. */
  maxSocketBacklogBytes: 2 * 2 ** 20,
  /**
   * Maximum unread bytes of all WebSocket clients before each client is limited to a 32nd of
   * `maxSocketBacklogBytes`.
   */
  maxTotalSocketBacklogBytes: 128 * 2 ** 20,
  /** Time without any message from a client, not even a pong, after which its socket is closed. */
  socketIdleTimeoutS: 120,
  /** Timeout for the first `auth` message on a socket. */
  socketAuthTimeoutMs: 5000,
  /** Maximum bytes of the request target and headers. */
  maxHeaderBytes: 16 * 2 ** 10,
  /**
   * Maximum failed logins within a minute from one address, and of one account from an address where the account signed
   * in before: ten typing errors, or 14,400 guesses a day.
   */
  maxLoginFailuresPerMinute: 10,
  /**
   * Maximum failed logins of one account within a minute, from all addresses where the account did not sign in before:
   * ten attackers at full speed.
   */
  maxAccountLoginFailuresPerMinute: 100,
  /**
   * Maximum failed calls of one caller (principal, or address without credentials) within a minute that get
   * individual audit records: as many as failed logins. Further calls are only counted, so that a flood of
   * calls cannot evict earlier records.
   */
  auditFailuresPerMinute: 10,
  /**
   * Maximum successful reads, and maximum successful changes, of one caller within a minute that get
   * individual audit records: more than a person makes. Changes by administrators, and changes that cause a
   * transparency log entry, are exempt, because an audit record must exist for the entry.
   */
  auditSuccessesPerMinute: 60,
  /** Maximum failed calls of all callers that get individual audit records in a burst. */
  auditFailuresBurst: 600,
  /**
   * Maximum failed calls of all callers per minute that get individual audit records in the long run: with
   * the records of `maxAuditCounts`, at most 33,000 records a day.
   */
  auditFailuresRefill: 10,
  /**
   * Maximum audit records with counts per minute, each for one caller, operation and outcome. Further calls
   * are counted together.
   */
  maxAuditCounts: 10,
  /**
   * Maximum addresses without credentials whose calls within a minute are counted separately, 100 bytes each.
   */
  maxAuditStrangers: 4096,
  /**
   * Maximum audit records waiting while the store cannot write them: several minutes' worth, at 500 bytes
   * each. Further records are only counted.
   */
  maxQueuedAuditRecords: 10_000,
  /** Maximum parsed client certificates that are cached, 5 kB each: enough for 2,048 sensors. */
  maxKnownCertificates: 2048,
  /**
   * How long connections stay open after the server's certificate was replaced: longer than the longest
   * request, a body of 16 MB at 1 Mbit/s. Each response asks the client to close its connection, so this
   * limit affects only WebSockets, and clients that do not close.
   */
  retiredTlsMs: 5 * 60_000,
  /**
   * Maximum replaced certificates whose connections are still open. Certificates are not replaced more often
   * within `retiredTlsMs`.
   */
  maxRetiredTls: 4,
  /** Maximum access tokens with a cached signature check, 1 kB each: enough for 10,000 active users. */
  maxVerifiedTokens: 10_000,
  /**
   * Maximum tokens whose time of last use waits to be written: 100 bytes each. Times are written every minute.
   */
  maxTokenUses: 131_072,
  /**
   * Maximum users, sensors and auditors: ten times as many as a large company has. Each takes 500 bytes; a
   * page is read in milliseconds.
   */
  maxPrincipals: 100_000,
  /**
   * Maximum tokens per principal: sessions, long-lived tokens that are not revoked, and revoked tokens kept
   * for display. A script that logs in for each call ends its own oldest session.
   */
  maxTokensPerPrincipal: 1000,
  /**
   * Maximum audit records: a month at the maximum daily number. Each takes 400 bytes; a search reads all of
   * them in a second.
   */
  maxAuditRecords: 1_000_000,
  /** Maximum passwords being checked or waiting for a check, which takes 19 MiB and 20 ms of a core. */
  maxPasswordChecksInFlight: 32,
  /** Maximum bytes of bodies other than ingest being received or processed: 64 of the largest. */
  maxJsonInFlightBytes: 16 * 2 ** 20,
  /**
   * Maximum bytes of JSON bodies in progress for one principal: a quarter of `maxJsonInFlightBytes`, so that
   * capacity remains for three other principals.
   */
  maxJsonInFlightBytesPerPrincipal: 4 * 2 ** 20,
  /**
   * Maximum bytes of a JSON body from an unauthenticated caller: the longest login, with all characters escaped,
   * takes 15 kB.
   */
  maxPublicJsonBodyBytes: 16 * 2 ** 10,
  /**
   * Maximum bytes of unauthenticated JSON bodies in progress, counted separately from authenticated bodies: a
   * body of the maximum length for each unauthenticated request. One address is limited to half of these
   * requests, so it cannot use up this limit.
   */
  maxPublicJsonInFlightBytes: 16 * 2 ** 20,
  /**
   * Maximum bytes of a threat intelligence list, on the wire and inflated: 500,000 names in plain lines take up
   * 10 MB; STIX has room for 50,000, at 600 bytes each. The pool thread that parses the list needs ten times its
   * size.
   */
  maxIntelBodyBytes: 32 * 2 ** 20,
  /** Maximum bytes of threat intelligence lists being received or processed: two of maximum length. */
  maxIntelInFlightBytes: 64 * 2 ** 20,
  /**
   * Maximum threat intelligence lists. Each address and name of an event block is looked up in all of them:
   * 0.2 µs per list.
   */
  maxIntelLists: 100,
  /** Maximum indicators per list: the longest public lists have 300,000. */
  maxIntelIndicatorsPerList: 500_000,
  /**
   * Maximum indicators of all lists. In memory, names of 28 characters take 51 MB, or IPv4 addresses 25 MB.
   */
  maxIntelIndicators: 1_000_000,
  /**
   * Maximum values read per list, including duplicates and rejected values. Reading them takes a thread one
   * minute.
   */
  maxIntelValuesPerList: 1_500_000,
  /**
   * Maximum characters of one STIX pattern: a typical pattern has 100, a pattern with a whole list 100,000.
   */
  maxIntelPatternLength: 2 ** 18,
  /** Maximum rejected indicators reported per list: the first ones found. */
  maxIntelRejected: 100,
  /** Maximum characters shown of a rejected indicator, and of an indicator's name in the list. */
  maxIntelTextLength: 200,
  /**
   * Maximum distinct names or kinds of indicators kept per list for display; further names and kinds are not
   * shown.
   */
  maxIntelLabels: 4096,
  /**
   * Maximum distinct expiry times of indicators kept per list. If there are more, they are merged by hour, day or
   * month.
   */
  maxIntelEnds: 4096,
  /**
   * Shortest prefix of an IPv4 block in a list of indicators. Shorter prefixes would cover a large part of the
   * Internet.
   */
  minIntelPrefixIpv4: 8,
  /** Shortest prefix of an IPv6 block in a list of indicators. No registry allocates shorter prefixes. */
  minIntelPrefixIpv6: 16,
  /**
   * Maximum requests in progress. Each costs about 2 kB besides its body. More requests would only wait for
   * each other.
   */
  maxRequestsInFlight: 4096,
  /**
   * Maximum requests in progress of one principal: a quarter of `maxRequestsInFlight`, so that capacity
   * remains for three other principals.
   */
  maxRequestsInFlightPerPrincipal: 1024,
  /**
   * Maximum unauthenticated requests in progress: a quarter of `maxRequestsInFlight`, so that capacity
   * remains for authenticated requests.
   */
  maxRequestsInFlightWithoutIdentity: 1024,
  /**
   * Maximum unauthenticated requests in progress from one address, or one IPv6 /64: half of all
   * unauthenticated requests, and twice as many as a monitor sends together.
   */
  maxRequestsInFlightPerAddress: 512,
  /**
   * Maximum requests from one address that wait for the rest of their body: a sixteenth of unauthenticated
   * requests. A login arrives in one piece, so only slow links wait; an attack with incomplete bodies needs
   * sixteen addresses.
   */
  maxWaitingBodiesPerAddress: 64,
  /**
   * Maximum requests a second from one address, and half of the maximum burst;
   * `limits.requests_per_s_per_address` changes this limit. The HTTP server handles 20,000 small requests a second on
   * one core; this is a quarter. The fastest sensor sends 30 large requests a second, and an audit of a whole
   * log fewer than 2,000.
   */
  maxRequestsPerSPerAddress: 5000,
  /**
   * Maximum requests a second of one principal, from all its addresses; `limits.requests_per_s_per_principal` changes
   * this limit.
   */
  maxRequestsPerSPerPrincipal: 5000,
  /**
   * Maximum unauthenticated reads of the transparency log a second from one address;
   * `limits.log_reads_per_s_per_address` changes this limit. An audit of a whole log needs fewer.
   */
  maxLogReadsPerSPerAddress: 2000,
  /**
   * Maximum connections, including idle ones: all WebSockets, and more than half as many other connections.
   * Each costs about 10 kB and a file descriptor.
   */
  maxConnections: 16_384,
  /**
   * Maximum connections from one address, or one IPv6 /64: an eighth of `maxConnections`, which is enough for
   * an office behind one address. Each request in progress has a connection, so one address cannot use up
   * `maxRequestsInFlight` either.
   */
  maxConnectionsPerAddress: 2048,
  /**
   * File descriptors reserved for everything other than connections, but at most three quarters of the
   * descriptors of the process. Threads and databases need 60, plus up to 10 for each thread; a scan needs
   * 512. Without descriptors, the log cannot write its anchor and ends.
   */
  reservedDescriptors: 1024,
  /**
   * Maximum closed WebSockets whose connections may linger until the client closes its side, without counting
   * as connections.
   */
  maxClosingSockets: 4096,
  /**
   * Maximum closed WebSockets of one address that may linger: half of the connections of an address. All
   * WebSockets of an office may be closed together, for example when a certificate is replaced, and must be
   * able to reconnect.
   */
  maxClosingSocketsPerAddress: 1024,
  /**
   * How long closed WebSockets may linger: uWebSockets.js checks every 4 s, and closes their connections after
   * 16 s.
   */
  closingSocketMs: 20_000,
  /**
   * Maximum unread bytes of all responses; above this, the slowest clients are disconnected. A list page usually
   * takes 1 MB.
   */
  maxUnsentReplyBytes: 64 * 2 ** 20,
  /** Maximum files of the console, each with its own endpoint. The console has a few dozen files. */
  maxConsoleFiles: 1000,
  /**
   * Maximum bytes of the console's files in memory, including their compressed forms. They take about 3 MB.
   */
  maxConsoleBytes: 32 * 2 ** 20,
  /** Time for receiving a whole body: 16 MB at 1 Mbit/s. A connection that is idle for 10 s is closed earlier. */
  bodyTimeoutMs: 120_000,
  /** Time for receiving a body of an unauthenticated caller: the longest login, 16 kB, at 26 kbit/s. */
  bodyTimeoutWithoutIdentityMs: 5000,
  /** Time for sending a whole response to a slow client. */
  replyTimeoutMs: 120_000,
  /**
   * Maximum bytes of a refused body that are read and dropped so that its sender sees the response (some
   * clients would see only a failed write). The connection of a longer body is closed. The typical mistake, a
   * file sent as one body, stays below this.
   */
  maxDiscardedBodyBytes: 128 * 2 ** 20,
  /**
   * Maximum length of a client's X-Request-Id that is adopted. UUIDs and trace ids have fewer than 64
   * characters.
   */
  maxRequestIdBytes: 128,
  /**
   * Maximum evidence files that a witness keeps per log: the first ones. Each file is proof against the log and
   * takes about 4 kB.
   */
  maxWitnessEvidence: 16,
  /**
   * Maximum rejected checkpoints that a witness stores per log, the first and the latest ones: about 300
   * bytes each.
   */
  maxWitnessRejected: 16,
  /**
   * Maximum bytes of a witness policy. C2SP tlog-policy requires support for 32 lines of each kind; a line
   * has 100 to 300 bytes.
   */
  maxPolicyBytes: 256 * 2 ** 10,
  maxPolicyLines: 256,
  /**
   * Maximum bytes of an access policy file. With a rule for each operation, a policy takes 10 kB. The worst YAML,
   * in which each character is an error, takes a second to parse.
   */
  maxAccessPolicyBytes: 64 * 2 ** 10,
  /**
   * Maximum changes of the access policy that wait for the change in progress. A change takes a few flushes.
   */
  maxQueuedPolicyChanges: 100,
  /**
   * Maximum bytes of a witness's response. A signature line has 170 bytes; ten post-quantum signatures of 5 kB
   * each also fit.
   */
  maxWitnessAnswerBytes: 64 * 2 ** 10,
  /**
   * Maximum difference between the clocks of a witness and of this host; unsynchronised clocks drift by
   * seconds a day.
   */
  maxWitnessSkewS: 300,
  /**
   * Maximum pause after failures of a witness. The first pause is a second, and each further failure doubles
   * it.
   */
  maxWitnessPauseMs: 60_000,
  /**
   * Age at which cosignatures of a log that does not grow are renewed, as its heads are, so that verifiers always
   * find recent cosignatures.
   */
  cosignatureAgeMs: 3600 * 1000,
  /**
   * Maximum bytes of a response of a timestamping authority. A token with its certificate chain has 3 to 10
   * kB. In base64, with a checkpoint of a dozen cosignatures, the token must fit in an entry.
   */
  maxTimestampAnswerBytes: 32 * 2 ** 10,
  /**
   * Maximum authorities that timestamp checkpoints. Two or three are enough for independence; each adds 10 kB
   * to a bundle.
   */
  maxTimestampAuthorities: 4,
  /**
   * Number of timestamp entries examined on either side of an entry, enough to find the entries of all
   * authorities.
   */
  nearbyTimestamps: 8,
  /**
   * Pause after the first failure of a timestamping authority. Each further failure doubles it, up to
   * `maxTimestampPauseMs`.
   */
  minTimestampPauseMs: 60_000,
  maxTimestampPauseMs: 3600 * 1000,
  /**
   * Maximum bytes of a request body to a witness: 63 lines of proof, and a note with 16 post-quantum signatures
   * of 5 kB each.
   */
  maxAddCheckpointBytes: 128 * 2 ** 10,
  /** Maximum requests for one log that wait at a witness. Each waits for a flush of a few milliseconds. */
  maxWitnessQueue: 64,
  /** Maximum connections to a witness. Each log holds one open. */
  maxWitnessConnections: 256,
  /** Time for receiving a whole request to a witness, which fits in a few packets. */
  witnessRequestTimeoutMs: 10_000,
  /** Timeout of an idle connection to a witness. Logs send the next request within seconds. */
  witnessIdleTimeoutMs: 120_000,
  /**
   * Maximum addresses and blocks in the request for a scan: as many as people paste. Few remain after merging.
   */
  maxScanTargets: 1000,
  /** Maximum addresses of one scan: an IPv4 /16. */
  maxScanHosts: 65_536,
  /**
   * Maximum probes of one scan: a /16 on 256 ports. At the default rate, such a scan takes nine hours, and 2 MB
   * for the refused ports.
   */
  maxScanProbes: 2 ** 24,
  /** Maximum probes a second of a scan, the most that one thread can send. Networks tolerate fewer. */
  maxScanRate: 10_000,
  /**
   * Maximum concurrent connections of a scan, each a file descriptor: 250 probes a second when no host
   * replies.
   */
  maxScanConnections: 512,
  /**
   * Number of hosts that a scan probes in turn: each host gets every 128th probe while other hosts remain.
   */
  scanHostsInTurn: 128,
  /**
   * Maximum hosts, besides those being probed, whose last results are pending: a kilobyte each. Slow banners delay the
   * results of fewer hosts than this.
   */
  maxUnfinishedScanHosts: 1024,
  /**
   * Maximum open ports of one host that a scan records, more than any real host has. A host with more open ports
   * is probably a honeypot, and would occupy the connections that identify services.
   */
  maxScanServicesPerHost: 1000,
  /**
   * Maximum open ports of one host whose service is identified. Each needs a second connection, which takes
   * seconds if the service sends nothing.
   */
  maxScanBannersPerHost: 256,
  /** Connection timeout of a scan: enough for a second SYN, which is sent one second after a lost SYN. */
  scanConnectTimeoutMs: 2000,
  /** Maximum bytes read of a banner: many times the length of a greeting or of HTTP response headers. */
  maxBannerBytes: 4096,
  /** Time to identify the service of an open port: a greeting, a request, and another request over TLS. */
  bannerTimeoutMs: 8000,
  /** Timeout of a reverse DNS lookup. */
  reverseNameTimeoutMs: 2000,
  /** Maximum bytes of nmap's output for one scan: 6 kB for each of 65,536 hosts. */
  maxNmapOutputBytes: 384 * 2 ** 20,
  /** Maximum scans waiting for the scan in progress. */
  maxQueuedScans: 100,
  /** Maximum scans started within a minute: more than people start. Each has an audit record. */
  maxScansPerMinute: 30,
  /**
   * Maximum scans kept, the newest ones: hourly scans for a year. A scan takes 500 bytes, or more with many
   * targets.
   */
  maxScans: 10_000,
  /**
   * Maximum assets. Further hosts are counted as not recorded: most of them would be invented by an attacker. An
   * asset takes 500 bytes; a list with a filter reads all of them in 0.2 s.
   */
  maxAssets: 200_000,
  /**
   * Maximum addresses that have or had an asset, 100 bytes each: several for each asset, because IPv6
   * hosts use several addresses.
   */
  maxAssetAddresses: 1_000_000,
  /** Maximum known MAC addresses of assets and gateways. Further MAC addresses identify no asset. */
  maxKnownMacs: 500_000,
  /**
   * Maximum current addresses of an asset, including those set by users. Beyond this, the least recently seen
   * address is released.
   */
  maxCurrentAddresses: 256,
  /**
   * Maximum current and earlier addresses of an asset: ten years of privacy addresses (RFC 8981) that change
   * daily. Further addresses are not assigned to the asset.
   */
  maxAddressesPerAsset: 4096,
  /**
   * Maximum IPv4 addresses seen with one MAC address within an hour, if the MAC address belongs to a machine. A router
   * has the addresses of all machines behind it.
   */
  maxAddressesPerMac: 4,
  /**
   * Maximum IPv4 addresses seen with one MAC address within a day, if the MAC address belongs to a machine: more than
   * one machine gets through successive leases, but fewer than a router with quiet machines behind it shows.
   */
  maxAddressesPerMacDay: 16,
  /**
   * Maximum earlier owners of one address. Each move of an address that flaps between machines adds an owner; the
   * oldest owners are merged.
   */
  maxBindingsPerAddress: 1000,
  /**
   * Maximum owner changes of one address that are followed within one block of events; further changes are merged.
   */
  maxSpansPerAddress: 64,
  /**
   * How far the clocks of sensors may be ahead of the local clock. The times of later sightings are capped at
   * this limit.
   */
  maxClockLeadMs: 300_000,
  /** Maximum hosts recorded as users of a name. Three users show that no single host invented the name. */
  maxClientsPerName: 3,
  /** Maximum host names of one asset from each kind of source: DHCP, mDNS, DNS and TLS. */
  maxHeardNames: 16,
  /**
   * Maximum records in the history of one asset, 150 bytes each. The oldest automatic records are dropped
   * first.
   */
  maxAssetHistory: 1000,
  /**
   * Maximum changes recorded of one asset's risk score, 60 bytes each. They cover months, because scores fall
   * a few points a day.
   */
  maxRiskChanges: 500,
  /** Maximum cached rows of assets, and maximum cached rows of MAC addresses: 15 MB together. */
  maxCachedAssetRows: 16_384,
  /**
   * Maximum cached rows of addresses, 250 bytes each: enough for many hosts seen in turn. Reading a row takes
   * as long as all other work for a known host.
   */
  maxCachedAddressRows: 65_536,
  /**
   * Maximum entries of open alerts that are read to count the alerts of an asset exactly, if the asset has or had
   * several addresses. Further alerts are counted per address, so the total is then an estimate.
   */
  maxCountedAlerts: 20_000,
  /** Number of assets whose risk is updated per step as their alerts age. A step takes 50 ms. */
  riskFallsPerStep: 500,
  /**
   * Pause between two steps of risk updates. If 100,000 assets were scanned at the same moment, their updates
   * take a minute.
   */
  riskPauseMs: 250,
  /**
   * Maximum time between two checks for due risk updates, while updates are pending: clocks may be set, and
   * machines may sleep.
   */
  riskLookMs: 60_000,
  /**
   * Maximum assets in the list of assets at risk: the riskiest ones, with up to 32 alerts each. The list takes at
   * most 600 kB and is read in 50 ms.
   */
  maxShownRisks: 100,
  /**
   * Maximum services, 500 bytes each. Evidence of additional services is dropped and counted. A list with a
   * filter reads all of them in seconds.
   */
  maxServices: 2_000_000,
  /**
   * Maximum services of one asset: more than real software uses. A host with all ports open would exceed this
   * limit.
   */
  maxServicesPerAsset: 10_000,
  /** Maximum services in the cache, the most recently used: a kilobyte each with their clients. */
  maxCachedServices: 32_768,
  /** Maximum cached bytes of the clients of services, up to 16 kB per service. */
  maxCachedClientBytes: 32 * 2 ** 20,
  /**
   * Number of changed inventory rows that a transaction writes, in 5 ms, after it applied a delta. If more rows have
   * changed, a separate transaction writes them.
   */
  inventoryRowsPerCommit: 2000,
  /**
   * Maximum pause of the projector after the commit of a small delta. Also the pause between writes of inventory rows
   * that no delta changed: a row that changes repeatedly during the pause is written once.
   */
  inventoryPauseMs: 500,
  /** Time that one transaction spends on applying a delta of the projector. Later transactions apply the rest. */
  inventoryCountMs: 20,
  /** Maximum sightings that wait after processing has stopped. Further sightings are dropped. */
  maxStoppedSightings: 262_144,
  /** Maximum stored events that are skipped because processing them failed. Further failures stop processing. */
  maxSkippedEvents: 100,
  /**
   * Maximum stored events, and sensors' other reports, that wait to be processed. Above this limit, each batch waits
   * for up to 1.5 s, and ingest slows down.
   */
  maxUncountedEvents: 262_144,
  /**
   * Number of hosts with no change except a new last-seen time, written per transaction while more hosts wait: 20 ms.
   * For 100,000 constantly active hosts, lists lag by at most a minute.
   */
  settledHostsPerWrite: 2000,
  /**
   * Maximum bytes or packets of one connection: a link of 100 Gbit/s carries this many bytes in 22 hours. Larger
   * values are refused with an error that names the field, because the sum of ten such values could exceed the
   * integers that JSON represents exactly.
   */
  maxEventCount: 1e15,
  /**
   * Bytes that a link carries in a millisecond, at 100 Gbit/s. Sums of connections that began in one hour or
   * day are capped at this rate. A single connection is limited by this rate over its duration plus
   * `linkGraceMs`.
   */
  maxLinkBytesPerMs: 12_500_000,
  /**
   * Time added to the duration of a connection, because the duration is often rounded or unknown. A link carries 250 GB
   * in this time. Byte counts that a link cannot carry in the sum of both times are left out of sums, charts and
   * detection. Events with such counts are stored: otherwise a peer that forges sequence numbers could hide its
   * connections.
   */
  linkGraceMs: 20_000,
  /**
   * Maximum value of a sum of bytes: a link of 100 Gbit/s carries this many bytes in eight days. JavaScript
   * numbers cannot represent much larger integers exactly.
   */
  maxSummedBytes: 8_640_000_000_000_000,
  /**
   * Maximum connections kept so that repeated reports of the same connection count once: 32 MB. Connections that
   * have ended are forgotten first, because they are reported again only if the sensor sends a report twice. In
   * simulations, a third of the connections that look open is reported hourly. If 3 % of new connections look open, 1 %
   * of the hourly reports count twice at 2,000 new connections a second, and 40 % at 5,000. If only 0.3 % look open,
   * fewer than 0.1 % count twice at 5,000 a second. At that rate, ended connections are kept for a minute.
   */
  rememberedConnections: 2 ** 21,
  /**
   * Maximum MAC addresses whose external peers are recorded until there are enough peers to identify a gateway. A
   * network has few gateways; other machines appear here only through forged frames.
   */
  rememberedForwarders: 4096,
  /**
   * Maximum MAC addresses of one address within a day. A machine that forges a new MAC address for each frame
   * would create an asset for each of them; an address in a busy guest network has fewer successive users.
   */
  maxMachinesPerAddress: 32,
  /** Maximum addresses whose MAC addresses are counted, 4 kB each: the addresses that changed owner last. */
  maxWatchedAddresses: 4096,
  /**
   * Maximum edges of the all-time graph, each 60 to 150 bytes on disk and 16 in memory: twenty times as many
   * as a large site has. Further edges are merged by network.
   */
  maxTopologyEdges: 1_000_000,
  /**
   * Maximum edges merged by network: a sixteenth of `maxTopologyEdges`. Further edges are merged into a single
   * edge.
   */
  maxWidenedTopologyEdges: 65_536,
  /**
   * Maximum hourly edges: a row for each hour in which an edge was used, 150 MB in total. The oldest hours
   * are dropped. Rows that are not merged yet are counted separately, up to the same number.
   */
  maxTopologyHourRows: 2_000_000,
  /** Like `maxTopologyHourRows`, for daily edges: a row for each day in which an edge was used. */
  maxTopologyDayRows: 2_000_000,
  /** Maximum time by which a flow may be ahead of the local clock to be counted in hourly and daily edges. */
  topologyHorizonMs: 24 * 3600 * 1000,
  /** Maximum nodes of one graph: more than a person can distinguish. */
  maxTopologyNodes: 2000,
  defaultTopologyNodes: 200,
  /** Maximum edges of one graph: the busiest ones, with 5 MB of JSON. */
  maxTopologyShownEdges: 20_000,
  /**
   * Maximum graph requests that wait while one is computed. A graph takes up to a second for a million edges, so
   * the last request waits 10 s.
   */
  maxWaitingTopologies: 8,
  /**
   * Maximum waiting graph requests of one principal: enough for two windows while the graph of a third window is
   * computed.
   */
  maxWaitingTopologiesPerPrincipal: 2,
  /**
   * Maximum edges and names of one live update, 250 bytes of JSON each; an edge counts once, even if it is
   * used in several hours. Larger updates are left out, and subscribers must refresh.
   */
  maxTopologyUpdateRows: 1000,
  /** Maximum graph updates kept for subscribers that reconnect: minutes of steady traffic. */
  maxTopologyUpdates: 512,
  /**
   * Maximum length of the text of Sigma documents: a rule has 2 kB, a rule with long lists 30 kB. Invalid
   * YAML takes up to 1.3 s to reject, and twice that on a busy machine.
   */
  maxSigmaTextLength: 128 * 2 ** 10,
  /** Maximum Sigma documents in one text. */
  maxSigmaDocuments: 1000,
  /**
   * Maximum values and names of one document, including those repeated by aliases and those of placeholders:
   * the longest public rule has 900.
   */
  maxSigmaNodes: 20_000,
  /** Maximum nesting of one document, and of the parentheses of a condition: rules reach 5 and 3. */
  maxSigmaNesting: 16,
  /** Maximum problems reported per text. Further problems would be of the same kinds. */
  maxSigmaProblems: 100,
  /**
   * Maximum words and parentheses of one condition, including the parts to which `1 of x*` expands. The longest
   * known condition has 80.
   */
  maxSigmaConditionParts: 10_000,
  /** Maximum characters of one value of a rule, including its wildcards. The longest public value has 400. */
  maxSigmaValueLength: 4096,
  /**
   * Maximum values that one value expands to by placeholders and encodings: a list of servers, or the 625
   * ways to write 4 dashes.
   */
  maxSigmaExpandedValues: 10_000,
  /**
   * Maximum placeholder values of all rules together: each takes up to 650 bytes in every thread that
   * evaluates the rules, and 40 µs to compile.
   */
  maxSigmaPlaceholderValues: 100_000,
  /** Maximum number of the operator's lists, which rules reference by name. */
  maxPlaceholders: 100,
  /**
   * Maximum values in all lists of the operator together. A rule that references a list tests each of its
   * values.
   */
  maxPlaceholderValues: 10_000,
  /**
   * Maximum states of a regular expression: each character, class and repetition is one state. Matching takes at
   * most this many steps per character.
   */
  maxRegexStates: 512,
  /**
   * Maximum cached states of the automaton of a regular expression, created as texts need them: 1 kB each.
   * Texts that need more are matched without caching further states.
   */
  maxRegexAutomatonStates: 256,
  /**
   * Number of characters of a value that regular expressions and wildcards with `?` examine; further characters
   * are ignored. Nearly all URIs are shorter. A higher limit would increase the time for the worst record.
   */
  maxRegexTextLength: 4096,
  /** Maximum values of one record that keyword searches examine: the widest record has 200. */
  maxKeywordValues: 2000,
  /** Maximum rules in one correlation: more than a person can understand. */
  maxCorrelationRules: 64,
  /** Maximum fields by which a correlation groups, and maximum fields that form the value that it counts. */
  maxCorrelationFields: 16,
  /** Maximum timespan of a correlation. State is kept twice as long if there is room. */
  maxCorrelationTimespanMs: 90 * 24 * 3600 * 1000,
  /** Maximum levels of correlations of correlations. */
  maxCorrelationDepth: 8,
  /** Maximum alternatives of an expanded condition over rules. All are evaluated for each input. */
  maxCorrelationAlternatives: 64,
  /**
   * Maximum distinct values that a correlation may require. A group keeps up to four times as many, in 1 MB.
   */
  maxCorrelationDistinct: 10_000,
  /**
   * Maximum groups of one correlation, 500 bytes each plus their state. The least recently used group is
   * dropped first.
   */
  maxCorrelationGroups: 50_000,
  /**
   * Maximum inputs kept individually per group of a correlation, 16 bytes each. With more, figures are lower
   * bounds; averages stay exact, and percentiles and shares are computed from the newest half.
   */
  maxCorrelationEntries: 8192,
  /**
   * A late input changes every time window that contains it. All these windows are evaluated (40 µs) if at most this
   * many inputs are within one timespan of the late input; otherwise, only the newest window is evaluated. Applies to
   * conditions that further inputs can make false (`lt`, `not`, averages).
   */
  maxCorrelationLookback: 1024,
  /** Maximum state of all groups of all correlations, in units of 16 bytes: 64 MB. */
  maxCorrelationUnits: 4 * 2 ** 20,
  /** Maximum references to events kept per group of a correlation: half as many as an alert has. */
  maxCorrelationSamples: 10,
  /** Maximum characters of a grouping or counted value: the longest name has 253. */
  maxCorrelationValueLength: 256,
  /** Maximum findings of rules per body: one for each line, or several for lines that match many rules. */
  maxBodyFindings: 100_000,
  /** Maximum inputs of correlations per body. */
  maxBodyFacts: 100_000,
  /**
   * Number of timespans by which an input may be older than the newest input of its group and still count. Inputs
   * delayed by at most `maxEventDelayMs` always count.
   */
  maxCorrelationDelay: 1,
  /**
   * Number of inputs after which the state of correlations is written: replaying them at start-up takes 0.1
   * s.
   */
  factsPerState: 20_000,
  /**
   * Number of inputs after which a large state of correlations is written, so that writing takes no longer than
   * evaluating the inputs. Replaying them takes 1 s.
   */
  maxWaitingFacts: 250_000,
  /** Maximum rules, including shipped rules: more than twice as many as the public corpus has. */
  maxRules: 10_000,
  /** Maximum bytes of the texts of all rules, 3 kB each, held in the memory of the main thread. */
  maxRulesBytes: 64 * 2 ** 20,
  /** Maximum files and folders in the operator's rule folder. */
  maxRuleFiles: 20_000,
  /** Maximum nesting of folders in the operator's rule folder. */
  maxRuleFolderDepth: 16,
  /** Maximum bytes of one file of rules: a thousand documents of usual length. */
  maxRuleFileBytes: 2 * 2 ** 20,
  /** Maximum changes of rules waiting for the change in progress. */
  maxQueuedRuleChanges: 64,
  /** Maximum queued rule changes per principal, including the change in progress. */
  maxRuleChangesPerPrincipal: 2,
  /**
   * Number of bytes of rules that one task parses, in a fifth of a second, so that other tests and changes run
   * between two tasks.
   */
  ruleParseBytes: 2 ** 20,
  /** Maximum tests, validations and changes of rules that wait for the rules thread. */
  maxQueuedRuleTasks: 64,
  /**
   * Maximum queued rule tasks per principal, including the task in progress: a test, the next test, and the
   * validation of a text being edited.
   */
  maxRuleTasksPerPrincipal: 3,
  /**
   * How long one task may hold the rules thread: six times the duration of a test on a busy machine. Then the
   * thread is replaced.
   */
  ruleTaskMs: 60_000,
  /** How long the rules thread waits for the next task before it ends. It takes 18 MB, and starts in 0.3 s. */
  idleRuleThreadMs: 60_000,
  /** How long the threads of queries wait for the next query before they end. Each takes 18 to 40 MB. */
  idleQueryThreadMs: 15 * 60_000,
  /**
   * How long the costs of expressions may be measured when rules are validated; the remaining expressions get the
   * highest possible cost.
   */
  ruleMeasureMs: 1000,
  /**
   * Maximum total cost of all enabled rules for a record of one kind, by `costOf`, roughly in nanoseconds: the
   * shipped rules cost 30,000, and 2,000 generated rules for DNS cost 2,200,000. With expressions up to this
   * limit, the worst known record takes 20 ms.
   */
  maxRuleCost: 3_000_000,
  /**
   * Evaluation time for a record above which `/status` lists a rule: a hundred times the usual time of all
   * rules.
   */
  slowRuleMs: 1,
  /** Maximum stored events on which a rule is tested. */
  maxRuleTestEvents: 500_000,
  /** Time limit of a rule test. A typical rule examines `maxRuleTestEvents` in half of this time. */
  ruleTestMs: 10_000,
  /**
   * Maximum share of elapsed time in which the rules thread tests and validates rules. After a test of one
   * second, the next test waits three seconds, so that continuous tests take a quarter of a core from ingest.
   */
  ruleTestShare: 0.25,
  /** Maximum matches that a rule test shows; the newest are shown. */
  maxRuleTestMatches: 100,
  /**
   * Maximum bytes of the settings file: all lists with a thousand items of usual length. Parsing the YAML
   * occupies the main thread for 0.1 s, in the worst case for two seconds.
   */
  maxConfigFileBytes: 128 * 2 ** 10,
  /** Maximum keys (hosts, pairs, names) that a behaviour detector keeps; each detector has a lower limit. */
  maxDetectorKeys: 200_000,
  /**
   * Maximum delay of an event, relative to newer events of its key, with which it is evaluated as if it were on
   * time. Some sensors buffer events for an hour. State is kept longer by this time.
   */
  maxEventDelayMs: 3_600_000,
  /**
   * Number of windows by which an event may be older than the window of its host or pair. Behaviour detectors
   * ignore older events.
   */
  maxBehaviourDelay: 1,
  /**
   * How often alerts of behaviour detectors and correlations are refreshed while an activity continues: the
   * figures lag by at most this time.
   */
  alertRefreshMs: 1000,
  /**
   * Number of keys of one detector, or groups of all correlations, refreshed in one step: 0.5 ms each,
   * including the write of the alert.
   */
  refreshedKeys: 32,
  /**
   * Maximum windows that a detector keeps as they were before they advanced, until its next evaluation: reporting 512
   * of them takes a quarter of a second. Alerts of further keys (hosts, pairs, names) may miss their largest figures.
   */
  movedWindows: 512,
  /**
   * Number of events after which the state of a behaviour detector is written: replaying them at start-up
   * takes 0.5 s.
   */
  eventsPerDetectorState: 250_000,
  /**
   * Number of events after which a large state of a behaviour detector is written, so that writing takes a small
   * share of the time.
   */
  maxUnkeptDetectorEvents: 1_000_000,
  /**
   * Maximum rules and addresses whose verdicts triage keeps: many years of analysts' work, 100 bytes each.
   * When full, the oldest sixteenth is dropped in 0.1 s.
   */
  maxTriageTallies: 50_000,
  /**
   * Maximum alerts waiting for the triage endpoint, each in its newest state: a few minutes of the endpoint's
   * work. Further alerts keep the verdict of the local model.
   */
  maxTriageQueue: 256,
  /**
   * Maximum alerts recorded as already queued for the triage endpoint. A change of an alert that is not recorded
   * queues the alert again.
   */
  maxTriageSeen: 4096,
  /** Maximum concurrent requests to the triage endpoint. */
  maxTriageInFlight: 4,
  /** Maximum bytes of a response of the triage endpoint: a verdict and six reasons, with metadata, take 2 kB. */
  maxTriageAnswerBytes: 64 * 2 ** 10,
  /** Maximum pause after failures of the triage endpoint; each failure doubles the pause. */
  maxTriagePauseMs: 5 * 60_000,
  /**
   * How long the dashboard's figures are kept by minute: the last hour, the hour before, and the current one.
   */
  rollupMinutesMs: 3 * 3600 * 1000,
  /**
   * How long the dashboard's figures are kept by hour and day: the last thirty days, the thirty before, and
   * the days in which these periods begin. In a busy network, each hour and day takes 20 kB: 30 MB in total.
   */
  rollupHoursMs: 62 * 24 * 3600 * 1000,
  /**
   * Maximum addresses, services and domains kept per minute or hour: this many with the highest counts, and
   * this many with the most bytes. A single count is off by at most a 64th of the total.
   */
  maxRollupEntries: 64,
  /**
   * Maximum addresses, services and domains kept per day: more than per hour, because there are few days, and
   * months are computed from them.
   */
  maxRollupDayEntries: 128,
  /**
   * Maximum hashes kept per bucket before the number of distinct values is estimated: as many as fit into the
   * space of the estimate.
   */
  maxRollupHashes: 1024,
  /**
   * Maximum commits whose counts wait to be added to the buckets of all levels. Adding them takes some
   * milliseconds.
   */
  maxRollupDeltas: 32,
  /** Maximum bytes of the counts that wait to be added to buckets, which readers sum up each time. */
  maxRollupDeltaBytes: 256 * 2 ** 10,
} as const;

/** The effect of each limit that is counted when it is reached, for operators. */
export const limitMeanings = {
  maxBodyBytes: 'Larger request bodies were refused. Senders should send smaller batches.',
  maxInflatedBytes: 'Compressed bodies that decompress to more were refused.',
  maxJsonBodyBytes: 'Larger JSON bodies were refused.',
  maxBodyRecords: 'Bodies with more records were refused. Senders should send smaller batches.',
  maxBulkItems: 'Bodies of `_bulk` with more items were refused. Senders should send smaller batches.',
  maxSplunkChannels: 'The least recently used Splunk channels were removed.',
  maxSplunkChannelsPerPrincipal: 'The least recently used channels of one Splunk shipper were removed.',
  maxBodySightings: 'Records that mention more hosts in one body were rejected.',
  maxLinkBytesPerMs:
    'Byte counts that no link can carry in the duration of the connection were left out of sums and charts.',
  maxIngestInFlightBytes: 'Senders were asked to retry later, because too many bytes were being ingested.',
  maxIngestShareOfPrincipal: 'One sender used its whole share of the ingest memory and had to wait.',
  maxQueuedBodies: 'Senders were asked to retry later, because too many bodies waited for an ingest thread.',
  maxRpcInFlightBytes: 'Calls were refused for a moment, because a thread was busy.',
  maxQueuedQueries: 'Queries were refused for a moment, because too many were waiting.',
  maxQueryShareOfPrincipal: 'Further queries of one principal were refused, because its share was used up.',
  maxAlertHistory: 'The oldest automatic records of alert histories were removed.',
  maxBulkAlerts: 'Bulk changes of more alerts were refused. Use a narrower filter.',
  maxBulkChanges: 'Bulk changes were refused, because too many were running.',
  maxCompressions: 'Responses were sent uncompressed, because too many were being compressed.',
  maxExports: 'Exports were refused, because too many were running.',
  maxExportsPerPrincipal: 'Further exports of one principal were refused.',
  maxAlertGroups: 'There were too many groups of alerts to list each of them.',
  maxValueTallyBytes: 'There were too many distinct values to count each of them.',
  maxEntriesPageBytes: 'Pages of log entries were refused because of their size. Request fewer entries.',
  maxOutboxRows: 'Changes that must be logged were refused, because the transparency log did not keep up.',
  maxReceipts:
    'Requests for a receipt were refused, because too many receipts, in total or of one sensor, wait for the log.',
  minFreeDiskBytes: 'Events were refused, because the disk is full.',
  maxSockets: 'WebSocket connections were refused, because there were too many.',
  maxSubscriptionsPerSocket: 'Subscriptions beyond the limit of one WebSocket were refused.',
  maxSubscriptions: 'Subscriptions were refused, because there were too many.',
  maxUnauthenticatedSockets: 'Unauthenticated WebSockets were refused, because too many had not sent credentials yet.',
  maxSocketMessagesPerS: 'A WebSocket client sent messages too quickly and was disconnected.',
  maxWaitingSocketMessages:
    'A WebSocket client sent too many messages before it was authenticated and was disconnected.',
  maxLiveMatchMsPerS: 'Live subscriptions used up their CPU budget, so some subscribers received events later.',
  socketCloseGraceMs: 'WebSocket clients that did not read their last messages were disconnected.',
  maxSocketMessageBytes: 'WebSocket clients that sent longer messages were disconnected.',
  maxSocketBacklogBytes: 'Slow subscribers missed messages. They received `lagged` and can request a replay.',
  maxTotalSocketBacklogBytes:
    'All subscribers together were too slow and missed messages. They received `lagged` and can request a replay.',
  socketAuthTimeoutMs: 'WebSocket clients that did not authenticate in time were disconnected.',
  maxLoginFailuresPerMinute: 'Logins were refused for a minute after too many failures.',
  auditFailuresPerMinute: 'Failed calls were counted in one audit record instead of a record each.',
  auditSuccessesPerMinute: 'Calls of one caller were counted in one audit record instead of a record each.',
  auditFailuresBurst: 'Failed calls of all callers were counted in one audit record instead of a record each.',
  maxAuditStrangers: 'Calls from too many addresses without credentials were counted together in the audit log.',
  maxQueuedAuditRecords: 'Audit records that could not be written in time were only counted.',
  maxTokenUses: 'The time of last use was not recorded for some tokens.',
  maxAuditRecords: 'The oldest audit records were removed.',
  maxPasswordChecksInFlight: 'Logins were refused for a moment, because too many passwords were being checked.',
  maxJsonInFlightBytes: 'Calls were refused for a moment, because their bodies together were too large.',
  maxJsonInFlightBytesPerPrincipal: 'Calls of one principal were refused, because its bodies together were too large.',
  maxPublicJsonBodyBytes: 'Larger bodies of unauthenticated callers were refused.',
  maxPublicJsonInFlightBytes:
    'Unauthenticated calls were refused for a moment, because their bodies together were too large.',
  maxIntelBodyBytes: 'Larger lists of indicators were refused.',
  maxIntelInFlightBytes: 'Lists of indicators were refused, because too many were being read.',
  maxRequestsInFlight: 'Requests were refused for a moment, because too many were in progress.',
  maxRequestsInFlightPerPrincipal: 'Requests of one principal were refused, because it had too many in progress.',
  maxRequestsInFlightWithoutIdentity:
    'Unauthenticated requests were refused for a moment, because too many were in progress.',
  maxRequestsInFlightPerAddress:
    'Unauthenticated requests of one address were refused, because it had too many in progress.',
  maxWaitingBodiesPerAddress: 'Unauthenticated clients of one address had too many incomplete bodies.',
  maxRequestsPerSPerAddress: 'One address exceeded its request rate and had to wait.',
  maxRequestsPerSPerPrincipal: 'One principal exceeded its request rate and had to wait.',
  maxLogReadsPerSPerAddress: 'One address exceeded the rate of public reads of the transparency log and had to wait.',
  maxConnections: 'Connections were refused, because there were too many.',
  maxConnectionsPerAddress: 'Connections of one address were refused, because it had too many.',
  maxUnsentReplyBytes: 'The slowest clients were disconnected, because too many bytes of responses were unread.',
  maxConsoleFiles: 'The console folder has more files than can be served.',
  maxConsoleBytes: 'The console folder has more bytes than can be served.',
  bodyTimeoutMs: 'Bodies that arrived too slowly were abandoned.',
  bodyTimeoutWithoutIdentityMs: 'Bodies of unauthenticated clients that arrived too slowly were abandoned.',
  replyTimeoutMs: 'Clients that read their responses too slowly were disconnected.',
  maxQueuedPolicyChanges: 'Changes of the policy were refused for a moment, because too many were waiting.',
  maxScanHosts: 'Scans of more addresses were refused.',
  maxScanProbes: 'Scans of more ports and addresses were refused.',
  maxScanServicesPerHost: 'A scan did not record all open ports of hosts that answer on every port.',
  maxScanBannersPerHost: 'A scan did not read all banners of hosts with many open ports.',
  maxQueuedScans: 'Scans were refused, because too many were waiting.',
  maxScansPerMinute: 'Scans were refused, because too many were started within a minute.',
  maxScans: 'The oldest scans were removed.',
  maxBindingsPerAddress: 'The oldest owners of addresses that change owner very often were merged.',
  maxSpansPerAddress: 'Some changes of owner were merged, because an address changed owner too often within one body.',
  maxClockLeadMs: 'Events dated ahead of the clock were evaluated by correlation rules with the time of their arrival.',
  maxAssets: 'Hosts were not recorded as assets, because there are too many.',
  maxAssetAddresses: 'Addresses were not assigned to assets, because there are too many.',
  maxKnownMacs: 'MAC addresses were not recorded, because there are too many.',
  maxCurrentAddresses: 'Assets with many addresses lost their least recently seen addresses.',
  maxAddressesPerAsset: 'Addresses were not assigned to assets that already had too many.',
  maxAssetHistory: 'The oldest automatic records of asset histories were removed.',
  maxCountedAlerts: 'The number of open alerts was estimated for assets with very many alerts.',
  maxServices: 'Services were not recorded, because there are too many.',
  maxServicesPerAsset: 'Services of hosts that answer on every port were not recorded.',
  maxStoppedSightings: 'Reports of sensors about hosts were dropped, because processing of events has stopped.',
  maxUncountedEvents: 'Ingest was slowed, because background processing lags behind.',
  rememberedConnections:
    'Connections that are reported again may have been counted twice, because there were too many. Connections that had ended were forgotten first.',
  rememberedForwarders: 'MAC addresses that may belong to gateways were forgotten, because there were too many.',
  maxMachinesPerAddress: 'Addresses had too many MAC addresses in one day to create assets for them.',
  maxTopologyEdges: 'New edges of the topology were combined by network.',
  maxTopologyHourRows: 'The oldest hours of the topology were removed.',
  maxTopologyDayRows: 'The oldest days of the topology were removed.',
  maxWaitingTopologies: 'Topology requests were refused for a moment, because too many were waiting.',
  maxWaitingTopologiesPerPrincipal: 'Topology requests of one principal were refused, because it had too many waiting.',
  maxCorrelationGroups:
    'Correlation rules dropped the groups that were inactive for longest: slow activity may be missed.',
  maxCorrelationDelay: 'Events arrived too late to be evaluated by correlation rules.',
  maxHeardNames: 'Assets with many names lost their least trusted names.',
  maxNmapOutputBytes: 'An nmap scan was abandoned, because its output was too large.',
  maxBodyFindings: 'Findings beyond the limit of one body were dropped; its events were stored.',
  maxBodyFacts: 'Matches beyond the limit of one body did not reach correlation rules.',
  maxDetectorKeys:
    'Behaviour detectors dropped the hosts, pairs or names that were inactive for longest: slow activity may be missed.',
  maxBehaviourDelay: 'Events arrived too late to be evaluated by behaviour detectors.',
  maxQueuedRuleTasks: 'Tests and validations of rules were refused for a moment, because too many were waiting.',
  maxRuleTasksPerPrincipal:
    'Tests and validations of rules of one principal were refused, because it had too many waiting.',
  maxTriageTallies: 'Triage dropped its oldest verdicts on rules and addresses.',
  maxTriageQueue: 'Alerts were not sent to the triage endpoint and keep the local verdict.',
} as const satisfies { readonly [Limit in keyof typeof limits]?: string };

export type LimitName = keyof typeof limitMeanings;

import type { limitMeanings } from './limit-meanings.ts';

/**
 * Every limit of the service, with the reason for its value. Bytes, milliseconds and counts are named in
 * the unit of the constant. What a limit refuses is answered with a code and counted in `/metrics`.
 */
export const limits = {
  /** A request body as sent. Shippers batch at 1–8 MB; twice that leaves room without inviting abuse. */
  maxBodyBytes: 16 * 2 ** 20,
  /** Bytes from which on a JSON answer is compressed: shorter ones fit one packet as they are … */
  minCompressedBytes: 1024,
  /** … and up to which: a page of the largest items has a few megabytes. */
  maxCompressedBytes: 16 * 2 ** 20,
  /** Answers that are being compressed or wait for one of libuv's threads: a page of the console requests a dozen at once,
   * each a millisecond of work. Past it, answers are sent as they are. */
  maxCompressions: 16,
  /** What a compressed body may inflate to: sensors' NDJSON shrinks about tenfold, bombs a thousandfold. */
  maxInflatedBytes: 64 * 2 ** 20,
  /** JSON bodies of operations other than ingest. */
  maxJsonBodyBytes: 256 * 2 ** 10,
  /** One line of NDJSON or TSV. The longest real record (a Suricata alert with packets) is under 200 kB. */
  maxLineBytes: 2 ** 20,
  /** Records of one ingest body: at 64 MB real ones, of 100 bytes and more, stay under; a flood of bad ones of two
   * bytes each, at up to 6 µs to refuse, would hold a thread for minutes. */
  maxBodyRecords: 1_000_000,
  /** Items of one body of Elasticsearch's _bulk: many times the batches of shippers. Each has an answer of its own, up to 900
   * bytes with its id: 45 MB, which must fit what may wait to be sent. */
  maxBulkItems: 50_000,
  /** The line before each of them that says what to do with it: an id, an index and some options have 1 kB. */
  maxBulkActionBytes: 8192,
  /** An id of a document as Elasticsearch limits it, and the name of an index. */
  maxDocumentIdBytes: 512,
  maxIndexNameBytes: 255,
  /** A log record of OTLP: a line of the longest, with each of its quotes escaped. */
  maxLogRecordBytes: 2 ** 21,
  /** Channels of Splunk's collector that are remembered, 150 bytes each: those of a thousand shippers, with which each
   * start of one makes another. Past it those go that were used longest ago … */
  maxSplunkChannels: 16_384,
  /** … and those of one principal: it cannot push out the others'. */
  maxSplunkChannelsPerPrincipal: 1024,
  /** How long Splunk's health check says that the service is full after a body was refused for it. */
  splunkFullMs: 10_000,
  /** Different things that the records of one body tell of hosts: a day's known_hosts of a large network. */
  maxBodySightings: 50_000,
  /** Columns of one header of Zeek TSV; the widest log has 60. */
  maxTsvColumns: 1024,
  /** Headers of Zeek TSV that are remembered of one principal, for rows in later bodies: Zeek has some 60 logs … */
  maxTsvHeaders: 64,
  /** … characters of all of them, of which real ones have 40,000 … */
  maxTsvHeaderBytes: 128 * 1024,
  /** … and principals; past it the one is forgotten whose headers came longest ago: 32 MB at most. */
  maxTsvHeaderSensors: 256,
  /** Bytes of the payload and of the packet of a sensor's alert that are kept with it: the beginning of a request, and a frame
   * of Ethernet. 5 kB with each alert of a list. */
  maxAlertPayloadBytes: 2048,
  maxAlertPacketBytes: 1518,
  /** References, CVEs, keys of metadata and values of each that are kept of a signature; real ones have 12 … */
  maxSignatureValues: 20,
  /** … and the length of each; URLs are the longest. */
  maxSignatureTextLength: 200,
  /** Sensors that are told apart among those that sent what was not stored … */
  maxNotStoredSensors: 100,
  /** … reasons of one of them, of which each takes 800 bytes … */
  maxNotStoredReasons: 24,
  /** … samples of each … */
  maxNotStoredSamples: 3,
  /** … and reasons that the status shows. */
  maxNotStoredShown: 100,
  /** Nesting of one JSON record; real records reach 6. */
  maxNesting: 32,
  /** The name of a transport protocol: IANA's longest, `rsvp-e2e-ignore`, has 15. It is part of keys. */
  maxTransportLength: 16,
  /** Bytes of text kept of any one field; names end at 255, Suricata signatures stay under 1 kB. */
  maxTextBytes: 4096,
  /** Per-line errors listed in an ingest answer; the rest are counted. */
  maxReportedErrors: 100,
  /** Ingest bodies received or in work at once: what bounds the memory of the whole ingest path. */
  maxIngestInFlightBytes: 48 * 2 ** 20,
  /** What one principal may have of it: two bodies of the largest leave room for one of another's. */
  maxIngestShareOfPrincipal: 2 / 3,
  /** Memory that bodies arrived in, kept by the front for those to come; the same again is never fetched anew. */
  maxSpareBodyBytes: 16 * 2 ** 20,
  /** Memory in which each ingest thread puts bodies together, kept between them; a longer body gets its own. */
  maxKeptBodyBytes: 8 * 2 ** 20,
  /** Inflated bytes of small bodies that are parsed and stored together when they come more quickly than that; one that is
   * broken has the others read twice. Some 700 lines of conn.log: a millisecond or two. */
  maxGroupedBytes: 256 * 2 ** 10,
  /** Ingest bodies waiting for a thread of the pool, half of them of one sensor at most; bytes bound them first unless
   * bodies are tiny. */
  maxQueuedBodies: 1024,
  /** Bytes of calls in flight to one worker. */
  maxRpcInFlightBytes: 128 * 2 ** 20,
  /** Rows of one event block: codes then fit 16 bits, and a column of 1, 2, 4 or 8 bytes just fills whole 4 kB pages. */
  maxBlockRows: 8160,
  /** Headers of event blocks that one thread keeps, a power of two: those of 33 million events, in 8 MB. With more, some are
   * read again by each query that looks at all, 2 µs each. */
  keptHeaders: 4096,
  /** Bytes of one that is kept: they have 1.2 kB, and more where senders' texts are long. */
  maxKeptHeaderBytes: 2048,
  /** Time for which a part of an event block that was verified is read without its checksum, by one thread that has the
   * block's header cached: damage done to it after the check shows within this time. */
  reverifyMs: 600_000,
  /** Damaged rows that are kept by name for the finding about them; the others are only counted. */
  maxNamedDamage: 100,
  /** Merges of blocks of which it is told to readers what they replaced, so that they read only that again: those of some
   * seconds. */
  toldMerges: 32,
  /** Addresses whose assets one thread keeps in mind, about 150 bytes each; then it begins anew. */
  maxCachedOwners: 32_768,
  /** Filters of which one thread keeps how many events of each block match, 8 bytes a block: 50 kB each at 50 million events.
   * Past it, the one goes that was asked for longest ago … */
  maxCountedFilters: 32,
  /** … and bytes of all of them, but for the last: 32 of 125 million events, four of a billion. */
  maxCountedBytes: 4 * 2 ** 20,
  /** Events that a deep page may have to sort in memory at once, 16 bytes each; more are narrowed down first. */
  maxSortedEvents: 2 ** 17,
  /** Items on a list page. */
  maxPerPage: 1000,
  defaultPerPage: 50,
  /** Values of one repeated query parameter. */
  maxFilterValues: 100,
  /** Queries waiting for the analytics pool, of the short and of the long ones; more than this and users wait longer than
   * they will. */
  maxQueuedQueries: 64,
  /** What one principal may have of that under way: another finds room beside one that takes all it may. */
  maxQueryShareOfPrincipal: 1 / 2,
  /** How long an answer to an Idempotency-Key is kept. */
  idempotencyTtlMs: 24 * 3600 * 1000,
  /** Length of an Idempotency-Key. */
  maxIdempotencyKeyBytes: 255,
  /** How long `/health` waits for a thread that is busy: less than probes do. */
  healthAnswerMs: 1000,
  /** … and from when on it says that the thread is stuck: no transaction takes so long. */
  healthStuckMs: 120_000,
  /** Events kept as the sample of one alert. */
  maxAlertEventIds: 20,
  /** Sensors that an alert names, those that came first: findings that more of them share are rare. */
  maxAlertSensors: 20,
  /** New alerts of one rule, and one sensor, within one deduplication window; past it they become one alert that says so. More of one
   * rule in an hour than anyone looks at one by one. */
  maxAlertsPerRuleWindow: 50,
  /** … of those that are grave and concern a home network: so many within five minutes. An outbreak shows each host, and
   * what is quicker than that is no work for a person. */
  maxGraveAlertsPerBurst: 50,
  /** … of one home host with others: past it the others become one alert about this host. */
  maxAlertsPerHostWindow: 20,
  /** … of home hosts whose asset is of high or critical criticality, however many others of the rule there are. */
  maxCriticalHostsPerRuleWindow: 100,
  /** … of what happened at another time, by our clock: what grave ones may be in an hour that passes. Beyond it are sensors
   * whose clock jumps, and imports, of which the rest is one alert. */
  maxUntimelyAlertsPerRuleWindow: 600,
  /** … of all rules of one source (Suricata, Sigma, …) within an hour of our clock, however many rules it names: what a flood
   * of sixty rules begins with, and a second of the store's thread. */
  maxAlertsPerSourceHour: 6000,
  /** Addresses that such an alert names, of each end. */
  maxFoldedNames: 20,
  /** Hashes of addresses that it keeps of each end before it estimates how many there were: 1 kB. Then it is 4 kB. */
  maxFoldedHashes: 256,
  /** Silences, ended ones that nobody removed included. A person oversees fewer; after each change of one, all are made
   * ready anew for findings. */
  maxSilences: 1000,
  /** Values of one attribute of a silence: 100 kB of all. */
  maxSilenceValues: 100,
  /** Shares of all addresses that a silence may be about which names nothing else: 64 blocks of /8, twice `fc00::/7`. More
   * of them is no place but everything that is found. */
  maxSilencedIpv4: 1 / 4,
  maxSilencedIpv6: 1 / 64,
  /** How far ahead a silence may end: what is forgotten comes back within a quarter. */
  maxSilenceMs: 90 * 24 * 3600 * 1000,
  /** Records in the history of one alert; of those that no person made, the oldest go first. 150 bytes each. */
  maxAlertHistory: 500,
  /** Alerts that one change may name: more than a list page shows … */
  maxBulkIds: 1000,
  /** … and that a filter may match: an analyst's worst day. At about a millisecond each, they take ten seconds. */
  maxBulkAlerts: 10_000,
  /** Alerts that such a change has under way in the store: one transaction of 10 to 50 ms, for which ingest waits. */
  bulkAlertsAtOnce: 50,
  /** Such changes in work, of all callers: each keeps one transaction waiting. */
  maxBulkChanges: 4,
  /** Exports in work. Each holds a connection and one page, of up to 2 MB … */
  maxExports: 8,
  /** … and of one principal, so that two others find room beside one that takes all it may. */
  maxExportsPerPrincipal: 3,
  /** Bytes of one page of an export, give or take a line … */
  exportPageBytes: 256 * 2 ** 10,
  /** … and alerts looked at for it: a thread of the pool is held for 0.2 s at most, and the client hears of it. */
  exportPageAlerts: 20_000,
  /** … and rows of events: 5 to 300 ms, by the filter. */
  exportScanRows: 500_000,
  /** How often a page of an export is tried again, a second apart, while the threads are overloaded or being replaced. */
  maxExportRetries: 5,
  /** Groups of alerts that are told apart: one query takes 20 MB for as many. */
  maxAlertGroups: 50_000,
  /** Buckets of a histogram: more than a screen has room for. */
  maxHistogramBuckets: 500,
  defaultHistogramBuckets: 60,
  /** Values of an attribute that are shown with their counts … */
  maxShownValues: 100,
  defaultShownValues: 20,
  /** … and the memory in which they are told apart: some 250,000 addresses. Senders choose how many there are. */
  maxValueTallyBytes: 32 * 2 ** 20,
  /** Notes on one alert: more is a machine talking to itself. */
  maxNotesPerAlert: 10_000,
  /** Canonical bytes of a log entry: C2SP entry bundles hold 65,535. */
  maxEntryBytes: 60_000,
  /** Canonical bytes of the entries on one page of a list: a thousand usual ones have 1 MB. JSON more than doubles
   * them. */
  maxEntriesPageBytes: 4 * 2 ** 20,
  /** Ended keys of one purpose in /.well-known/jwks.json: a token lives for an hour, and keys are seldom rotated more
   * than four times in one. The others are paged at /api/transparency/keys. */
  publishedEndedKeys: 4,
  /** Log entries that wait for a commit: a few seconds of a slow disk. Past it appends are OVERLOADED. */
  maxQueuedAppends: 65_536,
  /** How long before its append an entry may have occurred: past it entries state when they were delayed from, so that
   * an intruder with the event key cannot place an entry in the past. */
  maxEntryAgeMs: 86_400_000,
  /** … and how far after it: clocks that are read at almost the same time, on one host. */
  maxEntryAheadMs: 300_000,
  /** How far the wall clock may move against the steady clock between two looks: slewing and leap seconds are less. */
  maxClockStepMs: 60_000,
  /** How far it may jump forward, and heads may be ahead of it, before the log refuses entries until the clock is
   * corrected or confirmed. Heads cannot be dated back, so a wrong time that was signed stays. */
  maxClockJumpMs: 3_600_000,
  /** How far the clock may be ahead of the last head at a start: services are rarely off for a season. */
  maxClockGapMs: 90 * 86_400_000,
  /** How long a jump of the clock is reported after it happened. */
  clockFindingMs: 86_400_000,
  /** Rounds of key derivation that an encrypted key file may ask for: five times ours, half a second of a core. */
  maxKeyDerivationRounds: 1_000_000,
  /** How long an ssh-agent may take for one signature. Hardware tokens take up to half a second. The log's thread waits
   * as long at most, and only once: while the agent fails, appends are refused without asking it. */
  signerTimeoutMs: 3000,
  /** How much longer that thread waits for the thread that has the agent's socket, which keeps the timeout itself. */
  signerGraceMs: 500,
  /** How often an agent that failed is tried again. */
  signerProbeMs: 1000,
  /** A message of the ssh-agent protocol, and the keys that an agent may list: OpenSSH's own limits. */
  maxAgentFrameBytes: 256 * 2 ** 10,
  maxAgentIdentities: 2048,
  /** Outbox rows waiting for the ledger before changes that must be logged are refused. */
  maxOutboxRows: 100_000,
  /** Receipts that one log entry covers: a tree of ten levels, and 32 kB of hashes are read to prove one of them. */
  maxReceiptsPerEntry: 1024,
  /** How long a receipt waits for others before an entry covers them: at most 8,640 entries a day. */
  receiptIntervalMs: 10_000,
  /** Receipts kept, 400 bytes each. Past it the oldest that are logged go; while none is, bodies that want one are refused. */
  maxReceipts: 200_000,
  /** How often new events are sealed in a log entry: at most 1,440 entries of 0.7 kB a day. */
  sealIntervalMs: 60_000,
  /** Rows that one task digests, 35 ms: so long a query may wait. */
  sealTaskRows: 98_304,
  /** Rows of one sealed range, with 16 kB of roots. More that waited make further entries. */
  maxSealedRows: 4_194_304,
  /** Findings in stored events that wait for it. With as many, no events are taken. */
  maxWaitingFindings: 10_000,
  /** Free bytes of the volume with the databases, below which no events are taken. They are left for the log, its anchor
   * and its journal, without which the ledger could not go on, and for small changes. */
  minFreeDiskBytes: 64 * 2 ** 20,
  /** The part of them that events leave alone even where the file has as many bytes of free pages, which they use before
   * it grows: now and then no free pages lie together as a block wants them. */
  minReservedDiskBytes: 32 * 2 ** 20,
  /** What one step of retention takes, in which commits wait. */
  retentionStepMs: 10,
  /** … and at most, where so many ids of events wait to be taken out of their index that who brings more is to wait. */
  retentionHurryMs: 1000,
  /** How often it is looked whether events are past their bounds: a flood of 300,000 a second brings 15 MB meanwhile. */
  retentionLookMs: 1000,
  /** How many times as fast as time goes by retention follows the host's clock after a leap … */
  retentionClockRate: 24,
  /** … for as long, in which somebody notices; then it is believed, however far it went. */
  retentionLeapMs: 4 * 86_400_000,
  /** How often the time that it goes by is written down: as much of having followed is lost at a start, at most. */
  retentionClockEveryMs: 3600 * 1000,
  /** Of the bytes of all events, the share that a table keeps however many come to the other: DNS is rarely less. */
  retainedTableShare: 1 / 4,
  /** How often the log is told at most what retention took of a table for one reason. */
  expiredEntryEveryMs: 3600 * 1000,
  /** Files of one backup: the databases, and a key file for each day of fifty years. */
  maxBackupFiles: 20_000,
  /** Its manifest: 200 bytes for each file. */
  maxManifestBytes: 8 * 2 ** 20,
  /** The file of identities that opens the private keys of a backup: an identity is a line of 100 bytes. */
  maxIdentityFileBytes: 64 * 2 ** 10,
  /** Backups whose log entries are looked for at start-up, the newest; an hourly one for a year makes 8,760. */
  maxCheckedBackups: 10_000,
  /** How long a volume may take to answer about one file or folder, before the caller gets an error instead. */
  volumeAnswerMs: 5000,
  /** How long a backup may take, whatever its size … */
  backupMs: 10 * 60_000,
  /** … and for its bytes: disks and networks that are slower are not for backups. */
  minBackupBytesPerS: 2 ** 20,
  /** How long one part of the service may take to close, and how long a stop may take beyond http.drain_ms, which is for
   * requests. Then the process ends itself with SIGKILL: what was promised is on disk. systemd would kill after 90 s. */
  closeMs: 15_000,
  stopMs: 45_000,
  /** Backups that failed and are still shown, until the process ends. */
  maxFailedBackups: 100,
  /** Free bytes of that volume below which the log takes no entries, so that they wait in the outbox. A commit that
   * fails for want of room ends the ledger's thread, and twice in a minute the service; what is left is for the
   * anchor, the journal and key files, which are small. */
  minFreeLedgerDiskBytes: 16 * 2 ** 20,
  /** WebSocket connections. Each costs about 10 kB plus what it has not read. */
  maxSockets: 10_000,
  /** Subscriptions on one socket. */
  maxSubscriptionsPerSocket: 100,
  /** Subscriptions of all sockets. Each costs about 1 kB, and up to 50 kB where its filter is as long as may be. */
  maxSubscriptions: 20_000,
  /** WebSocket connections that have not said who they are: strangers cannot take the places of others. As many again
   * whose credentials are being checked, which takes milliseconds. */
  maxUnauthenticatedSockets: 500,
  /** Messages that a WebSocket client may send at once, as when it subscribes to all that it wants … */
  maxSocketMessageBurst: 250,
  /** … and in the long run. Each costs about 20 µs. */
  maxSocketMessagesPerS: 50,
  /** Messages of one WebSocket client that wait while its token is being checked. */
  maxWaitingSocketMessages: 250,
  /** Time of the main thread, in a second, for asking the filters of live subscriptions. Past it, those that were not
   * asked read from disk what they missed, taking turns. */
  maxLiveMatchMsPerS: 500,
  /** Commits of a channel that are kept for replays to go on from: 0.1 s at 2,000 a second, longer than one read. */
  maxRecentBatches: 256,
  maxRecentBatchBytes: 4 * 2 ** 20,
  /** Replays that read at once. The others wait for their turn, so that lists find the threads free. */
  maxConcurrentReplays: 2,
  /** Messages that a replay reads at a time. */
  maxReplayMessages: 500,
  /** Rows that one task of a replay looks at: 5 to 300 ms, by the filter. */
  maxReplayScanRows: 500_000,
  /** How often a replay is tried again, a second apart, while the threads that read are overloaded or being replaced. */
  maxReplayRetries: 10,
  /** Time that a socket which is being closed has to read what it has left unread, before it is cut off. */
  socketCloseGraceMs: 5000,
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
  /** Failed logins from one address within a minute, and of one account from an address that is known as its own: ten
   * slips of a hand, and 14,400 guesses a day. */
  maxLoginFailuresPerMinute: 10,
  /** Failed logins of one account, from all addresses that aren't known to be its own: ten strangers at full speed. */
  maxAccountLoginFailuresPerMinute: 100,
  /** Calls of one caller (principal, or address without credentials) that fail within a minute and get audit records of
   * their own: as many as logins are tried. The rest is counted, so that nobody pushes the history out by calling. */
  auditFailuresPerMinute: 10,
  /** The same for reads that succeed, and for changes: more than a person does. Changes by administrators, and those that
   * cause an entry of the transparency log, are excepted: the log would lead to no record. */
  auditSuccessesPerMinute: 60,
  /** Failed calls of all callers that get records of their own, at once … */
  auditFailuresBurst: 600,
  /** … and in the long run, per minute: with the counts below at most 33,000 records a day. */
  auditFailuresRefill: 10,
  /** Counts of a minute, each of one caller, operation and outcome. What is left is counted together. */
  maxAuditCounts: 10,
  /** Addresses without credentials whose calls of a minute are told apart: 100 bytes each. */
  maxAuditStrangers: 4096,
  /** Audit records that wait to be written: minutes of a store that cannot, 500 bytes each. Past it they are counted. */
  maxQueuedAuditRecords: 10_000,
  /** Client certificates that are not read again: of as many sensors, 5 kB each. */
  maxKnownCertificates: 2048,
  /** How long connections outlive the certificate that they were made with: longer than the longest request, a body of
   * 16 MB at 1 Mbit/s. Each answer asks them to end; this is for sockets, and for who doesn't listen. */
  retiredTlsMs: 5 * 60_000,
  /** Certificates replaced in that time whose connections still live: more often than that, nobody replaces them. */
  maxRetiredTls: 4,
  /** Access tokens whose signature is not checked again: of as many people at work, 1 kB each. */
  maxVerifiedTokens: 10_000,
  /** Tokens whose latest use waits to be written, which is done every minute: 100 bytes each. */
  maxTokenUses: 131_072,
  /** Users, sensors and auditors: ten times a large company's. 500 bytes each, and a page is found in milliseconds. */
  maxPrincipals: 100_000,
  /** Long-lived tokens of one principal that were not revoked, its sessions, and revoked ones of both that are kept to be
   * seen. A script that logs in for each call ends the oldest of its sessions, and nobody is locked out. */
  maxTokensPerPrincipal: 1000,
  /** Audit records: a month at the most that is written in a day. 400 bytes each; a search reads them in a second. */
  maxAuditRecords: 1_000_000,
  /** Passwords checked or waiting to be: each takes 19 MiB and 20 ms of a core while it is checked. */
  maxPasswordChecksInFlight: 32,
  /** Bodies other than ingest received or in work at once: 64 of the largest. */
  maxJsonInFlightBytes: 16 * 2 ** 20,
  /** Those of one principal: a quarter, so that three others find room beside one that floods or sends by halves. */
  maxJsonInFlightBytesPerPrincipal: 4 * 2 ** 20,
  /** A JSON body from a caller that has not signed in: the longest login, every character of it escaped, has 15 kB. */
  maxPublicJsonBodyBytes: 16 * 2 ** 10,
  /** Those in work at once, apart from the bodies of callers who are known: the largest, of every such request that may
   * be in work, so that one address, which has half of these at most, cannot use it up. */
  maxPublicJsonInFlightBytes: 16 * 2 ** 20,
  /** A list of known-bad addresses and domains with all that it names, as it is sent and inflated: 500,000 names in plain
   * lines have 10 MB; of STIX, 600 bytes each, there are 50,000. A thread of the pool that reads it takes ten times that. */
  maxIntelBodyBytes: 32 * 2 ** 20,
  /** Those received or in work at once: two of the largest. */
  maxIntelInFlightBytes: 64 * 2 ** 20,
  /** Lists of known-bad addresses and domains. Each address and name that a block of events has is looked up in all of
   * them: 0.2 µs a list. */
  maxIntelLists: 100,
  /** Indicators of one list: the longest public ones have 300,000 … */
  maxIntelIndicatorsPerList: 500_000,
  /** … and of all lists, which are in memory: 51 MB of names of 28 characters, 25 MB of IPv4 addresses. */
  maxIntelIndicators: 1_000_000,
  /** Values of one list that are read, those that repeat others or aren't taken included: a minute of a thread. */
  maxIntelValuesPerList: 1_500_000,
  /** Characters of one pattern of STIX: that of a real one has 100, that of one with a whole list in it 100,000. */
  maxIntelPatternLength: 2 ** 18,
  /** Rejected indicators of a list that are told, the first. */
  maxIntelRejected: 100,
  /** Characters of them that are shown, and of what a list calls an indicator. */
  maxIntelTextLength: 200,
  /** Different names or kinds that one list gives its indicators, kept to be shown; of others it is not said. */
  maxIntelLabels: 4096,
  /** Different moments at which indicators of one list end that are kept apart; more are put together by the hour, the
   * day, the month. */
  maxIntelEnds: 4096,
  /** IPv4 blocks wider than this name half the Internet, and IPv6 ones more than any registry gives to one. */
  minIntelPrefixIpv4: 8,
  minIntelPrefixIpv6: 16,
  /** Requests not answered yet. Each costs about 2 kB besides its body; more would only wait for each other. */
  maxRequestsInFlight: 4096,
  /** Those of one principal: a quarter, so that three others find room beside one that floods. */
  maxRequestsInFlightPerPrincipal: 1024,
  /** Those in work without knowing of whom: a quarter, so that strangers do not take the places of the others. */
  maxRequestsInFlightWithoutIdentity: 1024,
  /** … from one address, or one IPv6 /64: half of it, and twice what a monitor asks for at once. */
  maxRequestsInFlightPerAddress: 512,
  /** … and waiting for the rest of their bodies: a login comes in one piece, so that these are slow links, and a
   * sixteenth of the room. With half-sent bodies it takes sixteen addresses to fill it. */
  maxWaitingBodiesPerAddress: 64,
  /** Requests a second from one address, twice that at once after a pause; `limits.requests_per_s_per_address` changes
   * it. The front answers 20,000 small ones a second on one core, so that this is a quarter of it. A sensor at its
   * fastest sends 30, as they are large, and an audit of a whole log under 2,000. */
  maxRequestsPerSPerAddress: 5000,
  /** … and of one principal, who may have many addresses; `limits.requests_per_s_per_principal` changes it. */
  maxRequestsPerSPerPrincipal: 5000,
  /** Reads of the transparency log a second from one address without an identity;
   * `limits.log_reads_per_s_per_address` changes it. An audit of a whole log stays below. */
  maxLogReadsPerSPerAddress: 2000,
  /** Connections, idle ones included: as many WebSockets as may be, and half as many besides. Each costs about 10 kB
   * and a file descriptor. */
  maxConnections: 16_384,
  /** … from one address, or one IPv6 /64: an eighth, which an office behind one address stays under. Requests in work
   * have a connection each, so that one address cannot take all of these either. */
  maxConnectionsPerAddress: 2048,
  /** File descriptors that connections leave to everything else; of few, three quarters are left. Threads and databases
   * have 60, up to 10 for each thread more; a scan has 512. Without any, the log cannot write its anchor and ends. */
  reservedDescriptors: 1024,
  /** WebSockets that were closed, whose connections may linger until the client ends its side, without counting as
   * connections … */
  maxClosingSockets: 4096,
  /** … from one address: half of its connections. All sockets of an office may be closed at once, as when a certificate
   * is replaced, and must find room when they come back. */
  maxClosingSocketsPerAddress: 1024,
  /** How long they may linger: uWebSockets.js cuts them after 16 s, and looks every 4 s. */
  closingSocketMs: 20_000,
  /** Answers that clients have not read. Past it the slowest are cut off; a list page is about 1 MB. */
  maxUnsentReplyBytes: 64 * 2 ** 20,
  /** Files of the console, each with an endpoint of its own: it has some dozens … */
  maxConsoleFiles: 1000,
  /** … and what they take in the front's memory, compressed forms included: some 3 MB. */
  maxConsoleBytes: 32 * 2 ** 20,
  /** A whole body, from the first byte to the last: 16 MB at 1 Mbit/s. Idle ones end after 10 s anyway. */
  bodyTimeoutMs: 120_000,
  /** A body of a caller who is not known: the longest login, 16 kB, at 26 kbit/s. */
  bodyTimeoutWithoutIdentityMs: 5000,
  /** A whole answer to a client that does not keep up. */
  replyTimeoutMs: 120_000,
  /** Read and thrown away of a refused body so that its sender sees the answer (a write that fails is all that some
   * would see); past it the connection is cut. A shipper's mistake stays under it: a file sent as one body. */
  maxDiscardedBodyBytes: 128 * 2 ** 20,
  /** An X-Request-Id of the client that is taken over: UUIDs and trace ids are under 64. */
  maxRequestIdBytes: 128,
  /** Files of evidence that a witness keeps of one log, the first ones: each convicts the log, and has some 4 kB. */
  maxWitnessEvidence: 16,
  /** Rejected checkpoints that a witness stores per log, the first and the latest: about 300 bytes each. */
  maxWitnessRejected: 16,
  /** A policy of witnesses (C2SP tlog-policy wants 32 lines of each kind): a line is 100 to 300 bytes. */
  maxPolicyBytes: 256 * 2 ** 10,
  maxPolicyLines: 256,
  /** A file of the access policy: a rule for each operation makes 10 kB. YAML of the worst kind, each character an error,
   * takes a second. */
  maxAccessPolicyBytes: 64 * 2 ** 10,
  /** Changes of the access policy, and of the roles and status of users, that wait for the one under way, each for a few
   * flushes. */
  maxQueuedPolicyChanges: 100,
  /** What a witness may answer: a signature line is 170 bytes, and ten keys of 5 kB each would be a lot. */
  maxWitnessAnswerBytes: 64 * 2 ** 10,
  /** How far the clock of a witness may be from ours, either way; clocks that nobody sets are seconds off a day. */
  maxWitnessSkewS: 300,
  /** Pause after failures of a witness: a second, doubled each time up to this. One that is back is found soon. */
  maxWitnessPauseMs: 60_000,
  /** Cosignatures of a log that does not grow are renewed after this, as its heads are: freshness can be seen. */
  cosignatureAgeMs: 3600 * 1000,
  /**
   * Longest answer of a timestamping authority: a token with its chain of certificates is 3 to 10 kB. In base64, with a
   * checkpoint of a dozen cosignatures, it has to fit an entry. */
  maxTimestampAnswerBytes: 32 * 2 ** 10,
  /** Authorities that timestamp checkpoints: two or three are independent of each other; each adds 10 kB to a bundle. */
  maxTimestampAuthorities: 4,
  /** Entries with timestamps that are looked at on either side of an entry: those of all authorities are among them. */
  nearbyTimestamps: 8,
  /** Pause after a failure of a timestamping authority: a minute, doubled each time up to this. */
  minTimestampPauseMs: 60_000,
  maxTimestampPauseMs: 3600 * 1000,
  /** A body that a witness takes: 63 lines of proof, and a note with 16 signatures of 5 kB (post-quantum ones). */
  maxAddCheckpointBytes: 128 * 2 ** 10,
  /** Requests that wait at a witness for their turn at one log, each for a flush of a few milliseconds. */
  maxWitnessQueue: 64,
  /** Connections to a witness: logs have one each, held open. */
  maxWitnessConnections: 256,
  /** A whole request to a witness; it fits one packet or a few. */
  witnessRequestTimeoutMs: 10_000,
  /** A connection to a witness that nothing is sent on: logs come back within seconds. */
  witnessIdleTimeoutMs: 120_000,
  /** Addresses and blocks of one scan: what people paste; merged, they are few. */
  maxScanTargets: 1000,
  /** Addresses of one scan: an IPv4 /16. */
  maxScanHosts: 65_536,
  /** Probes of one scan: a /16 on 256 ports. At the default rate it takes nine hours, and which ports refused 2 MB. */
  maxScanProbes: 2 ** 24,
  /** Probes a second of a scan: what one thread connects. Networks bear less. */
  maxScanRate: 10_000,
  /** Connections of a scan at once, each a file descriptor: with the ones that nothing answers, 250 probes a second. */
  maxScanConnections: 512,
  /** Hosts that a scan asks in turn: one has every 128th probe, as long as there are others. */
  scanHostsInTurn: 128,
  /** … and besides these, hosts whose last answers are awaited, a kilobyte each: more than slow banners hold up. */
  maxUnfinishedScanHosts: 1024,
  /** Open ports of one host that a scan records. Nothing offers so much; what answers everywhere is a trap, and holds
   * the connections that find out what is offered. */
  maxScanServicesPerHost: 1000,
  /** … and of which it asks for what they offer, by a second look that takes seconds where nothing answers. */
  maxScanBannersPerHost: 256,
  /** How long a scan waits for a connection: a SYN, and the second that follows a lost one after a second. */
  scanConnectTimeoutMs: 2000,
  /** What is read of a banner: greetings and headers of answers fit many times. */
  maxBannerBytes: 4096,
  /** All that finding out what an open port offers may take: a greeting, a question, and one more by TLS. */
  bannerTimeoutMs: 8000,
  /** A name server's answer to what an address is called. */
  reverseNameTimeoutMs: 2000,
  /** What nmap may print of a scan: 6 kB for each of 65,536 hosts. */
  maxNmapOutputBytes: 384 * 2 ** 20,
  /** Scans that wait for the one that runs. */
  maxQueuedScans: 100,
  /** Scans begun within a minute: more often than people ask, and each has an audit record of its own. */
  maxScansPerMinute: 30,
  /** Scans that are remembered, the newest: an hourly one for a year. 500 bytes each, more with many targets. */
  maxScans: 10_000,
  /** Assets. Past it hosts are counted as not recorded: what an attacker invents on the network is in no one's interest.
   * 500 bytes each; a list with a filter reads all of them in 0.2 s. */
  maxAssets: 200_000,
  /** Addresses that have or had an asset, 100 bytes each: several of each asset, as with IPv6. */
  maxAssetAddresses: 1_000_000,
  /** MAC addresses known as an asset's or a gateway's. Past it they identify nothing. */
  maxKnownMacs: 500_000,
  /** Addresses that an asset has now; with more, the one that wasn't seen for longest is released. What people may set. */
  maxCurrentAddresses: 256,
  /** … and ever had: ten years of privacy addresses (RFC 8981) that change daily. Past it no more are bound to it. */
  maxAddressesPerAsset: 4096,
  /** IPv4 addresses seen with one MAC address within an hour: a machine has few, a router those of all behind it. */
  maxAddressesPerMac: 4,
  /** … within a day: leases that end in turn are fewer, machines behind a router that seldom speak are more. */
  maxAddressesPerMacDay: 16,
  /** Earlier owners of one address. An address that flaps between machines makes one with each turn; the oldest become
   * one. */
  maxBindingsPerAddress: 1000,
  /** … and the turns of one address that are followed within one block of events; past it they are taken together. */
  maxSpansPerAddress: 64,
  /** How far the clocks of sensors may be ahead of ours. Who was seen later than that was seen then. */
  maxClockLeadMs: 300_000,
  /** Hosts remembered as users of a name. A name that three hosts use is not the invention of one of them. */
  maxClientsPerName: 3,
  /** Host names of one asset from each kind of source: DHCP, mDNS, DNS and TLS. */
  maxHeardNames: 16,
  /** Records in the history of one asset; of those that the network made, the oldest go first. 150 bytes each. */
  maxAssetHistory: 1000,
  /** Changes of the risk score of one asset that are told apart, 60 bytes each: months, as scores fall a few points a day. */
  maxRiskChanges: 500,
  /** Rows of assets and of MAC addresses kept in memory, each: 15 MB together. */
  maxCachedAssetRows: 16_384,
  /** Rows of addresses kept in memory, 250 bytes each: those of many hosts that are seen in turn, since a read takes as
   * long as everything else about a host that is only seen again. */
  maxCachedAddressRows: 65_536,
  /** Open alerts of one asset that are told apart where they may be on several of its addresses; more are estimated. */
  maxCountedAlerts: 20_000,
  /** Assets whose risk is brought up to date at a time, as their alerts grow old: 50 ms … */
  riskFallsPerStep: 500,
  /** … and the pause before the next. So 100,000 that were scanned at the same moment take a minute. */
  riskPauseMs: 250,
  /** How often it is looked at least whether one is due, while there are any: clocks are set, and machines sleep. */
  riskLookMs: 60_000,
  /** Assets at risk that are shown, the riskiest, with up to 32 alerts each: 600 kB at most, read in 50 ms. */
  maxShownRisks: 100,
  /** Services. Past it evidence of others is counted as not recorded: 500 bytes each, and a list that filters reads all of
   * them in seconds. */
  maxServices: 2_000_000,
  /** … of one asset: more than software has ports, where a host answers on whatever it is asked. */
  maxServicesPerAsset: 10_000,
  /** Services kept in memory, those used last: a kilobyte each with their clients. */
  maxCachedServices: 32_768,
  /** What is kept of their clients, up to 16 kB each. */
  maxCachedClientBytes: 32 * 2 ** 20,
  /** Rows of the inventory that one transaction takes along however often there is one: 5 ms. With more that changed,
   * they are written after a pause. */
  inventoryRowsPerCommit: 2000,
  /** The pause: rows that change again in it are written once. Four times what the last write took, where that is more. */
  inventoryPauseMs: 500,
  /** What one transaction spends on counting events, and on writing what that changed: who commits others waits for both,
   * and for the flush. What is left is counted in the next ones. */
  inventoryCountMs: 50,
  inventoryWriteMs: 75,
  /** Stored events, and what sensors told beside them, that wait to be counted. With more, each transaction counts for up
   * to 1.5 s, so that what brings them waits: 5 to 10 s of a flood of hosts that nobody knew. */
  maxUncountedEvents: 262_144,
  /** Hosts that were only seen again, whose rows are written at a time where more wait: 20 ms. So lists know of each of
   * 100,000 hosts that are seen all the time within a minute. */
  settledHostsPerWrite: 2000,
  /** Changed rows that wait for the end of the pause, a kilobyte each. Past it they are written at once. */
  maxUnwrittenInventoryRows: 20_000,
  /** Bytes or packets of one connection: a link of 100 Gbit/s carries as many in 22 hours. More is refused, by
   * name of the field: nine of them would add up to more than JSON can say exactly. */
  maxEventCount: 1e15,
  /** Bytes that a link carries in a millisecond, at 100 Gbit/s. Sums of connections that began in one hour or day stop at
   * the bytes that a link carries in it. Single connections may have so many … */
  maxLinkBytesPerMs: 12_500_000,
  /** … in this time beyond the duration of a connection, which is often rounded or unknown: 250 GB. Counts beyond are left
   * out of sums, charts and detection. Their events are stored: refusing these would let a peer that forges sequence
   * numbers hide its connections. */
  linkGraceMs: 20_000,
  /** Where sums of bytes stop, however long their time is: such a link carries them in eight days. JSON can say exactly
   * little more. */
  maxSummedBytes: 8_640_000_000_000_000,
  /** Connections that are remembered, so that one that is reported again counts once: 32 MB. Those of an hour, as often
   * as sensors report, in a network of 230 new connections a second; of 500 a second one in 20 is forgotten. */
  rememberedConnections: 2 ** 21,
  /** MAC addresses of which it is remembered with what external hosts they were seen, until these are enough to say that
   * they are gateways'. A network has few; those of machines get there by forged frames. */
  rememberedForwarders: 4096,
  /** Different MAC addresses that one address may have within a day. A machine that invents them, one with each frame,
   * would be as many assets; those of a busy guest network that share an address in turn are fewer. */
  maxMachinesPerAddress: 32,
  /** Addresses of which that is counted, those that changed hands last: 4 kB each. */
  maxWatchedAddresses: 4096,
  /** Edges of the graph of all time, each of 60 to 150 bytes on disk and 16 in memory: twenty times a large site's. New
   * ones beyond are put together by their networks. */
  maxTopologyEdges: 1_000_000,
  /** Such edges of networks, besides: a sixteenth. New ones beyond are put together with everything. */
  maxWidenedTopologyEdges: 65_536,
  /** Edges kept by the hour, each once for every hour in which it was used; the oldest hours go. 150 MB. */
  maxTopologyHourRows: 2_000_000,
  /** The same by the day. */
  maxTopologyDayRows: 2_000_000,
  /** How far ahead of our clock flows may be dated and still have an hour and a day of their own. */
  topologyHorizonMs: 24 * 3600 * 1000,
  /** Nodes of one answer: more than anyone can see. */
  maxTopologyNodes: 2000,
  defaultTopologyNodes: 200,
  /** Edges of one answer, the busiest: 5 MB of JSON. */
  maxTopologyShownEdges: 20_000,
  /** Graphs that wait while one is made, which takes up to a second of a million edges: the last waits 10 s. */
  maxWaitingTopologies: 8,
  /** Those of one principal: a view of it in two windows, while a third is being made. */
  maxWaitingTopologiesPerPrincipal: 2,
  /** Edges and names that one live update tells, 250 bytes of JSON each, an edge once however many hours have it; larger
   * ones are left out, and subscribers are told to look again. */
  maxTopologyUpdateRows: 1000,
  /** Updates of the graph kept for subscribers that come back: minutes of steady traffic. */
  maxTopologyUpdates: 512,
  /** A text of Sigma documents: a rule has 2 kB, one with long lists 30. What is not YAML takes 1.3 s to refuse at the
   * worst, and twice that on a busy machine. */
  maxSigmaTextLength: 128 * 2 ** 10,
  /** Documents in one text. */
  maxSigmaDocuments: 1000,
  /** Values and names of one document, those that aliases repeat counted each time: the longest public rule has 900. Also
   * the values that placeholders bring to it. */
  maxSigmaNodes: 20_000,
  /** Nesting of one document, and of the parentheses of a condition: rules reach 5, and 3. */
  maxSigmaNesting: 16,
  /** Problems that are told of one text; the rest would be of the same kind. */
  maxSigmaProblems: 100,
  /** Words and parentheses of one condition, and parts of what `1 of x*` stands for: the longest has 80. */
  maxSigmaConditionParts: 10_000,
  /** Characters of one value of a rule, its wildcards included: the longest public one has 400. */
  maxSigmaValueLength: 4096,
  /** Values that one value becomes by placeholders and encodings: a list of servers, and 625 ways to write 4 dashes. */
  maxSigmaExpandedValues: 10_000,
  /** Values that placeholders bring to all rules together: each takes up to 650 bytes in every thread that asks them, and
   * 40 µs when they are compiled. */
  maxSigmaPlaceholderValues: 100_000,
  /** Lists of the operator's that rules ask for by name. */
  maxPlaceholders: 100,
  /** Values in all of them: a rule that asks for one has a test for each. */
  maxPlaceholderValues: 10_000,
  /** States of a regular expression: each character, class and repetition is one. Time per character of text is at the
   * worst this many steps. */
  maxRegexStates: 512,
  /** States of its automaton that are kept, found as texts need them: 1 kB each. A text that needs more is searched on
   * without making any. */
  maxRegexAutomatonStates: 256,
  /** Characters of a value that regular expressions, and wildcards with `?`, look at, as if it ended there: longer than
   * nearly all URIs. Each one more lengthens the time that the worst record takes. */
  maxRegexTextLength: 4096,
  /** Values of one record that keyword searches look at: the widest record has 200. */
  maxKeywordValues: 2000,
  /** Rules that one correlation names: more than a person oversees. */
  maxCorrelationRules: 64,
  /** Fields that make the groups of a correlation, or the value that it counts. */
  maxCorrelationFields: 16,
  /** The longest timespan of a correlation. State lasts twice as long, where there is room. */
  maxCorrelationTimespanMs: 90 * 24 * 3600 * 1000,
  /** Levels of correlations of correlations. */
  maxCorrelationDepth: 8,
  /** Alternatives that a condition over rules may come down to: all are looked at for each input. */
  maxCorrelationAlternatives: 64,
  /** Different values that a correlation may ask to count: a group keeps up to four times as many, 1 MB. */
  maxCorrelationDistinct: 10_000,
  /** Groups of one correlation, 500 bytes each and more by what they keep. Those touched longest ago are forgotten. */
  maxCorrelationGroups: 50_000,
  /** Inputs that one group of a correlation keeps one by one, 16 bytes each. Of more, figures are lower bounds, while
   * averages stay exact, and percentiles and shares are of the newest half. */
  maxCorrelationEntries: 8192,
  /** Inputs within a timespan before and after a late one, for all windows that contain it to be evaluated, 40 µs; with more
   * than that, only the newest is. Applies to conditions that more inputs can end (`lt`, `not`, averages). */
  maxCorrelationLookback: 1024,
  /** What all groups of all correlations keep, in units of 16 bytes: 64 MB. */
  maxCorrelationUnits: 4 * 2 ** 20,
  /** References to events that a group of a correlation keeps: half of what an alert shows. */
  maxCorrelationSamples: 10,
  /** Characters of a value that makes a group or is counted: the longest name has 253. */
  maxCorrelationValueLength: 256,
  /** Findings of rules, and what matches tell correlations, of one body: one for each line, and many of its rules. */
  maxBodyFindings: 100_000,
  maxBodyFacts: 100_000,
  /** Inputs more than a timespan, and than `maxEventDelayMs`, older than the newest of their group: they count no more. A
   * number of timespans. */
  maxCorrelationDelay: 1,
  /** Inputs of correlations after which their state is written: taking them again at a start takes 0.1 s … */
  factsPerState: 20_000,
  /** … and with a large state later, so that writing it costs no more than the inputs do: 1 s. */
  maxWaitingFacts: 250_000,
  /** Rules that are kept, shipped ones included: more than twice the public corpus. */
  maxRules: 10_000,
  /** What all their texts have, each of them 3 kB: they are held in the front's memory. */
  maxRulesBytes: 64 * 2 ** 20,
  /** Files and folders that the operator's folder of rules may hold, and how deep they may lie in one another. */
  maxRuleFiles: 20_000,
  maxRuleFolderDepth: 16,
  /** One file of rules: a thousand documents of usual length. */
  maxRuleFileBytes: 2 * 2 ** 20,
  /** Changes of the rules that wait for their turn. */
  maxQueuedRuleChanges: 64,
  /** … and those of one principal, the one under way included. */
  maxRuleChangesPerPrincipal: 2,
  /** Bytes of rules that one task parses: a fifth of a second, so that tests and changes of others come between two. */
  ruleParseBytes: 2 ** 20,
  /** Tests, validations and changes of rules that wait for their thread, of which there is one … */
  maxQueuedRuleTasks: 64,
  /** … and of one principal, the one under way included: a test, the next one, and a text that is being written. */
  maxRuleTasksPerPrincipal: 3,
  /** How long a task of rules may hold their thread: six times as long as a test, on a busy machine. Past it the thread
   * is replaced. */
  ruleTaskMs: 60_000,
  /** How long the costs of rules that are validated may be measured; expressions past it cost the most that they can. */
  ruleMeasureMs: 1000,
  /** The total cost of all enabled rules for a record of one kind, by `costOf`, about nanoseconds: the shipped rules
   * cost 30,000, and 2,000 generated ones for DNS 2,200,000. With
   * expressions that fill it, the worst record that was found takes 20 ms. */
  maxRuleCost: 3_000_000,
  /** A rule that takes longer than this for a record is named in `/status`: a hundred times what all rules usually take. */
  slowRuleMs: 1,
  /** Stored events that a rule is tried on … */
  maxRuleTestEvents: 500_000,
  /** … and the time that this may take. An ordinary rule has looked at as many events in half of it. */
  ruleTestMs: 10_000,
  /** Matches of such a test that are shown, the newest. */
  maxRuleTestMatches: 100,
  /** The file of settings: every list at its thousand items of usual length. YAML takes 0.1 s of the front to parse it,
   * and two of the worst kind. */
  maxConfigFileBytes: 128 * 2 ** 10,
  /** Keys (hosts, pairs, names) that a behaviour detector keeps at most; each has a bound of its own below it. */
  maxDetectorKeys: 200_000,
  /** How much later than newer ones of their key events may come and still be judged as if they had come in time: sensors
   * that buffer an hour lose nothing. State is kept so much longer. */
  maxEventDelayMs: 3_600_000,
  /** Events older than the window of the host or pair that they are of: behaviour detectors count them no more. A number
   * of windows. */
  maxBehaviourDelay: 1,
  /** How often alerts of behaviour detectors and correlations are refreshed while an activity goes on: the figures are this much behind. */
  alertRefreshMs: 1000,
  /** … and keys of one detector, or groups of all correlations, then: each costs 0.5 ms, with the write of its alert. */
  refreshedKeys: 32,
  /** Events after which what a behaviour detector remembers is written: telling them again at a start takes 0.5 s … */
  eventsPerDetectorState: 250_000,
  /** … and with much to remember later, so that writing takes little of the time. */
  maxUnkeptDetectorEvents: 1_000_000,
  /** Rules and addresses whose verdicts triage remembers: what analysts judge in many years, 100 bytes each. Past it the
   * sixteenth goes that was judged longest ago, which takes 0.1 s. */
  maxTriageTallies: 50_000,
  /** Alerts that wait to be put to the triage endpoint, the newest of each: what it answers in some minutes. Past it they
   * keep the verdict of the local model. */
  maxTriageQueue: 256,
  /** Alerts of which it is remembered that they were to be put to it: of others that change, it is asked again. */
  maxTriageSeen: 4096,
  /** Questions to the triage endpoint under way. */
  maxTriageInFlight: 4,
  /** An answer of the triage endpoint, with what it tells about itself: a verdict and six reasons have 2 kB. */
  maxTriageAnswerBytes: 64 * 2 ** 10,
  /** The pause after a failure of the triage endpoint doubles up to this. */
  maxTriagePauseMs: 5 * 60_000,
  /** How long minutes are kept of what the dashboard shows: an hour, the hour before it, and one that begins. */
  rollupMinutesMs: 3 * 3600 * 1000,
  /** … and hours and days: thirty days and the thirty before, and the days that these begin in. 20 kB each, those of a
   * busy network: 30 MB. */
  rollupHoursMs: 62 * 24 * 3600 * 1000,
  /** Addresses, services and domains of a minute or an hour that are kept as those met most, and as many again as those
   * with most bytes: what is counted of one is wrong by a 64th of all at the worst. */
  maxRollupEntries: 64,
  /** … of a day: there are few, and a month is made of them. */
  maxRollupDayEntries: 128,
  /** Hashes that are kept of a bucket before the number of different ones is estimated: as many as fit the estimate. */
  maxRollupHashes: 1024,
  /** Commits whose counts wait to be added to the buckets of all levels, which takes some milliseconds … */
  maxRollupDeltas: 32,
  /** … and bytes of theirs: readers add them up each time. */
  maxRollupDeltaBytes: 256 * 2 ** 10,
} as const;

/** Limits that are counted when they are reached: what that means is told. */
export type LimitName = keyof typeof limits & keyof typeof limitMeanings;

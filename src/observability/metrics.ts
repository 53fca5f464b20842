import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Dashboard } from '../contract/resources/dashboard.ts';
import type { IngestAnswer } from '../contract/resources/ingest.ts';
import type { Status, WitnessStatus } from '../contract/resources/status.ts';
import { ledgerFindings } from '../contract/vocabulary.ts';
import { errorCodes, RefusedCredentials, type ServiceError } from '../errors.ts';
import type { AuditedCall } from '../http/audited-call.ts';
import type { Observer } from '../http/endpoint.ts';
import type { LedgerCounter } from '../ledger/methods.ts';
import { type LimitName, limitMeanings } from '../limits.ts';
import { MinuteRate } from './minute-rate.ts';
import { NotStored } from './not-stored.ts';

/**
 * The metrics of the service, in the text format of Prometheus (0.0.4). Label values come from fixed tables in the code
 * (operations, statuses, limits, threads) or are sensor ids, never from requests, so their number is bounded.
 */
export class Metrics implements Observer {
  readonly #registry = new Registry();
  readonly #delay = monitorEventLoopDelay({ resolution: 20 });
  readonly notStored = new NotStored();
  readonly #limits = new Map<LimitName, number>();
  /** The last known totals of the store thread, by limit. */
  readonly #inStore = new Map<LimitName, number>();
  readonly #records: Dashboard['ingest'] = { accepted: 0, rejected: 0, ignored: 0 };
  readonly #rates: { requests: MinuteRate; events: MinuteRate; bytes: MinuteRate };

  readonly #requests = this.#counter('candor_http_requests_total', 'Requests answered.', ['operation', 'status']);
  readonly #seconds = new Histogram({
    name: 'candor_http_request_duration_seconds',
    help: 'Time from the request line to the answer.',
    labelNames: ['operation'],
    buckets: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10],
    registers: [this.#registry],
  });
  readonly #events = this.#counter('candor_ingest_records_total', 'Records of ingest bodies.', ['outcome']);
  readonly #notStored = this.#counter(
    'candor_ingest_not_stored_total',
    'Records and requests of sensors that were not stored, by the id of the sensor.',
    ['sensor', 'kind'],
  );
  readonly #bytes = this.#counter(
    'candor_ingest_bytes_total',
    'Bytes of accepted ingest bodies, before decompression.',
    [],
  );
  readonly #lateFailures = this.#counter(
    'candor_ingest_late_failures_total',
    'Bodies acknowledged with ack=memory that could not be stored afterwards.',
    [],
  );
  readonly #liveMessages = this.#counter('candor_live_messages_total', 'Live messages by outcome.', ['outcome']);
  readonly #opinions = this.#counter(
    'candor_triage_endpoint_total',
    'Alerts queued for the triage endpoint, by outcome.',
    ['outcome'],
  );
  readonly #limitsReached = this.#counter('candor_limit_reached_total', 'Times that a limit was reached.', ['limit']);

  readonly #build = this.#gauge('candor_build_info', 'Always 1; the version is in the label.', ['version']);
  readonly #started = this.#gauge('process_start_time_seconds', 'Start of the process, Unix time.');
  readonly #pending = this.#gauge('candor_thread_pending', 'Calls or tasks in progress or waiting.', ['thread']);
  readonly #callBytes = this.#gauge('candor_thread_in_flight_bytes', 'Bytes of calls in progress.', ['thread']);
  readonly #completed = this.#gauge('candor_thread_completed', 'Tasks completed since the start.', ['thread']);
  readonly #restarts = this.#gauge('candor_thread_restarts', 'Restarts of the thread.', ['thread']);
  readonly #stored = this.#gauge('candor_store_events', 'Events stored.', ['table']);
  readonly #alerts = this.#gauge('candor_store_alerts', 'Alerts stored.');
  readonly #blocks = this.#gauge('candor_store_blocks', 'Event blocks.');
  readonly #assets = this.#gauge('candor_store_assets', 'Assets known.');
  readonly #services = this.#gauge('candor_store_services', 'Services known.');
  readonly #edges = this.#gauge('candor_store_topology_edges', 'Edges of the topology between hosts.');
  readonly #runs = this.#gauge('candor_store_topology_runs', 'Sorted runs that store the edges of the topology.');
  readonly #scans = this.#gauge('candor_scans', 'Discovery scans, queued or running.', ['state']);
  readonly #uncounted = this.#gauge(
    'candor_store_uncounted_events',
    'Stored events that wait for detectors and for counting.',
  );
  readonly #storeBytes = this.#gauge('candor_store_bytes', 'Size of the event database.');
  readonly #unusedBytes = this.#gauge(
    'candor_store_unused_bytes',
    'Free bytes within the event database; used before it grows.',
  );
  readonly #retentionBehind = this.#gauge(
    'candor_retention_clock_behind_seconds',
    'How far the retention clock is behind the host clock after a jump.',
  );
  readonly #damagedEvents = this.#gauge(
    'candor_store_damaged_events',
    'Damaged stored events, which are omitted from responses.',
  );
  readonly #skippedEvents = this.#gauge(
    'candor_store_skipped_events',
    'Stored events that detectors, assets and statistics leave out, because processing them failed.',
  );
  readonly #eventBytes = this.#gauge('candor_store_event_bytes', 'Bytes of events on disk.');
  readonly #oldest = this.#gauge(
    'candor_store_oldest_event_seconds',
    'Unix time at which the oldest events were received.',
    ['table'],
  );
  readonly #expired = this.#counter(
    'candor_store_expired_events_total',
    'Events removed by retention since the database was created.',
    ['table', 'reason'],
  );
  readonly #outbox = this.#gauge('candor_outbox_rows', 'Critical events waiting for the log.');
  readonly #sealingLag = this.#gauge('candor_sealing_lag_seconds', 'Time since all stored events were last sealed.');
  readonly #ledgerSize = this.#gauge('candor_ledger_entries', 'Entries of the transparency log.');
  readonly #headAge = this.#gauge('candor_ledger_head_age_seconds', 'Age of the latest signed tree head.');
  readonly #degraded = this.#gauge('candor_ledger_degraded', '1 while the log refuses appends.');
  readonly #findings = this.#gauge(
    'candor_ledger_finding',
    '1 while there is an open finding of this code, about the log or (store_damaged, events_skipped, events_altered, sealing_stopped) the store.',
    ['code'],
  );
  readonly #checkpointSize = this.#gauge('candor_checkpoint_entries', 'Tree size of the published checkpoint.');
  readonly #checkpointAge = this.#gauge('candor_checkpoint_age_seconds', 'Age of the published checkpoint.');
  readonly #quorum = this.#gauge('candor_checkpoint_quorum', '1 if the published checkpoint has its quorum.');
  readonly #witnessSize = this.#gauge('candor_witness_entries', 'Tree size of a witness.', ['witness']);
  readonly #cosignatures = this.#counter('candor_witness_cosignatures_total', 'Cosignatures received.', ['witness']);
  readonly #witnessFailures = this.#counter('candor_witness_failures_total', 'Requests without a cosignature.', [
    'witness',
    'kind',
  ]);
  readonly #regression = this.#gauge(
    'candor_ledger_regression_leaves',
    'Leaves that the log lost in its last restore or rebuild; at least 1 while a detected rollback is not accepted.',
  );
  readonly #connections = this.#gauge('candor_sockets', 'WebSocket connections.');
  readonly #subscriptions = this.#gauge('candor_subscriptions', 'Live subscriptions.');
  readonly #up = this.#gauge('candor_status_up', '1 if the other threads provided their metrics.');
  readonly #memory = this.#gauge('candor_process_memory_bytes', 'Memory; anonymous excludes mapped files.', ['kind']);
  readonly #loopDelay = this.#gauge(
    'candor_event_loop_delay_seconds',
    'Event loop delay of the main thread since the last scrape.',
    ['statistic'],
  );

  /** Reads the counters of the ledger's thread in shared memory, by name. */
  readonly #ledger: () => Readonly<Record<LedgerCounter, number>>;
  readonly #ledgerTotals = {
    entries: this.#counter('candor_ledger_appended_total', 'Entries appended.', []),
    commits: this.#counter('candor_ledger_commits_total', 'Commits, each with one head and one flush.', []),
    commit_us: this.#counter('candor_ledger_commit_seconds_total', 'Time in commits, flush included.', []),
    proofs: this.#counter('candor_ledger_proofs_total', 'Proofs served.', []),
    scrubbed: this.#counter(
      'candor_ledger_scrubbed_entries_total',
      'Entries checked in the background, each up to the signed root.',
      [],
    ),
  } satisfies Partial<Record<LedgerCounter, Counter>>;

  /**
   * Creates the metrics.
   *
   * @param ledger - reads the counters of the ledger's thread
   */
  constructor(now: number, ledger: () => Readonly<Record<LedgerCounter, number>>) {
    this.#ledger = ledger;
    this.#rates = { requests: new MinuteRate(now), events: new MinuteRate(now), bytes: new MinuteRate(now) };
    this.#delay.enable();
  }

  readonly answered = (operation: string, status: number, elapsedMs: number): void => {
    this.#requests.inc({ operation, status: String(status) });
    this.#seconds.observe({ operation }, elapsedMs / 1000);
    this.#rates.requests.add(1, performance.now());
  };

  readonly limitReached = (limit: LimitName): void => {
    this.#limits.set(limit, (this.#limits.get(limit) ?? 0) + 1);
    this.#limitsReached.inc({ limit });
  };

  /** Adds the limits reached in the store's thread, given as totals since that thread started. */
  readonly reachedInStore = (totals: Readonly<Partial<Record<LimitName, number>>>): void => {
    for (const [limit, total] of Object.entries(totals) as [LimitName, number][]) {
      const before = this.#inStore.get(limit) ?? 0;
      // A total that is less than before means that the thread has restarted.
      const more = total < before ? total : total - before;
      this.#inStore.set(limit, total);
      this.#limits.set(limit, (this.#limits.get(limit) ?? 0) + more);
      this.#limitsReached.inc({ limit }, more);
    }
  };

  /**
   * Returns the number of records since the start, by outcome, and the time when records were last received,
   * if any.
   */
  records(): Dashboard['ingest'] {
    return { ...this.#records };
  }

  ingested(answer: IngestAnswer, bytes: number): void {
    for (const outcome of ['accepted', 'rejected', 'ignored'] as const) this.#records[outcome] += answer[outcome];
    this.#records.last_received_at = new Date().toISOString();
    for (const outcome of ['accepted', 'rejected', 'ignored', 'duplicates'] as const) {
      if (answer[outcome] > 0) this.#events.inc({ outcome }, answer[outcome]);
    }
    this.#bytes.inc(bytes);
    const now = performance.now();
    this.#rates.events.add(answer.accepted, now);
    this.#rates.bytes.add(bytes, now);
  }

  /**
   * Counts a failed sensor request, unless the sender may retry the request, because the data of a retried request is
   * not lost.
   */
  readonly sensorFailed = (call: AuditedCall, error: ServiceError): void => {
    const { status, retry } = errorCodes[error.code];
    if (retry) return;
    const kind = status === 401 || status === 403 ? 'credentials' : 'refused';
    const reason = (error instanceof RefusedCredentials ? error.why : error.message).slice(0, 200);
    const sample = `${call.operation} from ${call.sourceAddress}`;
    this.notStored.add(call.sender(error), { kind, reason, times: 1, sample }, Date.now());
  };

  /** Counts live messages sent to sockets, and messages skipped for slow readers. */
  readonly live = (outcome: 'sent' | 'dropped', n: number): void => {
    if (n > 0) this.#liveMessages.inc({ outcome }, n);
  };

  /**
   * Counts the outcome for an alert that was queued for the triage endpoint. The outcome must be from a fixed table,
   * because the number of label values must be bounded.
   */
  readonly asked = (outcome: string): void => {
    this.#opinions.inc({ outcome });
  };

  failedLate(): void {
    this.#lateFailures.inc();
  }

  rates(): Status['rates'] {
    const now = performance.now();
    return {
      events_per_s: this.#rates.events.perSecond(now),
      bytes_per_s: this.#rates.bytes.perSecond(now),
      requests_per_s: this.#rates.requests.perSecond(now),
    };
  }

  limitsReached(): Status['limits_reached'] {
    return [...this.#limits].map(([limit, times]) => ({
      limit,
      times,
      meaning: limitMeanings[limit],
    }));
  }

  /** Adds a gauge that reads its value at each scrape. Replaces a gauge of the same name. */
  watch(name: string, help: string, read: () => number): void {
    this.#registry.removeSingleMetric(name);
    new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect() {
        this.set(read());
      },
    });
  }

  /**
   * Returns the text of a scrape. `status` is undefined if a thread did not respond; the metrics from the status are
   * then left out.
   */
  async scrape(status: Status | undefined): Promise<string> {
    this.#up.set(status === undefined ? 0 : 1);
    this.#setStatus(status);
    this.#notStored.reset();
    for (const { sender, kind, times } of this.notStored.rows)
      this.#notStored.inc({ sensor: sender?.id ?? 'unknown', kind }, times);
    this.#setLedger();
    this.#setProcess();
    return this.#registry.metrics();
  }

  close(): void {
    this.#delay.disable();
  }

  #setStatus(status: Status | undefined): void {
    for (const perLabel of [this.#pending, this.#callBytes, this.#completed, this.#restarts]) perLabel.reset();
    for (const perLabel of [this.#stored, this.#scans, this.#oldest, this.#expired]) perLabel.reset();
    for (const perWitness of [this.#witnessSize, this.#cosignatures, this.#witnessFailures]) perWitness.reset();
    for (const gauge of [
      this.#checkpointSize,
      this.#checkpointAge,
      this.#quorum,
      this.#alerts,
      this.#blocks,
      this.#assets,
      this.#services,
      this.#edges,
      this.#uncounted,
      this.#storeBytes,
      this.#unusedBytes,
      this.#eventBytes,
      this.#outbox,
      this.#sealingLag,
      this.#ledgerSize,
      this.#headAge,
    ]) {
      gauge.remove();
    }
    if (status === undefined) return;
    const { store, ledger, outbox, sockets } = status;
    this.#build.set({ version: status.version }, 1);
    this.#started.set(Date.parse(status.started_at) / 1000);
    for (const { name: thread, pending, in_flight_bytes, completed, restarts } of status.threads) {
      this.#pending.set({ thread }, pending);
      if (in_flight_bytes !== undefined) this.#callBytes.set({ thread }, in_flight_bytes);
      if (completed !== undefined) this.#completed.set({ thread }, completed);
      if (restarts !== undefined) this.#restarts.set({ thread }, restarts);
    }
    this.#stored.set({ table: 'network' }, store.network_events);
    this.#stored.set({ table: 'dns' }, store.dns_events);
    this.#alerts.set(store.alerts);
    this.#blocks.set(store.blocks);
    this.#assets.set(store.assets);
    this.#services.set(store.services);
    this.#edges.set(store.topology_edges);
    this.#runs.set(store.topology_runs);
    this.#scans.set({ state: 'queued' }, status.scans.queued);
    this.#scans.set({ state: 'running' }, status.scans.running);
    this.#uncounted.set(store.uncounted_events);
    this.#storeBytes.set(store.bytes);
    this.#damagedEvents.set(store.damaged_events);
    this.#skippedEvents.set(store.skipped_events);
    this.#unusedBytes.set(store.unused_bytes);
    this.#setRetention(status.retention);
    this.#outbox.set(outbox.rows);
    if (status.sealing !== undefined) this.#sealingLag.set(status.sealing.lag_s);
    this.#ledgerSize.set(ledger.size);
    if (ledger.head_age_s !== undefined) this.#headAge.set(ledger.head_age_s);
    this.#degraded.set(ledger.state === 'ok' ? 0 : 1);
    const open = new Set(ledger.findings.map(({ code }) => code));
    for (const code of ledgerFindings) this.#findings.set({ code }, open.has(code) ? 1 : 0);
    const { from_size = 0, to_size = 0 } = ledger.regression ?? {};
    this.#regression.set(Math.max(ledger.fault === 'rollback' ? 1 : 0, from_size - to_size));
    if (status.witnesses !== undefined) this.#setWitnesses(status.witnesses);
    this.#connections.set(sockets.connections);
    this.#subscriptions.set(sockets.subscriptions);
  }

  #setRetention(retention: Status['retention']): void {
    this.#eventBytes.set(retention.event_bytes);
    this.#retentionBehind.set(retention.clock_behind_ms / 1000);
    const oldest = { network: retention.oldest_network_event, dns: retention.oldest_dns_event };
    for (const [table, at] of Object.entries(oldest))
      if (at !== undefined) this.#oldest.set({ table }, Date.parse(at) / 1000);
    for (const { table, reason, events } of retention.expired) this.#expired.inc({ table, reason }, events);
  }

  #setWitnesses({ quorum, published_size, published_age_s, witnesses }: WitnessStatus): void {
    this.#quorum.set(quorum ? 1 : 0);
    if (published_size !== undefined) this.#checkpointSize.set(published_size);
    if (published_age_s !== undefined) this.#checkpointAge.set(published_age_s);
    for (const { name: witness, size, cosignatures, failures } of witnesses) {
      if (size !== undefined) this.#witnessSize.set({ witness }, size);
      this.#cosignatures.inc({ witness }, cosignatures);
      for (const { kind, times } of failures) this.#witnessFailures.inc({ witness, kind }, times);
    }
  }

  #setLedger(): void {
    const totals = this.#ledger();
    for (const [name, counter] of Object.entries(this.#ledgerTotals)) {
      counter.reset();
      const total = totals[name as LedgerCounter];
      // Prometheus' base unit is the second.
      counter.inc(name === 'commit_us' ? total / 1e6 : total);
    }
  }

  #setProcess(): void {
    const { rss, heapUsed, arrayBuffers } = process.memoryUsage();
    this.#memory.set({ kind: 'resident' }, rss);
    this.#memory.set({ kind: 'heap' }, heapUsed);
    this.#memory.set({ kind: 'array_buffers' }, arrayBuffers);
    const anonymous = anonymousBytes();
    if (anonymous !== undefined) this.#memory.set({ kind: 'anonymous' }, anonymous);
    const { max } = this.#delay;
    const delays = { p50: this.#delay.percentile(50), p99: this.#delay.percentile(99), max };
    for (const [statistic, ns] of Object.entries(delays)) this.#loopDelay.set({ statistic }, ns / 1e9);
    this.#delay.reset();
  }

  #counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  #gauge<L extends string = never>(name: string, help: string, labelNames: readonly L[] = []): Gauge<L> {
    return new Gauge({ name, help, labelNames, registers: [this.#registry] });
  }
}

/**
 * Returns the bytes of memory that are not backed by files. Pages of memory maps are not included
 * (proc_pid_status(5)). Undefined except on Linux.
 */
function anonymousBytes(): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const kB = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return kB === undefined ? undefined : Number(kB) * 1024;
}

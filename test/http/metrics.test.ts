import { afterAll, expect, test } from 'vitest';
import type { Status } from '../../src/contract/resources/status.ts';
import { ledgerCounters } from '../../src/ledger/methods.ts';
import { limitMeanings } from '../../src/limits.ts';
import { Metrics } from '../../src/observability/metrics.ts';
import { createCounters } from '../../src/rpc/counters.ts';

const metrics = new Metrics(performance.now(), () => createCounters(ledgerCounters).read());
afterAll(() => metrics.close());

const status: Status = {
  verdict: { well: true, text: 'Healthy.' },
  version: '1.2.3',
  started_at: '2026-01-01T00:00:00.000Z',
  uptime_s: 1,
  threads: [{ name: 'ingest', pending: 2, completed: 7 }],
  rates: metrics.rates(),
  store: {
    ...{ network_events: 5, dns_events: 6, alerts: 7, assets: 10, services: 11, topology_edges: 15 },
    topology_runs: 18,
    ...{ blocks: 8, bytes: 9, unused_bytes: 16, uncounted_events: 17 },
    damaged_events: 0,
    skipped_events: 24,
    scrub: { pass_began_at: '2026-01-01T00:00:00.000Z', checked: 0, total: 0 },
  },
  retention: {
    max_age_ms: 1000,
    event_bytes: 17,
    clock_behind_ms: 18_000,
    oldest_dns_event: '2026-01-01T00:00:00.000Z',
    expired: [{ table: 'network', reason: 'age', events: 18, bytes: 19 }],
  },
  ledger: { state: 'ok', size: 10, head_age_s: 1.5, sth_key_id: 'k', sth_key_fingerprint: 'f', findings: [] },
  outbox: { rows: 11, limit: 12 },
  sealing: { sealed_at: '2026-01-01T00:00:00.000Z', lag_s: 22 },
  scans: { queued: 2, running: 1 },
  sockets: { connections: 13, subscriptions: 14 },
  not_stored: { rejected: 0, ignored: 0, refused: 0, credentials: 0, reasons: [] },
  limits_reached: [],
  warnings: [],
  ready: true,
};

/** Returns the values by series. Checks each line against the grammar of the text format. */
function parse(text: string): Map<string, number> {
  const series = new Map<string, number>();
  expect(text.endsWith('\n')).toBe(true);
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const match = /^([a-zA-Z_:][a-zA-Z0-9_:]*(?:\{[a-z_]+="[^"\\\n]*"(?:,[a-z_]+="[^"\\\n]*")*\})?) (\S+)$/.exec(line);
    expect(match, line).not.toBeNull();
    expect(series.has(match![1]!), line).toBe(false);
    series.set(match![1]!, Number(match![2]));
  }
  return series;
}

test('a scrape contains the counters and the figures of the status', async () => {
  metrics.answered('getAlert', 404, 5);
  metrics.limitReached('maxBodyBytes');
  metrics.ingested({ accepted: 4, rejected: 3, ignored: 2, duplicates: 0, errors: [] }, 1000);
  const series = parse(await metrics.scrape(status));
  expect(series.get('candor_http_requests_total{operation="getAlert",status="404"}')).toBe(1);
  expect(series.get('candor_http_request_duration_seconds_count{operation="getAlert"}')).toBe(1);
  expect(series.get('candor_limit_reached_total{limit="maxBodyBytes"}')).toBe(1);
  expect(series.get('candor_ingest_records_total{outcome="accepted"}')).toBe(4);
  expect(series.get('candor_ingest_bytes_total')).toBe(1000);
  expect(series.get('candor_thread_pending{thread="ingest"}')).toBe(2);
  expect(series.get('candor_store_events{table="dns"}')).toBe(6);
  expect(series.get('candor_store_topology_edges')).toBe(15);
  expect(series.get('candor_store_topology_runs')).toBe(18);
  expect(series.get('candor_store_unused_bytes')).toBe(16);
  expect(series.get('candor_sealing_lag_seconds')).toBe(22);
  expect(series.get('candor_store_uncounted_events')).toBe(17);
  expect(series.get('candor_store_event_bytes')).toBe(17);
  expect(series.get('candor_retention_clock_behind_seconds')).toBe(18);
  expect(series.get('candor_store_oldest_event_seconds{table="dns"}')).toBe(Date.UTC(2026, 0) / 1000);
  expect(series.has('candor_store_oldest_event_seconds{table="network"}')).toBe(false);
  expect(series.get('candor_store_expired_events_total{table="network",reason="age"}')).toBe(18);
  expect(series.get('candor_scans{state="queued"}')).toBe(2);
  expect(series.get('candor_scans{state="running"}')).toBe(1);
  expect(series.get('candor_ledger_entries')).toBe(10);
  expect(series.get('candor_ledger_head_age_seconds')).toBe(1.5);
  expect(series.get('candor_sockets')).toBe(13);
  expect(series.get('candor_process_memory_bytes{kind="resident"}')).toBeGreaterThan(1e6);
  expect(metrics.limitsReached()).toEqual([{ limit: 'maxBodyBytes', times: 1, meaning: limitMeanings.maxBodyBytes }]);
  expect(metrics.rates().events_per_s).toBeGreaterThan(0);
});

test('limits reached in the store thread are counted once, even if the thread restarts', async () => {
  const reached = [{ maxServices: 3 }, { maxServices: 3 }, { maxServices: 5, maxAssets: 1 }, { maxServices: 2 }];
  for (const totals of reached) metrics.reachedInStore(totals);
  const series = parse(await metrics.scrape(status));
  expect(series.get('candor_limit_reached_total{limit="maxServices"}')).toBe(7);
  expect(metrics.limitsReached()).toEqual(
    expect.arrayContaining([
      { limit: 'maxServices', times: 7, meaning: limitMeanings.maxServices },
      { limit: 'maxAssets', times: 1, meaning: limitMeanings.maxAssets },
    ]),
  );
  expect(series.get('candor_store_services')).toBe(11);
});

test('while the status is unavailable, its figures are omitted and candor_status_up is 0', async () => {
  const series = parse(await metrics.scrape(undefined));
  expect(series.get('candor_status_up')).toBe(0);
  expect(series.has('candor_ledger_entries')).toBe(false);
  expect(series.has('candor_store_event_bytes')).toBe(false);
  expect(series.has('candor_thread_pending{thread="ingest"}')).toBe(false);
  expect(series.get('candor_http_requests_total{operation="getAlert",status="404"}')).toBe(1);
});

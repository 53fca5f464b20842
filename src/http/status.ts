import type { Status } from '../contract/resources/status.ts';
import type { StoreDamage } from '../database/damage.ts';
import { limits } from '../limits.ts';
import { homeAdvice } from '../net/home-networks.ts';
import type { RetentionStatus } from '../store/store.ts';
import type { Services } from './services.ts';
import { verdictOf } from './verdict.ts';

/**
 * Returns the state of the whole service, and passes the limits that the store reached to the metrics. Throws
 * UNAVAILABLE or WORKER_LOST if the store thread or the ledger thread is not available.
 */
export async function currentStatus(services: Services): Promise<Status> {
  const [store, ledger] = await Promise.all([services.store.status(), services.logStatus()]);
  const now = Date.now();
  const { health, head } = ledger;
  const witnesses = services.witnesses();
  const sealing = services.sealing?.();
  services.metrics.reachedInStore(store.limits_reached);
  const judged = {
    ledger: {
      state: health.state,
      ...(health.state === 'degraded' ? { fault: health.fault, advice: health.advice } : {}),
      ...(ledger.regression === undefined ? {} : { regression: ledger.regression }),
      findings: [...ledger.findings],
      ...(ledger.scrub === undefined ? {} : { scrub: ledger.scrub }),
      size: ledger.size,
      ...(head === undefined ? {} : { head_age_s: Math.max(0, now - head.timestamp_ns / 1e6) / 1000 }),
      sth_key_id: ledger.sth_key_id,
      sth_key_fingerprint: ledger.sth_key_fingerprint,
      ...(ledger.checkpoint_vkey === '' ? {} : { checkpoint_vkey: ledger.checkpoint_vkey }),
    },
    limits_reached: services.metrics.limitsReached().map((reached) => {
      const of = store.detector_limits.filter(({ limit }) => limit === reached.limit);
      const detectors = of.map(({ detector, times }) => ({ detector, times }));
      return detectors.length === 0 ? reached : { ...reached, detectors };
    }),
    warnings: [
      ...(services.policy.current.file_refused === undefined ? [] : [policyFileRefused]),
      ...services.policy.contradictions(),
      ...homeAdvice(services.config['network.home'], store.public_host),
      ...services.metrics.notStored.warnings(now),
      ...services.rules.slow().slice(0, maxSlowRules).map(slowRule),
    ],
    ready: services.ready(),
  };
  return {
    verdict: verdictOf(judged),
    version: services.version,
    started_at: new Date(services.startedAt).toISOString(),
    uptime_s: Math.max(0, now - services.startedAt) / 1000,
    threads: services.threads(),
    rates: services.metrics.rates(),
    store: {
      network_events: store.events.network,
      dns_events: store.events.dns,
      alerts: store.alerts,
      assets: store.assets,
      services: store.services,
      topology_edges: store.topology_edges,
      topology_runs: store.topology_runs,
      blocks: store.blocks,
      uncounted_events: store.uncounted_events,
      bytes: store.bytes,
      unused_bytes: store.unused_bytes,
      damaged_events: store.damage.events.reduce((sum, { rows }) => sum + rows, 0),
      skipped_events: store.damage.skipped.length,
      scrub: scrubOf(store.damage.scrub),
    },
    retention: retentionOf(store.retention),
    ...(witnesses === undefined ? {} : { witnesses }),
    outbox: { rows: store.outbox, limit: limits.maxOutboxRows },
    ...(sealing === undefined ? {} : { sealing }),
    not_stored: services.metrics.notStored.shown(),
    scans: services.scans.counts(),
    sockets: services.sockets(),
    ...judged,
  };
}

function scrubOf({ pass_began_at, last_pass_at, ...rest }: StoreDamage['scrub']): Status['store']['scrub'] {
  return {
    ...rest,
    pass_began_at: new Date(pass_began_at).toISOString(),
    ...(last_pass_at === undefined ? {} : { last_pass_at: new Date(last_pass_at).toISOString() }),
  };
}

function retentionOf({ oldest, ...rest }: RetentionStatus): Status['retention'] {
  const { network, dns } = oldest;
  return {
    ...rest,
    ...(network === undefined ? {} : { oldest_network_event: new Date(network).toISOString() }),
    ...(dns === undefined ? {} : { oldest_dns_event: new Date(dns).toISOString() }),
    expired: [...rest.expired],
  };
}

const maxSlowRules = 3;

const slowRule = ([rule, ms]: readonly [string, number]): string =>
  `The detection rule ${rule} took ${ms.toFixed(1)} ms for one record, which slows ingest: simplify or disable it.`;

/**
 * Warning about an invalid policy file. The warning does not contain the reason, which only administrators may see
 * together with the policy.
 */
const policyFileRefused =
  'The access policy file is invalid; the previous policy stays in effect: see GET /api/v1/policy.';

import type { AlertGroup, AlertGroups } from '../contract/resources/alert-groups.ts';
import { type AlertGrouping, alertStatuses, severities } from '../contract/vocabulary.ts';
import { limits } from '../limits.ts';
import type { AlertFacts, ListFilter, StoreReader } from '../store/store.ts';

export interface GroupQuery {
  readonly by: AlertGrouping;
  readonly filter: ListFilter;
  /** Maximum number of groups shown. */
  readonly limit: number;
}

/** Functions that return the value by which an alert is grouped, or several values if it belongs to several groups. */
const commonOf: {
  readonly [By in AlertGrouping]: (alert: AlertFacts) => string | undefined | readonly string[];
} = {
  rule_id: (alert) => alert.rule_id,
  rule_source: (alert) => alert.rule_source,
  category: (alert) => alert.category,
  severity: (alert) => alert.severity,
  src_ip: (alert) => alert.src_ip,
  dst_ip: (alert) => alert.dst_ip,
  asset_id: (alert) => (alert.asset_ids.length === 0 ? undefined : alert.asset_ids),
  status: (alert) => alert.status,
};

/** The counts of one group. */
interface Tally {
  readonly value: string | undefined;
  alerts: number;
  findings: number;
  /** Rank of the highest severity. */
  rank: number;
  /** Time of the first finding, ISO 8601, which sorts by time. */
  first: string;
  /** Time of the last finding. */
  last: string;
  readonly statuses: AlertGroup['statuses'];
}

/**
 * Groups alerts; reads the newest first. With more than `maxGroups` groups, groups that occur only in older alerts are
 * not counted separately.
 */
export function groupAlerts(
  reader: Pick<StoreReader, 'visitAlertFacts'>,
  { by, filter, limit }: GroupQuery,
  maxGroups: number = limits.maxAlertGroups,
): AlertGroups {
  const read = commonOf[by];
  const tallies = new Map<string | undefined, Tally>();
  const all = { alerts: 0, findings: 0 };
  /** Sums over all groups. An alert in several groups is counted several times. */
  const counted = { alerts: 0, findings: 0 };
  let complete = true;

  const count = (value: string | undefined, alert: AlertFacts): void => {
    counted.alerts++;
    counted.findings += alert.count;
    let tally = tallies.get(value);
    if (tally === undefined) {
      if (tallies.size >= maxGroups) {
        complete = false;
        return;
      }
      tally = begin(value, alert);
      tallies.set(value, tally);
    }
    add(tally, alert);
  };

  reader.visitAlertFacts(filter, { newestFirst: true, withAssets: by === 'asset_id' }, (_id, alert) => {
    all.alerts++;
    all.findings += alert.count;
    const value = read(alert);
    if (typeof value === 'object') for (const one of value) count(one, alert);
    else count(value, alert);
    return undefined;
  });

  const shown = [...tallies.values()].sort(largestFirst).slice(0, limit);
  const others = { ...counted };
  for (const { alerts, findings } of shown) {
    others.alerts -= alerts;
    others.findings -= findings;
  }
  return { by, groups: shown.map(groupOf), ...all, distinct: tallies.size, others, complete };
}

function begin(value: string | undefined, { first_seen, last_seen }: AlertFacts): Tally {
  const statuses = Object.fromEntries(alertStatuses.map((status) => [status, 0])) as AlertGroup['statuses'];
  return { value, alerts: 0, findings: 0, rank: 0, first: first_seen, last: last_seen, statuses };
}

function add(tally: Tally, alert: AlertFacts): void {
  tally.alerts++;
  tally.findings += alert.count;
  tally.rank = Math.max(tally.rank, severities.indexOf(alert.severity));
  if (alert.first_seen < tally.first) tally.first = alert.first_seen;
  if (alert.last_seen > tally.last) tally.last = alert.last_seen;
  tally.statuses[alert.status]++;
}

function largestFirst(a: Tally, b: Tally): number {
  if (a.alerts !== b.alerts) return b.alerts - a.alerts;
  if (a.findings !== b.findings) return b.findings - a.findings;
  return (a.value ?? '') < (b.value ?? '') ? -1 : 1;
}

function groupOf({ value, alerts, findings, rank, first, last, statuses }: Tally): AlertGroup {
  return {
    ...(value === undefined ? {} : { value }),
    alerts,
    findings,
    severity: severities[rank]!,
    first_seen: first,
    last_seen: last,
    statuses,
  };
}

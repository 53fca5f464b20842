import type { Alert } from '../../../contract/resources/alert.ts';
import type { AddressSpan } from '../../../events/asset-lookup.ts';
import { countedAlerts, rankOf, type Weight } from '../../../inventory/asset-risk.ts';
import { limits } from '../../../limits.ts';
import { isOpen, weighs } from '../../alert-scoring.ts';
import type { Tables } from '../tables.ts';

type Table = Tables['openAlerts'];

/** An address or `nowhere`, what the alert counts as, minus its rank, its id. */
export type AlertKey = [place: string, as: CountsAs, order: number, id: string];
/** When it was last seen (epoch milliseconds), the address of its other end ('' for none), its score. */
export type AlertEntry = readonly [time: number, other: string, score: number];

/** The place of alerts that weigh and are of no asset. */
export const nowhere = 'nowhere';

/** Open alerts weigh unless they were found to be nothing; suppressed ones weigh and are not open. */
export const as = { open: 0, suppressed: 1, dismissed: 2 } as const;
export type CountsAs = (typeof as)[keyof typeof as];
const weighing = [as.open, as.suppressed] as const;
const open = [as.open, as.dismissed] as const;

/** An alert as it is in the index. */
export interface IndexedAlert {
  readonly id: string;
  readonly as: CountsAs;
  readonly order: number;
  readonly time: number;
  readonly score: number;
  readonly ips: readonly string[];
}

export const addressesOf = ({ src_ip, dst_ip }: Alert): string[] => [
  ...new Set([src_ip, dst_ip].filter((ip) => ip !== undefined)),
];

/** Undefined for one that is neither open nor weighs. */
export function indexed(id: string, alert: Alert): IndexedAlert | undefined {
  const isWeighing = weighs(alert);
  if (!isWeighing && !isOpen(alert)) return undefined;
  const { risk_score: score = 0 } = alert;
  const time = Date.parse(alert.last_seen);
  // What a clock that is ahead dates decays from when it came.
  const seen = Math.min(time, Date.parse(alert.updated_at));
  const counts = !isWeighing ? as.dismissed : isOpen(alert) ? as.open : as.suppressed;
  const order = isWeighing ? -rankOf(score, seen) : 0;
  return { id, as: counts, order, time, score, ips: addressesOf(alert) };
}

/** Entries of one address that are all read. */
const fewEntries = 2 * countedAlerts;

/** All entries of a place, or those that count as one thing. What is shorter sorts first, and none counts as 9. */
export const entriesAt = (place: string, counts?: CountsAs): { start: AlertKey; end: AlertKey } => {
  const prefix = counts === undefined ? [place] : [place, counts];
  const end = counts === undefined ? [place, 9] : [place, counts, Number.POSITIVE_INFINITY];
  return { start: prefix as unknown as AlertKey, end: end as unknown as AlertKey };
};

export interface WeighingAlert extends Weight {
  readonly id: string;
}

/** What was found, and how many entries were left out because there were too many. */
interface Found<T> {
  readonly found: T;
  readonly left: number;
}

/** What an asset is told of its alerts, which were last seen at these addresses in the time that is given. */
export interface AlertsOfAsset {
  readonly open: number;
  /** At most `countedAlerts`. */
  readonly gravest: readonly WeighingAlert[];
  /** They were too many to be told apart: `open` is an estimate. */
  readonly estimated: boolean;
}

export function alertsOf(table: Table, spans: readonly AddressSpan[]): AlertsOfAsset {
  const all = few(table, spans);
  if (all === undefined) {
    const [counted, gravest] = [countOpen(table, spans), gravestOf(table, spans)];
    return {
      open: counted.found,
      gravest: gravest.found,
      estimated: counted.left > 0 || gravest.left > 0,
    };
  }
  const gravest = all.filter(({ as: counts }) => counts !== as.dismissed);
  const count = all.filter(({ as: counts }) => counts !== as.suppressed).length;
  return { open: count, gravest: firstOf(gravest), estimated: false };
}

/** All entries, in one look at each address: twice as quick as the other way. Undefined where some address has many. */
function few(
  table: Table,
  spans: readonly AddressSpan[],
): (WeighingAlert & { readonly as: CountsAs })[] | undefined {
  const all = new Map<string, WeighingAlert & { readonly as: CountsAs }>();
  for (const [ip, ofIp] of Map.groupBy(spans, (span) => span.ip)) {
    let read = 0;
    for (const { key, value } of table.getRange({ ...entriesAt(ip), limit: fewEntries + 1 })) {
      if (++read > fewEntries) return undefined;
      const [, counts, order, id] = key;
      if (isIn(ofIp, value[0])) all.set(id, { id, score: value[2], rank: -order, as: counts });
    }
  }
  return [...all.values()];
}

/** The gravest alerts, at most `countedAlerts`, that were last seen at these addresses in the time that is given. */
export function gravestOf(table: Table, spans: readonly AddressSpan[]): Found<WeighingAlert[]> {
  const all = new Map<string, WeighingAlert>();
  let looked = 0;
  for (const [ip, ofIp] of Map.groupBy(spans, (span) => span.ip))
    for (const counts of weighing) {
      let taken = 0;
      for (const { key, value } of table.getRange(entriesAt(ip, counts))) {
        if (taken === countedAlerts || looked > limits.maxCountedAlerts) break;
        looked++;
        if (!isIn(ofIp, value[0])) continue;
        all.set(key[3], { id: key[3], score: value[2], rank: -key[2] });
        taken++;
      }
    }
  return { found: firstOf(all.values()), left: Math.max(0, looked - limits.maxCountedAlerts) };
}

/** The gravest of no asset. */
export function gravestNowhere(table: Table): WeighingAlert[] {
  const all = weighing.flatMap((counts) =>
    Array.from(
      table.getRange({ ...entriesAt(nowhere, counts), limit: countedAlerts }),
      ({ key, value }): WeighingAlert => ({ id: key[3], score: value[2], rank: -key[2] }),
    ),
  );
  return firstOf(all);
}

/** How many open alerts were last seen at these addresses in the time that is given. */
function countOpen(table: Table, spans: readonly AddressSpan[]): Found<number> {
  const [only] = spans;
  if (only === undefined) return { found: 0, left: 0 };
  const count = (ip: string) =>
    open.reduce<number>((sum, counts) => sum + table.getKeysCount(entriesAt(ip, counts)), 0);
  if (spans.length === 1 && isAlways(only)) return { found: count(only.ip), left: 0 };
  const ids = new Set<string>();
  let looked = 0;
  let left = 0;
  for (const [ip, ofIp] of Map.groupBy(spans, (span) => span.ip)) {
    const before = looked;
    for (const counts of open)
      for (const { key, value } of table.getRange(entriesAt(ip, counts))) {
        if (looked >= limits.maxCountedAlerts) break;
        looked++;
        if (isIn(ofIp, value[0])) ids.add(key[3]);
      }
    if (looked >= limits.maxCountedAlerts) left += count(ip) - (looked - before);
  }
  return { found: ids.size + left, left };
}

const firstOf = (alerts: Iterable<WeighingAlert>): WeighingAlert[] =>
  [...alerts].sort((a, b) => b.rank - a.rank || (a.id < b.id ? -1 : 1)).slice(0, countedAlerts);

const isIn = (spans: readonly AddressSpan[], time: number): boolean =>
  spans.some(({ from, to }) => from <= time && time < to);

const isAlways = ({ from, to }: AddressSpan): boolean =>
  from === Number.NEGATIVE_INFINITY && to === Number.POSITIVE_INFINITY;

import type { Alert } from '../../../contract/resources/alert.ts';
import type { AddressSpan } from '../../../events/asset-lookup.ts';
import { countedAlerts, rankOf, type Weight } from '../../../inventory/asset-risk.ts';
import { limits } from '../../../limits.ts';
import { isOpen, weighs } from '../../alert-scoring.ts';
import type { Tables } from '../tables.ts';

type Table = Tables['openAlerts'];

/** An address or `nowhere`, how the alert counts, its negated rank, its id. */
export type AlertKey = [place: string, as: CountsAs, order: number, id: string];
/**
 * When it was last seen (epoch milliseconds), the address of its other end ('' if it has none), its score.
 */
export type AlertEntry = readonly [time: number, other: string, score: number];

/** The place of alerts that contribute to risk and belong to no asset. */
export const nowhere = 'nowhere';

/**
 * Open alerts contribute to risk unless they were dismissed by a verdict; suppressed ones contribute but do
 * not count as open.
 */
export const as = { open: 0, suppressed: 1, dismissed: 2 } as const;
export type CountsAs = (typeof as)[keyof typeof as];
const weighing = [as.open, as.suppressed] as const;
const open = [as.open, as.dismissed] as const;

/** An alert as stored in the index. */
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

/** Returns the index entry of an alert; undefined if it is neither open nor contributes to risk. */
export function indexed(id: string, alert: Alert): IndexedAlert | undefined {
  const isWeighing = weighs(alert);
  if (!isWeighing && !isOpen(alert)) return undefined;
  const { risk_score: score = 0 } = alert;
  const time = Date.parse(alert.last_seen);
  // An alert dated by a clock that is ahead decays from the time of its arrival.
  const seen = Math.min(time, Date.parse(alert.updated_at));
  const counts = !isWeighing ? as.dismissed : isOpen(alert) ? as.open : as.suppressed;
  const order = isWeighing ? -rankOf(score, seen) : 0;
  return { id, as: counts, order, time, score, ips: addressesOf(alert) };
}

/** Up to this many entries of one address are read in full. */
const fewEntries = 2 * countedAlerts;

/**
 * Returns the key range of all entries of a place, or of one kind. Shorter keys sort first, and no kind is as
 * high as 9.
 */
export const entriesAt = (place: string, counts?: CountsAs): { start: AlertKey; end: AlertKey } => {
  const prefix = counts === undefined ? [place] : [place, counts];
  const end = counts === undefined ? [place, 9] : [place, counts, Number.POSITIVE_INFINITY];
  return { start: prefix as unknown as AlertKey, end: end as unknown as AlertKey };
};

export interface WeighingAlert extends Weight {
  readonly id: string;
}

/** A result, and how many entries were skipped because there were too many. */
interface Found<T> {
  readonly found: T;
  readonly left: number;
}

/** The alerts of an asset, which were last seen at its addresses while it had them. */
export interface AlertsOfAsset {
  readonly open: number;
  /** At most `countedAlerts`. */
  readonly gravest: readonly WeighingAlert[];
  /** There were too many alerts to count exactly: `open` is an estimate. */
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

/**
 * Reads all entries with one scan per address: twice as fast as separate scans. Undefined if an address has
 * many.
 */
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

/**
 * Returns the alerts with the highest risk, at most `countedAlerts`, that were last seen at these addresses
 * in these time spans.
 */
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

/** Returns the alerts with the highest risk that belong to no asset. */
export function gravestNowhere(table: Table): WeighingAlert[] {
  const all = weighing.flatMap((counts) =>
    Array.from(
      table.getRange({ ...entriesAt(nowhere, counts), limit: countedAlerts }),
      ({ key, value }): WeighingAlert => ({ id: key[3], score: value[2], rank: -key[2] }),
    ),
  );
  return firstOf(all);
}

/** Counts the open alerts that were last seen at these addresses in these time spans. */
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

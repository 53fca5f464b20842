import type { Alert } from '../../contract/resources/alert.ts';
import type { AddressSpan } from '../../events/asset-lookup.ts';
import { limits } from '../../limits.ts';
import { isOpen, weighs } from '../alert-scoring.ts';
import { countedAlerts, rankOf, type Weight } from '../model/asset-risk.ts';
import type { InventoryTables } from './tables.ts';

type Table = InventoryTables['openAlerts'];

/**
 * The key of an alert: an address or `nowhere`, whether the alert is open and contributes to risk, the alert's negated
 * rank (0 if dismissed), and its id.
 */
export type AlertKey = [place: string, as: CountsAs, order: number, id: string];
/**
 * The entry of an alert: the time when the alert was last seen (epoch milliseconds), its other address (''
 * without one), and its score.
 */
export type AlertEntry = readonly [time: number, other: string, score: number];

/** The place of alerts that contribute to risk and belong to no asset. */
export const nowhere = 'nowhere';

/**
 * Whether an alert is counted as open, and contributes to risk. `open`: both. `suppressed`: the alert only contributes
 * to risk. `dismissed`: the alert is only counted as open, because a verdict dismissed it.
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

/** Returns the index entry of an alert; undefined if the alert is not open and does not contribute to risk. */
export function indexed(id: string, alert: Alert): IndexedAlert | undefined {
  const isWeighing = weighs(alert);
  if (!isWeighing && !isOpen(alert)) return undefined;
  const { risk_score: score = 0 } = alert;
  const time = Date.parse(alert.last_seen);
  // If the sensor's clock is ahead, the alert decays from its last update.
  const seen = Math.min(time, Date.parse(alert.updated_at));
  const counts = !isWeighing ? as.dismissed : isOpen(alert) ? as.open : as.suppressed;
  const order = isWeighing ? -rankOf(score, seen) : 0;
  return { id, as: counts, order, time, score, ips: addressesOf(alert) };
}

/** Maximum entries of one address that are read in full. */
const fewEntries = 2 * countedAlerts;

/**
 * Returns the key range of all entries of a place, or of the entries of one kind. Shorter keys sort first, and
 * all values of `CountsAs` are below 9.
 */
export const entriesAt = (place: string, counts?: CountsAs): { start: AlertKey; end: AlertKey } => {
  const prefix = counts === undefined ? [place] : [place, counts];
  const end = counts === undefined ? [place, 9] : [place, counts, Number.POSITIVE_INFINITY];
  return { start: prefix as unknown as AlertKey, end: end as unknown as AlertKey };
};

export interface WeighingAlert extends Weight {
  readonly id: string;
}

/** A result, and a number above 0 if entries were skipped because there were too many. */
interface Found<T> {
  readonly found: T;
  readonly left: number;
}

/** The alerts of an asset: alerts that were last seen at an address while the asset had this address. */
export interface AlertsOfAsset {
  readonly open: number;
  /** Alerts with the highest risk, at most `countedAlerts`. */
  readonly gravest: readonly WeighingAlert[];
  /** Whether `open` is an estimate, because there were too many alerts to count exactly. */
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
 * Reads the entries with one scan per address, instead of one scan to count and another scan to rank. Returns
 * undefined if an address has more than `fewEntries` entries.
 */
function few(table: Table, spans: readonly AddressSpan[]): (WeighingAlert & { readonly as: CountsAs })[] | undefined {
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
 * Returns the alerts with the highest risk, at most `countedAlerts`, that were last seen at the addresses in
 * the time spans of `spans`.
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

/** Returns the alerts with the highest risk that belong to no asset, at most `countedAlerts`. */
export function gravestNowhere(table: Table): WeighingAlert[] {
  const all = weighing.flatMap((counts) =>
    Array.from(
      table.getRange({ ...entriesAt(nowhere, counts), limit: countedAlerts }),
      ({ key, value }): WeighingAlert => ({ id: key[3], score: value[2], rank: -key[2] }),
    ),
  );
  return firstOf(all);
}

/** Counts the open alerts that were last seen at the addresses in the time spans of `spans`. */
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

import type { Alert } from '../../../contract/resources/alert.ts';
import { assetRisk, countedAlerts } from '../../../inventory/asset-risk.ts';
import { limits } from '../../../limits.ts';
import { type AlertRow, entryCount, lastSequence, type Tables } from '../tables.ts';
import type { Assets } from './assets.ts';
import { within } from './grouped-rows.ts';

type Key = [string, number, string];

const isOpen = ({ status }: Alert): boolean => status === 'new' || status === 'in_progress';

const addresses = ({ src_ip, dst_ip }: Alert): string[] => [
  ...new Set([src_ip, dst_ip].filter((ip) => ip !== undefined)),
];

const keysOf = (id: string, alert: Alert): Key[] =>
  isOpen(alert) ? addresses(alert).map((ip) => [ip, 100 - (alert.risk_score ?? 0), id]) : [];

/**
 * The alerts that are new or in progress, by the addresses of their ends; and what they mean for the assets that have
 * these addresses. The index changes with the alerts, in their transaction. Assets are told when they are written: up
 * to which change of alerts they know theirs is committed with them, and what came after is told again.
 */
export class OpenAlerts {
  /** Addresses and assets whose alerts are to be counted anew. */
  readonly #dueAddresses = new Set<string>();
  readonly #dueAssets = new Set<string>();
  /** False while there is no alert in the index: then nothing of it follows from an address that moves. */
  #any = true;
  /** How often the alerts of an asset were too many to be told apart, since this was opened. */
  estimated = 0;
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  get due(): number {
    return this.#dueAddresses.size + this.#dueAssets.size;
  }

  /** An alert was stored. Within its transaction. */
  saved(before: AlertRow | undefined, { id, alert }: AlertRow): void {
    const { openAlerts } = this.#tables;
    const time = Date.parse(alert.last_seen);
    const old = before === undefined ? [] : keysOf(id, before.alert);
    const keys = keysOf(id, alert);
    if (old.length === 0 && keys.length === 0) return;
    const same = old[0]?.[1] === keys[0]?.[1] && before?.alert.last_seen === alert.last_seen;
    if (same) return;
    for (const key of old) openAlerts.removeSync(key);
    for (const key of keys) openAlerts.putSync(key, time);
    this.#any ||= keys.length > 0;
    for (const ip of addresses(alert)) this.#dueAddresses.add(ip);
  }

  /** Other assets have an address than before. */
  addressMoved(ip: string): void {
    if (this.#any) this.#dueAddresses.add(ip);
  }

  /** What alerts mean for an asset has changed, whatever the alerts. */
  assetChanged(id: string): void {
    this.#dueAssets.add(id);
  }

  /** Assets learn of their alerts. Within a transaction, before their rows are written. */
  settle(assets: Assets): void {
    for (const ip of this.#dueAddresses)
      for (const { asset_id } of assets.bindings.owners(ip)) this.#dueAssets.add(asset_id);
    for (const id of this.#dueAssets) this.#count(assets, id);
    this.#dueAddresses.clear();
    this.#dueAssets.clear();
    const { assetCounters, alertLog } = this.#tables;
    const seq = lastSequence(alertLog);
    if (assetCounters.get('alerts') !== seq) assetCounters.putSync('alerts', seq);
  }

  /** Drops what memory holds, and finds anew which alerts assets have not learnt of. */
  forget(): void {
    const { alertLog, alerts, assetCounters } = this.#tables;
    this.#dueAddresses.clear();
    this.#dueAssets.clear();
    this.#any = entryCount(this.#tables.openAlerts) > 0;
    const start = assetCounters.get('alerts') ?? 0;
    for (const { value: id } of alertLog.getRange({ start, exclusiveStart: true }))
      for (const ip of addresses(alerts.get(id)!.alert)) this.#dueAddresses.add(ip);
  }

  /** Makes the index where there is none: a file from before there was one. Within a transaction. */
  complete(): void {
    const { assetCounters, openAlerts, alerts } = this.#tables;
    if (assetCounters.get('alerts') === undefined) {
      openAlerts.clearSync();
      for (const { value: row } of alerts.getRange())
        for (const key of keysOf(row.id, row.alert)) openAlerts.putSync(key, Date.parse(row.alert.last_seen));
      assetCounters.putSync('alerts', 0);
    }
    this.forget();
  }

  #count(assets: Assets, id: string): void {
    const asset = assets.rows.get(id);
    if (asset === undefined) return;
    const { count, scores } = this.#alertsOf(assets, id);
    const risk = assetRisk(scores, asset.criticality);
    if (asset.openAlerts === count && asset.risk === risk) return;
    asset.openAlerts = count;
    asset.risk = risk;
    assets.rows.put(id, asset);
  }

  /** How many alerts an asset has, and the risk scores of the gravest. */
  #alertsOf(assets: Assets, id: string): { count: number; scores: number[] } {
    const { openAlerts } = this.#tables;
    const ips = assets.bindings.addressesOf(id);
    const [only] = ips;
    if (only === undefined) return { count: 0, scores: [] };
    if (ips.length === 1 && always(assets.bindings.owners(only))) {
      const keys = openAlerts.getKeys({ ...range(only), limit: countedAlerts });
      const scores = Array.from(keys, ([, complement]) => 100 - complement);
      if (scores.length < countedAlerts) return { count: scores.length, scores };
      return { count: openAlerts.getKeysCount(range(only)), scores };
    }
    const scores = new Map<string, number>();
    let uncounted = 0;
    for (const ip of ips) {
      const spans = assets.bindings.owners(ip).filter(({ asset_id }) => asset_id === id);
      let read = 0;
      for (const { key, value: time } of openAlerts.getRange(range(ip))) {
        if (scores.size >= limits.maxCountedAlerts) {
          uncounted += openAlerts.getKeysCount(range(ip)) - read;
          break;
        }
        read++;
        if (spans.some(({ from, to }) => from <= time && time < to)) scores.set(key[2], 100 - key[1]);
      }
    }
    if (uncounted > 0) this.estimated++;
    const gravest = [...scores.values()].sort((a, b) => b - a).slice(0, countedAlerts);
    return { count: scores.size + uncounted, scores: gravest };
  }
}

const always = (owners: readonly { readonly from: number; readonly to: number }[]): boolean =>
  owners.length === 1 && owners[0]!.to === Number.POSITIVE_INFINITY;

/** The keys of an address, in order of risk. */
const range = (ip: string) => within<number>(ip) as unknown as { start: Key; end: Key };

import type { AlertRow, AlertTables } from '../../alerts/store/tables.ts';
import { entryCount, lastSequence } from '../../database/rows.ts';
import type { AddressSpan } from '../../events/asset-lookup.ts';
import { limits } from '../../limits.ts';
import { combine, evidenceAt, fallsAt, probabilityOf, scoreOf } from '../model/asset-risk.ts';
import {
  type AlertEntry,
  addressesOf,
  alertsOf,
  as,
  entriesAt,
  type IndexedAlert,
  indexed,
  nowhere,
} from './alert-entries.ts';
import type { Assets } from './assets.ts';
import type { Bindings } from './bindings.ts';
import { forgetRisk, recordRisk } from './risk-history.ts';
import type { InventoryTables } from './tables.ts';

/**
 * The risk score of an asset, and the time (epoch milliseconds) when the score will fall. The score is above 0;
 * other assets have no row.
 */
export type AssetRisk = readonly [score: number, fallsAt: number];

/**
 * The alerts that are open or contribute to risk, indexed by their source and destination addresses, and their effect
 * on the assets with these addresses. The index changes with the alerts, in their transaction. Assets are updated when
 * assets are written. The sequence of the last alert change that the assets include is committed with the assets, so
 * that later changes are applied again after a crash.
 *
 * As alerts age, risk scores fall, each at a time that is known when the score is computed. Therefore, no updates
 * are needed before the first of these times, and then only for the assets whose scores fall at that time:
 *
 * ```
 *   riskFalls    10:02 asset 7   10:02 asset 9   14:40 asset 3     `fall`, at 10:02: recomputes 7 and 9,
 *   riskRanks    99 asset 3      68 asset 7      47 asset 9        which get scores that fall later
 * ```
 */
export class OpenAlerts {
  /** Addresses whose alerts must be recounted. */
  readonly #dueAddresses = new Set<string>();
  /** Assets whose alerts must be recounted. */
  readonly #dueAssets = new Set<string>();
  /** Alerts that may belong to no asset, by id. */
  readonly #dueAlerts = new Map<string, IndexedAlert>();
  /** Addresses whose owners changed. */
  readonly #movedAddresses = new Set<string>();
  /** Whether the index may have entries. While the index is empty, a moved address has no effect. */
  #any = true;
  /** Number of times since the start that an asset had too many alerts to count exactly. */
  estimated = 0;
  readonly #tables: InventoryTables & AlertTables;
  readonly #now: () => number;

  /** @param now - returns epoch milliseconds */
  constructor(tables: InventoryTables & AlertTables, now: () => number) {
    this.#tables = tables;
    this.#now = now;
  }

  get due(): number {
    return this.#dueAddresses.size + this.#dueAssets.size + this.#dueAlerts.size + this.#movedAddresses.size;
  }

  /** Indexes a stored alert. Runs within the alert's transaction. */
  saved(before: AlertRow | undefined, { id, alert }: AlertRow): void {
    const { openAlerts } = this.#tables;
    const old = before === undefined ? undefined : indexed(id, before.alert);
    const next = indexed(id, alert);
    const isSamePlace = `${old?.ips}` === `${next?.ips}`;
    if (isSamePlace && old?.as === next?.as && old?.order === next?.order && old?.time === next?.time) return;
    if (old !== undefined)
      for (const place of [...old.ips, nowhere]) openAlerts.removeSync([place, old.as, old.order, id]);
    if (next !== undefined) this.#put(next);
    if (next === undefined) this.#dueAlerts.delete(id);
    else this.#dueAlerts.set(id, next);
    for (const ip of [...addressesOf(alert), ...(old?.ips ?? [])]) this.#dueAddresses.add(ip);
  }

  /** Marks an address whose owners changed, and the asset that lost the address. */
  addressMoved(ip: string, from?: string): void {
    if (!this.#any) return;
    this.#movedAddresses.add(ip);
    if (from !== undefined) this.#dueAssets.add(from);
  }

  /** Marks an asset for which the effect of alerts changed, or an asset that was removed. */
  assetChanged(id: string): void {
    this.#dueAssets.add(id);
  }

  /** Time when the next risk score falls, in epoch milliseconds; undefined if no asset is at risk. */
  get nextFall(): number | undefined {
    for (const [time] of this.#tables.riskFalls.getKeys({ limit: 1 })) return time;
    return undefined;
  }

  /**
   * Marks at most `limits.riskFallsPerStep` assets whose scores have fallen by now. Runs within a transaction, before
   * rows are written.
   */
  fall(): void {
    const end = [this.#now() + 1] as unknown as [number, string];
    for (const key of [...this.#tables.riskFalls.getKeys({ end, limit: limits.riskFallsPerStep })]) {
      this.#dueAssets.add(key[1]);
      // This removes the key even if the row that refers to the time is damaged.
      this.#tables.riskFalls.removeSync(key);
    }
  }

  /** Applies alerts to assets. Runs within a transaction, before the rows of assets are written. */
  settle(assets: Assets): void {
    for (const ip of this.#movedAddresses) this.#moved(ip, assets.bindings);
    for (const ip of this.#dueAddresses)
      for (const { asset_id } of assets.bindings.owners(ip)) this.#dueAssets.add(asset_id);
    for (const alert of this.#dueAlerts.values()) this.#place(alert, assets.bindings);
    for (const id of this.#dueAssets) this.#count(assets, id);
    this.#clear();
    const { assetCounters, alertLog } = this.#tables;
    const seq = lastSequence(alertLog);
    if (assetCounters.get('risks') !== seq) assetCounters.putSync('risks', seq);
  }

  /** Drops in-memory state, and finds the alerts that were not applied to assets yet. */
  forget(): void {
    const { alertLog, alerts, assetCounters } = this.#tables;
    this.#clear();
    this.#any = entryCount(this.#tables.openAlerts) > 0;
    const start = assetCounters.get('risks') ?? 0;
    for (const { value: id } of alertLog.getRange({ start, exclusiveStart: true })) {
      const alert = alerts.get(id)?.alert;
      if (alert === undefined) continue;
      const entry = indexed(id, alert);
      if (entry !== undefined) this.#dueAlerts.set(id, entry);
      for (const ip of addressesOf(alert)) this.#dueAddresses.add(ip);
    }
  }

  /** Builds the index for a file without an index. Runs within a transaction. */
  complete(): void {
    const { assetCounters, openAlerts, alerts, assetRisks, riskRanks, riskFalls } = this.#tables;
    if (assetCounters.get('risks') === undefined) {
      for (const table of [openAlerts, assetRisks, riskRanks, riskFalls]) table.clearSync();
      for (const { value: row } of alerts.getRange()) {
        const entry = indexed(row.id, row.alert);
        if (entry !== undefined) this.#put(entry);
      }
      assetCounters.putSync('risks', 0);
    }
    this.forget();
  }

  #clear(): void {
    this.#dueAddresses.clear();
    this.#dueAssets.clear();
    this.#dueAlerts.clear();
    this.#movedAddresses.clear();
  }

  #put({ id, as: counts, order, time, score, ips }: IndexedAlert): void {
    for (const [i, ip] of ips.entries())
      this.#tables.openAlerts.putSync([ip, counts, order, id], [time, ips[1 - i] ?? '', score]);
    this.#any = true;
  }

  /**
   * Finds the alerts of a moved address, because a move can change whether these alerts belong to an asset. Most
   * addresses have no alerts.
   */
  #moved(ip: string, bindings: Bindings): void {
    const range = { ...entriesAt(ip), limit: limits.maxCountedAlerts };
    const entries = Array.from(this.#tables.openAlerts.getRange(range));
    if (entries.length > 0) this.#dueAddresses.add(ip);
    for (const { key, value } of entries) {
      const [, counts, order, id] = key;
      const [time, other, score] = value;
      this.#place({ id, as: counts, order, time, score, ips: other === '' ? [ip] : [ip, other] }, bindings);
    }
  }

  /** Puts an alert that contributes to risk at `nowhere` if no asset had one of its addresses at the time. */
  #place({ id, as: counts, order, time, score, ips }: IndexedAlert, bindings: Bindings): void {
    if (counts === as.dismissed) return;
    const { openAlerts } = this.#tables;
    const entry: AlertEntry = [time, '', score];
    if (ips.some((ip) => bindings.at(ip, time) !== undefined)) openAlerts.removeSync([nowhere, counts, order, id]);
    else openAlerts.putSync([nowhere, counts, order, id], entry);
  }

  #count(assets: Assets, id: string): void {
    const asset = assets.rows.get(id);
    if (asset === undefined) {
      this.#rank(id, 0, undefined);
      forgetRisk(this.#tables.riskHistory, id);
      return;
    }
    const { open, gravest, estimated } = alertsOf(this.#tables.openAlerts, spansOf(assets.bindings, id));
    if (estimated) this.estimated++;
    const now = this.#now();
    const { evidence } = combine(gravest.map((alert) => evidenceAt(alert, now)));
    const risk = scoreOf(probabilityOf(evidence, asset.criticality));
    if (asset.risk > 0 || risk > 0) this.#rank(id, risk, fallsAt(evidence, asset.criticality, now));
    if (asset.openAlerts === open && asset.risk === risk) return;
    if (asset.risk !== risk) recordRisk(this.#tables.riskHistory, id, asset.risk, risk, now);
    asset.openAlerts = open;
    asset.risk = risk;
    assets.rows.put(id, asset);
  }

  /** Updates the rank of an asset among the assets at risk, and the time when its score must be recomputed. */
  #rank(id: string, score: number, falls: number | undefined): void {
    const { assetRisks, riskRanks, riskFalls } = this.#tables;
    const known = assetRisks.get(id);
    if (known === undefined && assetRisks.doesExist(id))
      for (const ranks of [riskRanks, riskFalls])
        for (const key of [...ranks.getKeys()]) if (key[1] === id) ranks.removeSync(key);
    if (known?.[0] === score && known[1] === falls) return;
    if (known !== undefined) {
      riskRanks.removeSync([100 - known[0], id]);
      riskFalls.removeSync([known[1], id]);
    }
    if (falls === undefined) {
      if (known !== undefined) assetRisks.removeSync(id);
      return;
    }
    assetRisks.putSync(id, [score, falls]);
    riskRanks.putSync([100 - score, id], true);
    riskFalls.putSync([falls, id], true);
  }
}

/** Returns the current and earlier addresses of an asset, with their time spans. */
function spansOf(bindings: Bindings, id: string): AddressSpan[] {
  return bindings.addressesOf(id).flatMap((ip) =>
    bindings
      .owners(ip)
      .filter(({ asset_id }) => asset_id === id)
      .map(({ from, to }) => ({ ip, from, to })),
  );
}

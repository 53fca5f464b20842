import type { AssetHistory } from '../../contract/resources/asset.ts';
import { within } from '../../database/grouped-rows.ts';
import { slackOf, trimHistory } from '../../database/trim-history.ts';
import { limits } from '../../limits.ts';
import type { Actor } from '../../store/store.ts';
import { uuid7 } from '../../uuid.ts';
import type { AssetState } from './asset-state.ts';
import type { InventoryTables } from './tables.ts';

export type By = AssetHistory['by'];

export type HistoryRecord = Omit<AssetHistory, 'asset_id' | 'at'>;

/** A stored history record: its time in epoch milliseconds, its id, and the change. */
export type HistoryRow = readonly [atMs: number, id: string, record: HistoryRecord];

export const network: By = { kind: 'network' };
export const person = ({ id, name }: Actor): By => ({ kind: 'principal', id, name });
export const scan = (id: string): By => ({ kind: 'scan', id });

const slack = slackOf(limits.maxAssetHistory);

/** The history of each asset. Records are numbered and held in memory until `write`. */
export class History {
  /** Number of records removed since the start to make room for newer ones. */
  removed = 0;
  #waiting: { readonly asset: AssetState; readonly n: number; readonly row: HistoryRow }[] = [];
  readonly #table: InventoryTables['assetHistory'];

  readonly #now: () => number;

  constructor(tables: InventoryTables, now: () => number) {
    this.#table = tables.assetHistory;
    this.#now = now;
  }

  get dirty(): number {
    return this.#waiting.length;
  }

  /** Adds a record. The record changes the asset's counters, so callers must also write the asset's row. */
  add(asset: AssetState, atMs: number, record: HistoryRecord): void {
    this.#wait(asset, [atMs, uuid7(this.#now()), record]);
  }

  /**
   * Returns the time when the asset first got this IP or MAC address, according to the history; undefined if
   * never.
   */
  firstBound(asset: AssetState, identifier: string): number | undefined {
    let first: number | undefined;
    const read = ([atMs, , { ip_address, mac_address, action }]: HistoryRow) => {
      const isBound = action === 'address_bound' || action === 'mac_bound';
      if (isBound && (ip_address ?? mac_address) === identifier) first = Math.min(first ?? atMs, atMs);
    };
    for (const { value } of this.#table.getRange(within<number>(asset.id))) read(value);
    for (const waiting of this.#waiting) if (waiting.asset === asset) read(waiting.row);
    return first;
  }

  /**
   * Returns a function that tests whether users confirmed an address when they last set addresses of the asset,
   * merged another asset into the asset, or split the asset. Confirmed addresses are not moved automatically.
   */
  confirmed(asset: AssetState): (ip: string) => boolean {
    let isConfirmed = false;
    const joined = new Set<string>();
    const read = ([, , { action, by, ip_address }]: HistoryRow) => {
      const isBound = action === 'address_bound';
      if (by.kind === 'principal' && (isBound || action === 'merged' || action === 'split')) {
        isConfirmed = true;
        joined.clear();
      } else if (isBound && ip_address !== undefined) joined.add(ip_address);
    };
    for (const { value } of this.#table.getRange(within<number>(asset.id))) read(value);
    for (const waiting of this.#waiting) if (waiting.asset === asset) read(waiting.row);
    return (ip) => isConfirmed && !joined.has(ip);
  }

  /**
   * Moves all records of an asset to another asset, where they get new numbers. Runs within a transaction.
   */
  move(from: AssetState, into: AssetState): void {
    for (const { key, value } of [...this.#table.getRange(within<number>(from.id))]) {
      this.#table.removeSync(key);
      this.#wait(into, value);
    }
    const waiting = this.#waiting;
    this.#waiting = waiting.filter(({ asset }) => asset !== from);
    for (const { asset, row } of waiting) if (asset === from) this.#wait(into, row);
  }

  /** Removes all records of an asset. Runs within a transaction. */
  removeOf(asset: AssetState): void {
    for (const key of [...this.#table.getKeys(within<number>(asset.id))]) this.#table.removeSync(key);
    this.#waiting = this.#waiting.filter((each) => each.asset !== asset);
  }

  /** Writes the records. Runs within a transaction, before the rows of assets are written. */
  write(): void {
    const full = new Set<AssetState>();
    for (const { asset, n, row } of this.#waiting) {
      this.#table.putSync([asset.id, n], row);
      if (asset.records > limits.maxAssetHistory + slack) full.add(asset);
    }
    this.#waiting = [];
    for (const asset of full) this.#trim(asset);
  }

  forget(): void {
    this.#waiting = [];
  }

  #wait(asset: AssetState, row: HistoryRow): void {
    this.#waiting.push({ asset, n: asset.nextRecord++, row });
    asset.records++;
  }

  #trim(asset: AssetState): void {
    const isByPerson = ([, , { by }]: HistoryRow) => by.kind === 'principal';
    const { removed, left } = trimHistory(this.#table, asset.id, limits.maxAssetHistory, isByPerson);
    this.removed += removed;
    asset.records = left;
  }
}

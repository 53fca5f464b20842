import { CachedRows } from '../../database/cached-rows.ts';
import { within } from '../../database/grouped-rows.ts';
import { type LimitName, limits } from '../../limits.ts';
import { uuid7 } from '../../uuid.ts';
import type { Binding } from '../model/identity.ts';
import { type AssetRow, unseen } from './asset-row.ts';
import { type AssetState, assetCodec, newAsset } from './asset-state.ts';
import { Bindings } from './bindings.ts';
import { type By, History, type HistoryRecord, network } from './history.ts';
import { LastSeenJournal } from './last-seen-journal.ts';
import type { ServicesPart } from './parts.ts';
import type { InventoryTables } from './tables.ts';

/** The way in which a host was seen, and the author of the resulting history records. */
export interface Source {
  readonly source: AssetState['source'];
  readonly by: By;
}
export const passive: Source = { source: 'passive', by: network };

/** The assets, their addresses and their history, in the memory of the store thread. */
export class KnownAssets {
  readonly rows: CachedRows<string, AssetState, AssetRow>;
  readonly bindings: Bindings;
  readonly history: History;
  readonly stillThere: LastSeenJournal;
  readonly tables: InventoryTables;
  readonly services: ServicesPart;
  /** Returns the time in epoch milliseconds. */
  readonly now: () => number;
  readonly #reached: Partial<Record<LimitName, number>> = {};

  constructor(tables: InventoryTables, services: ServicesPart, now: () => number) {
    this.tables = tables;
    this.services = services;
    this.now = now;
    this.rows = new CachedRows(tables.assets, limits.maxCachedAssetRows, assetCodec);
    this.stillThere = new LastSeenJournal(tables);
    this.bindings = new Bindings(tables, this.stillThere);
    this.history = new History(tables, now);
  }

  get count(): number {
    return this.rows.count;
  }

  /** Number of times since the start that data was dropped, by limit. */
  get reached(): Readonly<Partial<Record<LimitName, number>>> {
    return { ...this.#reached, ...this.bindings.reached, maxAssetHistory: this.history.removed };
  }

  /** Returns an asset to which bindings refer. If its row is damaged, the asset is rebuilt under its id. */
  require(id: string): AssetState {
    const asset = this.rows.get(id);
    if (asset !== undefined) return asset;
    if (!this.tables.assets.doesExist(id)) throw new Error(`an address belongs to asset ${id}, which is missing`);
    const isCurrent = (binding: Binding | undefined) => binding?.asset_id === id && binding.until === undefined;
    const ips = this.bindings.addressesOf(id).filter((ip) => isCurrent(this.bindings.latest(ip)));
    const { source } = passive;
    const again = newAsset(id, { source, state: 'staged', origin: ips[0] ?? '' });
    const services = this.tables.serviceKeys.getKeysCount(within<never>(id) as never);
    const kept = [...this.tables.assetHistory.getKeys(within<number>(id))];
    const records = { records: kept.length, nextRecord: (kept.at(-1)?.[1] ?? -1) + 1 };
    Object.assign(again, { ips, services, ...records });
    this.rows.put(id, again);
    return again;
  }

  /** Creates an empty staged asset; returns undefined at limits.maxAssets. */
  create(origin: string, { source, by }: Source, at: number): AssetState | undefined {
    if (this.count >= limits.maxAssets) return undefined;
    const asset = newAsset(uuid7(this.now()), { source, state: 'staged', origin });
    this.services.isNew(asset.id);
    this.note(asset, at, { action: 'created', by });
    return asset;
  }

  note(asset: AssetState, atMs: number, record: HistoryRecord): void {
    this.history.add(asset, atMs, record);
    this.rows.put(asset.id, asset);
  }

  /** Records that the asset was seen from `first` to `last`. */
  noteSeen(asset: AssetState, first: number, last: number, by: By): AssetState {
    if (asset.first === unseen || first < asset.first) asset.first = first;
    if (last > asset.last) asset.last = last;
    if (asset.state === 'retired' && !asset.seenRetired && last > asset.retiredAt) {
      asset.seenRetired = true;
      this.note(asset, last, { action: 'seen_again', by, state: 'retired' });
    }
    this.rows.put(asset.id, asset);
    return asset;
  }

  /** Counts data that was dropped because of a limit. */
  leftOut(limit: LimitName): undefined {
    this.#reached[limit] = (this.#reached[limit] ?? 0) + 1;
  }
}

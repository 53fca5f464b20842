import { maxLineLength } from '../../contract/vocabulary.ts';
import type { CachedRows } from '../../database/cached-rows.ts';
import { type LimitName, limits } from '../../limits.ts';
import { hostName } from '../../net/host-name.ts';
import type { ScannedHost } from '../../store/store.ts';
import { withName } from '../model/names.ts';
import { printable } from '../model/printable.ts';
import type { HostSeen } from '../model/seen.ts';
import { AssetAddresses } from './asset-addresses.ts';
import type { AssetRow } from './asset-row.ts';
import { type AssetState, hostnamesOf } from './asset-state.ts';
import type { Bindings } from './bindings.ts';
import { Gateways } from './gateways.ts';
import { type By, type History, network, scan } from './history.ts';
import { KnownAssets, passive } from './known-assets.ts';
import type { OpenAlerts } from './open-alerts.ts';
import type { AssetsPart, HostSighting, ServicesPart } from './parts.ts';
import { SeenHosts } from './seen-hosts.ts';
import type { InventoryTables } from './tables.ts';

/**
 * The assets of the home networks, in the memory of the store thread, as learned from the network. Changes by
 * users are implemented in `asset-change.ts` and `asset-merge.ts`.
 */
export class Assets implements AssetsPart {
  readonly rows: CachedRows<string, AssetState, AssetRow>;
  readonly bindings: Bindings;
  readonly history: History;
  readonly tables: InventoryTables;
  readonly addresses: AssetAddresses;
  readonly #known: KnownAssets;
  readonly #gateways: Gateways;
  readonly #seen: SeenHosts;
  readonly #openAlerts: OpenAlerts;

  constructor(tables: InventoryTables, services: ServicesPart, openAlerts: OpenAlerts, now: () => number) {
    this.#known = new KnownAssets(tables, services, now);
    this.addresses = new AssetAddresses(this.#known);
    this.#gateways = new Gateways(this.#known, this.addresses);
    this.#seen = new SeenHosts(this.#known, this.addresses, this.#gateways);
    this.tables = tables;
    this.rows = this.#known.rows;
    this.bindings = this.#known.bindings;
    this.history = this.#known.history;
    this.#openAlerts = openAlerts;
    this.bindings.onMoved = (ip, from) => openAlerts.addressMoved(ip, from);
  }

  /**
   * Called when rows were written during processing. The remaining changes must then be written in the same
   * transaction.
   */
  set onPartWritten(written: () => void) {
    this.#gateways.onServicesMoved = written;
    this.#seen.onHistoryMoved = written;
  }

  get dirty(): number {
    const settled = 2 * Math.min(this.#known.stillThere.count, limits.settledHostsPerWrite);
    return this.rows.dirty + this.bindings.dirty + this.history.dirty + this.#openAlerts.due + settled;
  }

  get count(): number {
    return this.#known.count;
  }

  get reached(): Readonly<Partial<Record<LimitName, number>>> {
    return { ...this.#known.reached, maxCountedAlerts: this.#openAlerts.estimated };
  }

  hostSeen(host: HostSeen): string | undefined {
    return this.#seen.hostSeen(host);
  }

  gatewaySeen(mac: string): void {
    this.#gateways.seen(mac);
  }

  sight(sighting: HostSighting): void {
    const { at } = sighting;
    switch (sighting.kind) {
      case 'host': {
        const { ip, mac } = sighting;
        if (ip !== undefined)
          this.#seen.seen({ ip, first: at, last: at, began: at, ...(mac === undefined ? {} : { mac }) }, passive);
        else if (mac !== undefined) this.#seen.macSeen(mac, at);
        return;
      }
      case 'name': {
        const asset = this.#assetOf(sighting);
        const of = this.addresses.identifying(sighting.mac) ?? sighting.ip;
        if (asset !== undefined)
          addName(this.#known, asset, { ...sighting, ...(of === undefined ? {} : { of }) }, network);
        return;
      }
      case 'system': {
        const asset = this.#assetOf(sighting);
        if (asset !== undefined) learnSystem(this.#known, asset, sighting.os);
        return;
      }
      case 'proxy': {
        const asset = this.#assetOf(sighting);
        if (asset === undefined || asset.isProxy) return;
        asset.isProxy = true;
        this.#known.rows.put(asset.id, asset);
        return;
      }
    }
  }

  /**
   * Records a scanned host: creates an asset with source `scan` unless the host is known. Returns undefined
   * if the evidence is ignored, or at a limit.
   */
  scanned(
    host: Pick<ScannedHost, 'ip' | 'at' | 'hostnames' | 'mac' | 'os'> & {
      readonly certificate_names?: readonly string[];
    },
    scanId: string,
  ): { readonly asset_id: string; readonly created: boolean } | undefined {
    const { ip, at, hostnames, os, mac, certificate_names = [] } = host;
    const by = scan(scanId);
    const before = this.count;
    const seen = { ip, first: at, last: at, began: at, ...(mac === undefined ? {} : { mac }) };
    const asset = this.#seen.seen(seen, { source: 'scan', by });
    if (asset === undefined) return undefined;
    for (const name of hostnames) addName(this.#known, asset, { name, from: 'dns', of: ip, at }, by);
    for (const name of certificate_names) addName(this.#known, asset, { name, from: 'tls', of: ip, at }, by);
    if (os !== undefined) learnSystem(this.#known, asset, os);
    return { asset_id: asset.id, created: this.count > before };
  }

  assetAt(ip: string, time: number): string | undefined {
    return this.bindings.at(ip, time)?.asset_id;
  }

  serviceCountChanged(assetId: string, by: number): void {
    const asset = this.rows.get(assetId);
    if (asset === undefined) return;
    asset.services = Math.max(0, asset.services + by);
    this.rows.put(assetId, asset);
  }

  /** Creates an empty staged asset; returns undefined at limits.maxAssets. */
  create(...given: Parameters<KnownAssets['create']>): AssetState | undefined {
    return this.#known.create(...given);
  }

  note(...given: Parameters<KnownAssets['note']>): void {
    this.#known.note(...given);
  }

  write(): void {
    this.#openAlerts.settle(this);
    this.#settle(limits.settledHostsPerWrite);
    this.history.write();
    this.rows.write();
    this.bindings.write();
    this.#known.stillThere.write();
  }

  /**
   * Called before a user's change: completes rows from memory, and invalidates the fast path for unchanged
   * hosts.
   */
  settleAll(): void {
    this.bindings.stir();
    this.#settle(Number.POSITIVE_INFINITY);
  }

  forget(): void {
    this.#seen.forget();
    this.#known.stillThere.forget();
    this.rows.forget();
    this.bindings.forget();
    this.history.forget();
    this.#openAlerts.forget();
  }

  #settle(hosts: number): void {
    for (const [ip, id, last] of this.#known.stillThere.take(hosts)) {
      this.bindings.settle(ip, id, last);
      const asset = this.rows.get(id);
      if (asset === undefined) continue;
      asset.last = Math.max(asset.last, last);
      this.rows.put(id, asset);
    }
  }

  #assetOf({ ip, mac, at }: { ip?: string; mac?: string; at: number }): AssetState | undefined {
    const known = this.addresses.identifying(mac);
    const owner = known === undefined ? undefined : this.addresses.macOwner(known);
    if (owner !== undefined && owner !== 'unowned') return this.#known.require(owner.asset_id);
    const id = ip === undefined ? undefined : this.assetAt(ip, at);
    return id === undefined ? undefined : this.#known.require(id);
  }
}

/** Adds a name that the network reported for an asset. */
function addName(known: KnownAssets, asset: AssetState, heard: Parameters<typeof withName>[1], by: By): void {
  const name = hostName(heard.name);
  if (name === undefined) return;
  const names = withName(asset.heard, { ...heard, name });
  const isNew = !asset.heard.some((each) => each.name === name);
  if (isNew && names.length === asset.heard.length) known.leftOut('maxHeardNames');
  if (names === asset.heard) return;
  asset.heard = names;
  known.rows.put(asset.id, asset);
  if (isNew && asset.hostnames === undefined && hostnamesOf(asset).includes(name))
    known.note(asset, heard.at, { action: 'hostname_added', by, hostname: name });
}

/** Sets the operating system that the network reports, unless a user set one. */
function learnSystem(known: KnownAssets, asset: AssetState, os: string): void {
  const text = printable(os, maxLineLength);
  if (text === undefined || asset.os === text || asset.set.includes('os')) return;
  asset.os = text;
  known.rows.put(asset.id, asset);
}

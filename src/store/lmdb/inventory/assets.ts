import { type Binding, decide, identifies } from '../../../inventory/identity.ts';
import { hostName, withName } from '../../../inventory/names.ts';
import type { HostSeen } from '../../../inventory/seen.ts';
import { type LimitName, limits } from '../../../limits.ts';
import { uuid7 } from '../../../uuid.ts';
import type { AssetRow } from '../../asset-row.ts';
import type { ScannedHost } from '../../store.ts';
import type { Tables } from '../tables.ts';
import { type AssetState, assetCodec, hostnamesOf, newAsset } from './asset-state.ts';
import { Bindings } from './bindings.ts';
import { CachedRows } from './cached-rows.ts';
import { type By, History, type HistoryRecord, network, scan } from './history.ts';
import type { OpenAlerts } from './open-alerts.ts';
import type { AssetsPart, HostSighting, ServicesPart } from './parts.ts';

/** Addresses of one MAC address within this time make it a gateway's. */
const gatewayWindowMs = 3_600_000;

/** What was seen, and who says so. */
export interface Source {
  readonly source: AssetState['source'];
  readonly by: By;
}
const passive: Source = { source: 'passive', by: network };

/**
 * The machines of the home networks, in the memory of the thread that writes: what the network shows of them.
 * `asset-change.ts` and `asset-merge.ts` are what people do to them.
 */
export class Assets implements AssetsPart {
  readonly rows: CachedRows<string, AssetState, AssetRow>;
  readonly bindings: Bindings;
  readonly history: History;
  readonly tables: Tables;
  /** Told when services were moved, which writes them: the rest is to be written in this transaction, too. */
  onServicesMoved: () => void = () => {};
  readonly #services: ServicesPart;
  readonly #openAlerts: OpenAlerts;
  readonly #stillThere: StillThere;
  readonly now: () => number;
  readonly #reached: Partial<Record<LimitName, number>> = {};

  constructor(tables: Tables, services: ServicesPart, openAlerts: OpenAlerts, now: () => number) {
    this.tables = tables;
    this.#services = services;
    this.rows = new CachedRows(tables.assets, limits.maxCachedAssetRows, assetCodec);
    this.#stillThere = new StillThere(tables);
    this.bindings = new Bindings(tables, this.#stillThere);
    this.bindings.onMoved = (ip) => openAlerts.addressMoved(ip);
    this.history = new History(tables, now);
    this.#openAlerts = openAlerts;
    this.now = now;
  }

  get dirty(): number {
    return this.rows.dirty + this.bindings.dirty + this.history.dirty + this.#openAlerts.due;
  }

  /** Hosts that were seen again and wait for their rows to be written, and those that no journal has yet. */
  get waiting(): number {
    return this.#stillThere.count;
  }
  get unwritten(): number {
    return this.#stillThere.unwritten;
  }

  get count(): number {
    return this.rows.count;
  }

  get reached(): Readonly<Partial<Record<LimitName, number>>> {
    return { ...this.#reached, ...this.bindings.reached };
  }

  hostSeen(host: HostSeen): string | undefined {
    const { ip, first, last, mac } = host;
    const isPast = last <= this.now() + limits.maxClockLeadMs;
    const same =
      isPast && this.#identifying(mac) === undefined ? this.bindings.sameAgain(ip, first, last) : undefined;
    return same ?? this.seen(host, passive)?.id;
  }

  /** The asset that was seen, with what this changes of whose the address is. */
  seen(host: HostSeen, from: Source): AssetState | undefined {
    const { bindings } = this;
    const { ip, mac: seenMac } = host;
    // A clock that is ahead would keep the address from all who come after.
    const last = Math.min(host.last, this.now() + limits.maxClockLeadMs);
    const first = Math.min(host.first, last);
    const mac = this.#identifying(seenMac);
    const inForce = bindings.at(ip, last);
    const owner = inForce && this.require(inForce.asset_id);
    const decision = decide(
      { first, last },
      {
        latest: bindings.latest(ip),
        inForce,
        mac: mac === undefined ? undefined : this.#macOwner(mac),
        ownerHasNoMac: owner?.macs.length === 0,
      },
    );
    switch (decision.kind) {
      case 'nobody':
        return undefined;
      case 'seen': {
        // What comes without a MAC address doesn't say that the machine with this one is still there.
        if (decision.extends && (mac !== undefined || inForce!.mac === undefined))
          bindings.extend(ip, inForce!, last);
        const asset = owner!.id === decision.asset_id ? owner! : this.require(decision.asset_id);
        if (mac !== undefined && decision.extends && inForce!.mac === undefined)
          this.#learnMac(ip, inForce!, mac);
        return this.#noteSeen(asset, host.first, host.last, from.by);
      }
      case 'adopt': {
        bindings.extend(ip, inForce!, last);
        const asset = this.require(decision.asset_id);
        if (this.bindMac(asset, mac!, first, from.by)) this.#learnMac(ip, inForce!, mac!);
        return this.#noteSeen(asset, host.first, host.last, from.by);
      }
      case 'bind': {
        const asset = this.require(decision.asset_id);
        const binding = { asset_id: asset.id, since: decision.since, last, mac };
        this.bindAddress(asset, ip, binding, from.by, Math.max(first, decision.since));
        this.#noteSeen(asset, host.first, host.last, from.by);
        if (mac === undefined || !this.#isCrowded(asset, mac, ip, last)) return asset;
        this.#becomeGateway(mac, last);
        return this.seen({ ip, first: host.first, last: host.last }, from);
      }
      case 'create': {
        const { since } = decision;
        if (since !== undefined && bindings.latest(ip) === undefined && !bindings.hasRoom)
          return this.#leftOut('maxAssetAddresses');
        const asset = this.create(ip, from, first);
        if (asset === undefined) return this.#leftOut('maxAssets');
        if (since !== undefined)
          this.bindAddress(
            asset,
            ip,
            { asset_id: asset.id, since, last, mac },
            from.by,
            Math.max(first, since),
          );
        if (mac !== undefined) this.bindMac(asset, mac, first, from.by);
        asset.version = 1;
        return this.#noteSeen(asset, host.first, host.last, from.by);
      }
    }
  }

  gatewaySeen(mac: string): void {
    if (!identifies(mac)) return;
    const known = this.bindings.mac(mac);
    if (known?.gateway) return;
    if (known === undefined && !this.bindings.hasRoomForMac) this.#leftOut('maxKnownMacs');
    else this.#becomeGateway(mac, undefined);
  }

  sight(sighting: HostSighting): void {
    const { at } = sighting;
    switch (sighting.kind) {
      case 'host': {
        const { ip, mac } = sighting;
        if (ip !== undefined)
          this.seen({ ip, first: at, last: at, ...(mac === undefined ? {} : { mac }) }, passive);
        else if (mac !== undefined) this.#macSeen(mac, at);
        return;
      }
      case 'name': {
        const asset = this.#assetOf(sighting);
        if (asset !== undefined) this.#addName(asset, sighting, network);
        return;
      }
      case 'system': {
        const asset = this.#assetOf(sighting);
        if (asset !== undefined) this.#learnSystem(asset, sighting.os);
        return;
      }
    }
  }

  /** What a scan found out about a host: an asset of source `scan`, unless it is known. Undefined at limits.maxAssets. */
  scanned(
    host: Pick<ScannedHost, 'ip' | 'at' | 'hostnames' | 'mac' | 'os'> & {
      readonly certificate_names?: readonly string[];
    },
    scanId: string,
  ): { readonly asset_id: string; readonly created: boolean } | undefined {
    const { ip, at, hostnames, os, mac, certificate_names = [] } = host;
    const by = scan(scanId);
    const before = this.count;
    const seen = { ip, first: at, last: at, ...(mac === undefined ? {} : { mac }) };
    const asset = this.seen(seen, { source: 'scan', by });
    if (asset === undefined) return undefined;
    for (const name of hostnames) this.#addName(asset, { name, from: 'dns', at }, by);
    for (const name of certificate_names) this.#addName(asset, { name, from: 'tls', at }, by);
    if (os !== undefined) this.#learnSystem(asset, os);
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

  write(): void {
    this.#openAlerts.settle(this);
    this.history.write();
    this.rows.write();
    this.bindings.write();
  }

  forget(): void {
    this.rows.forget();
    this.bindings.forget();
    this.history.forget();
    this.#openAlerts.forget();
  }

  /** An asset that bindings name. */
  require(id: string): AssetState {
    const asset = this.rows.get(id);
    if (asset === undefined) throw new Error(`an address is of asset ${id}, which is none`);
    return asset;
  }

  /** A new asset, staged, of nothing yet; undefined where there may be no more. */
  create(origin: string, { source, by }: Source, at: number): AssetState | undefined {
    if (this.count >= limits.maxAssets) return undefined;
    const asset = newAsset(uuid7(this.now()), { source, state: 'staged', origin });
    this.note(asset, at, { action: 'created', by });
    return asset;
  }

  /** A visible change: the next version, with its record. */
  changed(asset: AssetState, atMs: number, record: HistoryRecord): void {
    asset.version++;
    this.note(asset, atMs, record);
  }

  note(asset: AssetState, atMs: number, record: HistoryRecord): void {
    this.history.add(asset, atMs, record);
    this.rows.put(asset.id, asset);
  }

  /**
   * The address is the asset's from `since` on, as history says at `at`; whoever had it loses it. False where the asset
   * may have no more.
   */
  bindAddress(asset: AssetState, ip: string, binding: Binding, by: By, at: number): boolean {
    const { bindings } = this;
    // All that happened to it is that it was created: it had no address yet.
    const isNew = asset.nextRecord === 1;
    if (!isNew && !bindings.mayHave(asset.id, ip)) {
      this.#leftOut(bindings.hasRoom ? 'maxAddressesPerAsset' : 'maxAssetAddresses');
      return false;
    }
    const before = bindings.latest(ip);
    if (before !== undefined && before.asset_id !== asset.id && before.until === undefined)
      this.#dropAddress(this.require(before.asset_id), ip, at, by);
    bindings.bind(ip, binding, isNew);
    if (!asset.ips.includes(ip)) asset.ips.push(ip);
    this.changed(asset, at, { action: 'address_bound', by, ip_address: ip });
    if (asset.ips.length > limits.maxCurrentAddresses) this.#releaseOldest(asset, by);
    return true;
  }

  /** The address is the asset's no more, from a time on. */
  releaseAddress(asset: AssetState, ip: string, at: number, by: By, reason?: string): void {
    this.bindings.release(ip, at);
    this.#dropAddress(asset, ip, at, by, reason);
  }

  releaseMac(asset: AssetState, mac: string, at: number, by: By, reason?: string): void {
    asset.macs = asset.macs.filter((each) => each !== mac);
    for (const ip of asset.ips)
      if (this.bindings.latest(ip)?.mac === mac) this.bindings.setMac(ip, undefined);
    this.changed(asset, at, { action: 'mac_released', by, mac_address: mac, ...because(reason) });
  }

  #dropAddress(asset: AssetState, ip: string, at: number, by: By, reason?: string): void {
    asset.ips = asset.ips.filter((each) => each !== ip);
    this.changed(asset, at, { action: 'address_left', by, ip_address: ip, ...because(reason) });
  }

  #releaseOldest(asset: AssetState, by: By): void {
    const oldest = asset.ips.reduce((a, b) => (this.#lastOf(b) < this.#lastOf(a) ? b : a));
    this.releaseAddress(asset, oldest, this.#lastOf(oldest) + 1, by, 'more addresses than are kept');
    this.#leftOut('maxCurrentAddresses');
  }

  #lastOf(ip: string): number {
    return this.bindings.latest(ip)?.last ?? 0;
  }

  #identifying(mac: string | undefined): string | undefined {
    if (mac === undefined || !identifies(mac)) return undefined;
    const owner = this.bindings.macOwner(mac);
    if (owner === 'gateway') return undefined;
    return owner === 'nobody' && !this.bindings.hasRoomForMac ? this.#leftOut('maxKnownMacs') : mac;
  }

  #macOwner(mac: string) {
    const owner = this.bindings.macOwner(mac);
    return owner === 'gateway' ? undefined : owner;
  }

  #noteSeen(asset: AssetState, first: number, last: number, by: By): AssetState {
    if (asset.first === 0 || first < asset.first) asset.first = first;
    if (last > asset.last) asset.last = last;
    if (asset.state === 'retired' && !asset.seenRetired) {
      asset.seenRetired = true;
      this.note(asset, last, { action: 'seen_again', by, state: 'retired' });
    }
    this.rows.put(asset.id, asset);
    return asset;
  }

  /** The MAC address, which is nobody's, is the asset's. False where the asset may have no more. */
  bindMac(asset: AssetState, mac: string, at: number, by: By): boolean {
    if (asset.macs.length >= limits.maxCurrentAddresses) {
      this.#leftOut('maxCurrentAddresses');
      return false;
    }
    const gateway = this.bindings.mac(mac)?.gateway ?? false;
    this.bindings.putMac(mac, { asset_id: asset.id, gateway, byPeople: by.kind === 'principal' });
    asset.macs.push(mac);
    this.changed(asset, at, { action: 'mac_bound', by, mac_address: mac });
    return true;
  }

  /** The newest binding of an address is known to be by this MAC address. */
  #learnMac(ip: string, binding: Binding, mac: string): void {
    if (this.bindings.latest(ip)?.since === binding.since) this.bindings.setMac(ip, mac);
  }

  /** More IPv4 addresses than one machine has, all at once. */
  #isCrowded(asset: AssetState, mac: string, ip: string, last: number): boolean {
    if (ip.includes(':') || asset.ips.length <= limits.maxAddressesPerMac) return false;
    const active = asset.ips.filter((each) => {
      const binding = each.includes(':') ? undefined : this.bindings.latest(each);
      return binding?.mac === mac && binding.last >= last - gatewayWindowMs;
    });
    return active.length > limits.maxAddressesPerMac;
  }

  /** The addresses found with it are other machines': each but the first gets an asset of its own, with all it had. */
  #becomeGateway(mac: string, at: number | undefined): void {
    const { bindings } = this;
    const known = bindings.mac(mac);
    const asset = known?.asset_id === undefined ? undefined : this.rows.get(known.asset_id);
    const byPeople = known?.byPeople ?? false;
    bindings.putMac(mac, { asset_id: byPeople ? asset?.id : undefined, gateway: true, byPeople });
    if (asset === undefined) return;
    const when = at ?? asset.last;
    const reason = 'its MAC address forwards for others';
    for (const ip of asset.ips.slice(1)) {
      const binding = bindings.latest(ip)!;
      if (binding.mac !== mac) continue;
      this.#dropAddress(asset, ip, when, network, reason);
      const other = this.create(ip, { source: asset.source, by: network }, when);
      bindings.setMac(ip, undefined);
      bindings.reassign(ip, asset.id, other?.id);
      if (other === undefined) {
        this.#leftOut('maxAssets');
        continue;
      }
      this.#services.moveAddress(ip, asset.id, other.id);
      other.ips.push(ip);
      this.note(other, when, { action: 'address_bound', by: network, ip_address: ip, reason });
      this.#noteSeen(other, binding.last, binding.last, network);
      this.onServicesMoved();
    }
    if (byPeople) return;
    this.releaseMac(asset, mac, when, network, reason);
  }

  /** A device whose IP address isn't told. */
  #macSeen(seen: string, at: number): void {
    const mac = this.#identifying(seen);
    if (mac === undefined) return;
    const owner = this.#macOwner(mac);
    if (owner !== undefined && owner !== 'nobody')
      this.#noteSeen(this.require(owner.asset_id), at, at, network);
    else {
      const asset = this.create(mac, passive, at);
      if (asset === undefined) {
        this.#leftOut('maxAssets');
        return;
      }
      this.bindMac(asset, mac, at, network);
      asset.version = 1;
      this.#noteSeen(asset, at, at, network);
    }
  }

  #assetOf({ ip, mac, at }: { ip?: string; mac?: string; at: number }): AssetState | undefined {
    const known = this.#identifying(mac);
    const owner = known === undefined ? undefined : this.#macOwner(known);
    if (owner !== undefined && owner !== 'nobody') return this.require(owner.asset_id);
    const id = ip === undefined ? undefined : this.assetAt(ip, at);
    return id === undefined ? undefined : this.require(id);
  }

  #addName(asset: AssetState, heard: Parameters<typeof withName>[1], by: By): void {
    const name = hostName(heard.name);
    if (name === undefined) return;
    const names = withName(asset.heard, { ...heard, name });
    if (names === asset.heard) return;
    const isNew = !asset.heard.some((each) => each.name === name);
    const before = hostnamesOf(asset);
    asset.heard = names;
    this.rows.put(asset.id, asset);
    if (isNew && asset.hostnames === undefined)
      this.changed(asset, heard.at, { action: 'hostname_added', by, hostname: name });
    else if (hostnamesOf(asset).join() !== before.join()) asset.version++;
  }

  /** Something of the network was not recorded because of a limit. */
  #leftOut(limit: LimitName): undefined {
    this.#reached[limit] = (this.#reached[limit] ?? 0) + 1;
  }

  /** What the network says of the operating system, as long as people say nothing. */
  #learnSystem(asset: AssetState, os: string): void {
    const text = os.slice(0, maxText).toWellFormed().replaceAll(/\p{C}/gu, ' ').trim();
    if (text === '' || asset.os === text || asset.set.includes('os')) return;
    asset.os = text;
    asset.version++;
    this.rows.put(asset.id, asset);
  }
}

/** What the contract allows of such texts. */
const maxText = 255;

const because = (reason: string | undefined) => (reason === undefined ? {} : { reason });

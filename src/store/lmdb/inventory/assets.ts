import { maxLineLength } from '../../../contract/resources/asset.ts';
import { hostName } from '../../../events/host-name.ts';
import { Contested } from '../../../inventory/contested.ts';
import { type Binding, decide, identifies } from '../../../inventory/identity.ts';
import { unitedNames, withName } from '../../../inventory/names.ts';
import { printable } from '../../../inventory/printable.ts';
import type { HostSeen } from '../../../inventory/seen.ts';
import { type LimitName, limits } from '../../../limits.ts';
import { uuid7 } from '../../../uuid.ts';
import { type AssetRow, unseen } from '../../asset-row.ts';
import type { ScannedHost } from '../../store.ts';
import type { Tables } from '../tables.ts';
import { type AssetState, assetCodec, newAsset } from './asset-state.ts';
import { Bindings } from './bindings.ts';
import { CachedRows } from './cached-rows.ts';
import { type By, History, type HistoryRecord, network, scan } from './history.ts';
import type { OpenAlerts } from './open-alerts.ts';
import type { AssetsPart, HostSighting, ServicesPart } from './parts.ts';
import { StillThere } from './still-there.ts';

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
  readonly #contested = new Contested();
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
    const settled = 2 * Math.min(this.#stillThere.count, limits.settledHostsPerWrite);
    return this.rows.dirty + this.bindings.dirty + this.history.dirty + this.#openAlerts.due + settled;
  }

  get count(): number {
    return this.rows.count;
  }

  get reached(): Readonly<Partial<Record<LimitName, number>>> {
    return {
      ...this.#reached,
      ...this.bindings.reached,
      maxAssetHistory: this.history.removed,
      maxCountedAlerts: this.#openAlerts.estimated,
    };
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
    const identifying = this.#identifying(seenMac);
    const inForce = bindings.at(ip, last);
    const owner = inForce && this.require(inForce.asset_id);
    const mac =
      identifying !== undefined && this.#isContested(ip, identifying, owner, last)
        ? this.#leftOut('maxMachinesPerAddress')
        : identifying;
    if (mac !== undefined && owner?.macs.length === 0) this.#absorbDevice(owner, mac, last);
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
        if (decision.extends && last === host.last && this.#isStillThere(owner!, inForce!, ip, mac, first)) {
          owner!.last = Math.max(owner!.last, last);
          // Only what comes without a MAC address is known by its address alone.
          bindings.stillThere(ip, last, mac === undefined ? owner!.first : Number.POSITIVE_INFINITY);
          return owner;
        }
        // What comes without a MAC address doesn't say that the machine with this one is still there.
        if (decision.extends && (mac !== undefined || inForce!.mac === undefined))
          bindings.extend(ip, inForce!, last);
        const asset = this.require(decision.asset_id);
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
        const of = this.#identifying(sighting.mac) ?? sighting.ip;
        if (asset !== undefined)
          this.#addName(asset, { ...sighting, ...(of === undefined ? {} : { of }) }, network);
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
    for (const name of hostnames) this.#addName(asset, { name, from: 'dns', of: ip, at }, by);
    for (const name of certificate_names) this.#addName(asset, { name, from: 'tls', of: ip, at }, by);
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
    this.#settle(limits.settledHostsPerWrite);
    this.history.write();
    this.rows.write();
    this.bindings.write();
    this.#stillThere.write();
  }

  /** People are about to change something: rows say all that is known, and nothing is taken to be as it was. */
  settleAll(): void {
    this.bindings.stir();
    this.#settle(Number.POSITIVE_INFINITY);
  }

  #settle(hosts: number): void {
    for (const [ip, id, last] of this.#stillThere.take(hosts)) {
      this.bindings.settle(ip, id, last);
      const asset = this.rows.get(id);
      if (asset === undefined) continue;
      asset.last = Math.max(asset.last, last);
      this.rows.put(id, asset);
    }
  }

  forget(): void {
    this.#contested.forget();
    this.#stillThere.forget();
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
    this.note(asset, at, { action: 'address_bound', by, ip_address: ip });
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
    this.note(asset, at, { action: 'mac_released', by, mac_address: mac, ...because(reason) });
  }

  /** What it offered there is closed: whoever has the address next has services of his own. */
  #dropAddress(asset: AssetState, ip: string, at: number, by: By, reason?: string): void {
    if (asset.services > 0) this.#services.closeAt(ip, asset.id, at);
    this.#forgetAddress(asset, ip, at, by, reason);
  }

  #forgetAddress(asset: AssetState, ip: string, at: number, by: By, reason?: string): void {
    asset.ips = asset.ips.filter((each) => each !== ip);
    this.note(asset, at, { action: 'address_left', by, ip_address: ip, ...because(reason) });
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
    if (asset.first === unseen || first < asset.first) asset.first = first;
    if (last > asset.last) asset.last = last;
    if (asset.state === 'retired' && !asset.seenRetired && last > asset.retiredAt) {
      asset.seenRetired = true;
      this.note(asset, last, { action: 'seen_again', by, state: 'retired' });
    }
    this.rows.put(asset.id, asset);
    return asset;
  }

  /** Whether an address has so many MAC addresses in turn that this one, which isn't its owner's, is none. */
  #isContested(ip: string, mac: string, owner: AssetState | undefined, last: number): boolean {
    const latest = this.bindings.latest(ip);
    if (latest === undefined || owner?.macs.length === 0 || owner?.macs.includes(mac)) return false;
    return this.#contested.claim(ip, latest.mac, mac, last);
  }

  /** The evidence says nothing but that the asset still has its address. */
  #isStillThere(asset: AssetState, inForce: Binding, ip: string, mac: string | undefined, first: number) {
    const latest = this.bindings.latest(ip)!;
    const last = Math.max(asset.last, this.#stillThere.lastOf(ip, asset.id));
    return (
      inForce.since === latest.since &&
      inForce.mac === mac &&
      latest.until === undefined &&
      asset.first !== unseen &&
      first >= asset.first &&
      last >= latest.last &&
      (asset.state !== 'retired' || asset.seenRetired)
    );
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
    this.note(asset, at, { action: 'mac_bound', by, mac_address: mac });
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
    const when = at ?? Math.max(asset.last, ...asset.ips.map((ip) => this.#lastOf(ip)));
    const reason = 'its MAC address forwards for others';
    const owners = new Map<string, string>();
    for (const ip of asset.ips.slice(1)) {
      const binding = bindings.latest(ip)!;
      if (binding.mac !== mac) continue;
      this.#forgetAddress(asset, ip, when, network, reason);
      const other = this.create(ip, { source: asset.source, by: network }, when);
      bindings.setMac(ip, undefined);
      bindings.reassign(ip, asset.id, other?.id);
      if (other === undefined) {
        this.#leftOut('maxAssets');
        continue;
      }
      owners.set(ip, other.id);
      other.ips.push(ip);
      this.note(other, when, { action: 'address_bound', by: network, ip_address: ip, reason });
      this.#noteSeen(other, binding.last, binding.last, network);
    }
    if (owners.size > 0) {
      this.#services.moveAddresses(asset.id, owners);
      this.onServicesMoved();
    }
    if (byPeople) return;
    this.releaseMac(asset, mac, when, network, reason);
  }

  /** A device that was only known by this MAC address, and that people did nothing with, is the machine with the address. */
  #absorbDevice(asset: AssetState, mac: string, at: number): void {
    const owner = this.#macOwner(mac);
    if (owner === undefined || owner === 'nobody' || owner.asset_id === asset.id) return;
    const device = this.require(owner.asset_id);
    const isOnlyMac = device.macs.length === 1 && this.bindings.addressesOf(device.id).length === 0;
    const isByPeople = device.version > 1 || device.source !== 'passive' || this.bindings.mac(mac)!.byPeople;
    if (!isOnlyMac || isByPeople) return;
    this.bindings.putMac(mac, { asset_id: asset.id, gateway: false, byPeople: false });
    asset.macs.push(mac);
    asset.heard = unitedNames(asset.heard, device.heard);
    if (asset.first === unseen || device.first < asset.first) asset.first = device.first;
    asset.last = Math.max(asset.last, device.last);
    this.history.move(device, asset);
    this.rows.remove(device.id);
    this.tables.assetMerges.putSync(device.id, asset.id);
    this.note(asset, at, { action: 'merged', by: network, other_asset_id: device.id });
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
    const { from, of, at } = heard;
    const names = withName(asset.heard, { name, from, at, ...(of === undefined ? {} : { of }) });
    const isNew = !asset.heard.some((each) => each.name === name);
    if (isNew && names.length === asset.heard.length) this.#leftOut('maxHeardNames');
    if (names === asset.heard) return;
    asset.heard = names;
    this.rows.put(asset.id, asset);
    if (isNew && asset.hostnames === undefined)
      this.note(asset, heard.at, { action: 'hostname_added', by, hostname: name });
  }

  /** Something of the network was not recorded because of a limit. */
  #leftOut(limit: LimitName): undefined {
    this.#reached[limit] = (this.#reached[limit] ?? 0) + 1;
  }

  /** What the network says of the operating system, as long as people say nothing. */
  #learnSystem(asset: AssetState, os: string): void {
    const text = printable(os, maxLineLength);
    if (text === undefined || asset.os === text || asset.set.includes('os')) return;
    asset.os = text;
    this.rows.put(asset.id, asset);
  }
}

const because = (reason: string | undefined) => (reason === undefined ? {} : { reason });

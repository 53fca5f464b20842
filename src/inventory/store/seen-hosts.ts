import { limits } from '../../limits.ts';
import { AddressConflicts } from '../model/address-conflicts.ts';
import { type Binding, decide } from '../model/identity.ts';
import { unitedNames } from '../model/names.ts';
import type { HostSeen } from '../model/seen.ts';
import type { AssetAddresses } from './asset-addresses.ts';
import { unseen } from './asset-row.ts';
import type { AssetState } from './asset-state.ts';
import type { Gateways } from './gateways.ts';
import { network } from './history.ts';
import { type KnownAssets, passive, type Source } from './known-assets.ts';

/**
 * Decides by the rules of `src/inventory/model/identity.ts` which asset was seen, and updates the owners of the
 * address.
 */
export class SeenHosts {
  /**
   * Called after history was moved and written. The remaining changes must then be written in the same
   * transaction.
   */
  onHistoryMoved: () => void = () => {};
  readonly #known: KnownAssets;
  readonly #addresses: AssetAddresses;
  readonly #gateways: Gateways;
  readonly #contested = new AddressConflicts();

  constructor(known: KnownAssets, addresses: AssetAddresses, gateways: Gateways) {
    this.#known = known;
    this.#addresses = addresses;
    this.#gateways = gateways;
  }

  /**
   * Records evidence of a host, which usually only shows that the host still has its address. Returns the asset;
   * undefined if the evidence is ignored, or at a limit.
   */
  hostSeen(host: HostSeen): string | undefined {
    const { ip, first, last, mac } = host;
    const isPast = last <= this.#known.now() + limits.maxClockLeadMs;
    const same =
      isPast && this.#addresses.identifying(mac) === undefined
        ? this.#known.bindings.sameAgain(ip, first, last)
        : undefined;
    return same ?? this.seen(host, passive)?.id;
  }

  /**
   * Returns the asset that was seen, after updating the owners of the address; undefined if the evidence is ignored, or
   * at a limit.
   */
  seen(host: HostSeen, from: Source): AssetState | undefined {
    const { bindings } = this.#known;
    const { ip, mac: seenMac } = host;
    // Limits the times, because a time from a clock that is ahead would keep later owners from getting the address.
    const last = Math.min(host.last, this.#known.now() + limits.maxClockLeadMs);
    const first = Math.min(host.first, last);
    const identifying = this.#addresses.identifying(seenMac);
    const inForce = bindings.at(ip, last);
    const owner = inForce && this.#known.require(inForce.asset_id);
    const mac =
      identifying !== undefined && this.#isContested(ip, identifying, owner, last)
        ? this.#known.leftOut('maxMachinesPerAddress')
        : identifying;
    if (mac !== undefined && owner?.macs.length === 0) this.#absorbDevice(owner, mac, last);
    const decision = decide(
      { first, last },
      {
        latest: bindings.latest(ip),
        inForce,
        mac: mac === undefined ? undefined : this.#addresses.macOwner(mac),
        ownerHasNoMac: owner?.macs.length === 0,
      },
    );
    switch (decision.kind) {
      case 'ignore':
        return undefined;
      case 'seen': {
        if (mac !== undefined && decision.extends && this.#isShared(host, owner!, inForce!, mac, last))
          return this.seen({ ip, first: host.first, last: host.last }, from);
        if (decision.extends && last === host.last && this.#isStillThere(owner!, inForce!, ip, mac, first)) {
          owner!.last = Math.max(owner!.last, last);
          // The fast path by address alone applies only to evidence without a MAC address.
          bindings.stillThere(ip, last, mac === undefined ? owner!.first : Number.POSITIVE_INFINITY);
          return owner;
        }
        // Evidence without a MAC address does not show that the machine with the binding's MAC address still has the IP
        // address.
        if (decision.extends && (mac !== undefined || inForce!.mac === undefined)) bindings.extend(ip, inForce!, last);
        const asset = this.#known.require(decision.asset_id);
        return this.#known.noteSeen(asset, host.first, host.last, from.by);
      }
      case 'adopt': {
        bindings.extend(ip, inForce!, last);
        const asset = this.#known.require(decision.asset_id);
        if (this.#addresses.bindMac(asset, mac!, first, from.by)) this.#addresses.learnMac(ip, inForce!, mac!);
        this.#noteUse(host, mac, last);
        return this.#known.noteSeen(asset, host.first, host.last, from.by);
      }
      case 'bind': {
        const asset = this.#known.require(decision.asset_id);
        const binding = { asset_id: asset.id, since: decision.since, last, mac };
        this.#addresses.bindAddress(asset, ip, binding, from.by, Math.max(first, decision.since));
        this.#known.noteSeen(asset, host.first, host.last, from.by);
        if (mac === undefined || !this.#isShared(host, asset, bindings.latest(ip), mac, last)) return asset;
        return this.seen({ ip, first: host.first, last: host.last }, from);
      }
      case 'create': {
        const { since } = decision;
        if (since !== undefined && bindings.latest(ip) === undefined && !bindings.hasRoom)
          return this.#known.leftOut('maxAssetAddresses');
        const asset = this.#known.create(ip, from, first);
        if (asset === undefined) return this.#known.leftOut('maxAssets');
        if (since !== undefined)
          this.#addresses.bindAddress(
            asset,
            ip,
            { asset_id: asset.id, since, last, mac },
            from.by,
            Math.max(first, since),
          );
        if (mac !== undefined) this.#addresses.bindMac(asset, mac, first, from.by);
        this.#noteUse(host, mac, last);
        return this.#known.noteSeen(asset, host.first, host.last, from.by);
      }
    }
  }

  /** Records a device whose IP address is unknown. */
  macSeen(seen: string, at: number): void {
    const mac = this.#addresses.identifying(seen);
    if (mac === undefined) return;
    const owner = this.#addresses.macOwner(mac);
    if (owner !== undefined && owner !== 'unowned')
      this.#known.noteSeen(this.#known.require(owner.asset_id), at, at, network);
    else {
      const asset = this.#known.create(mac, passive, at);
      if (asset === undefined) {
        this.#known.leftOut('maxAssets');
        return;
      }
      this.#addresses.bindMac(asset, mac, at, network);
      this.#known.noteSeen(asset, at, at, network);
    }
  }

  forget(): void {
    this.#contested.forget();
  }

  /**
   * Records when the address was in use, if the evidence belongs to the newest binding and has the MAC address of that
   * binding.
   */
  #noteUse({ ip, first, began }: HostSeen, mac: string | undefined, last: number): void {
    const latest = this.#known.bindings.latest(ip);
    if (began === undefined || mac === undefined || latest?.mac !== mac || ip.includes(':')) return;
    this.#known.bindings.used(ip, { from: Math.min(first, last), to: Math.min(began, last) });
  }

  /**
   * Returns whether the evidence shows that several machines use the MAC address. In that case, separates the
   * addresses that the MAC address joined.
   */
  #isShared(host: HostSeen, asset: AssetState, inForce: Binding | undefined, mac: string, last: number): boolean {
    const { ip } = host;
    if (inForce?.asset_id !== asset.id || inForce.since !== this.#known.bindings.latest(ip)?.since) return false;
    if (inForce.mac === undefined) this.#addresses.learnMac(ip, inForce, mac);
    this.#noteUse(host, mac, last);
    if (!this.#gateways.isShared(asset, mac, ip, last)) return false;
    this.#gateways.become(mac, last);
    return true;
  }

  /**
   * Returns whether the address alternates between so many MAC addresses that this MAC address, which the owner
   * does not have, is ignored.
   */
  #isContested(ip: string, mac: string, owner: AssetState | undefined, last: number): boolean {
    const latest = this.#known.bindings.latest(ip);
    if (latest === undefined || owner?.macs.length === 0 || owner?.macs.includes(mac)) return false;
    return this.#contested.claim(ip, latest.mac, mac, last);
  }

  /** Returns whether the evidence only shows that the asset still has its address. */
  #isStillThere(asset: AssetState, inForce: Binding, ip: string, mac: string | undefined, first: number) {
    const latest = this.#known.bindings.latest(ip)!;
    const last = Math.max(asset.last, this.#known.stillThere.lastOf(ip, asset.id));
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

  /**
   * Merges a device that was known only by this MAC address, and that users have not changed, into the asset
   * that has the address.
   */
  #absorbDevice(asset: AssetState, mac: string, at: number): void {
    const owner = this.#addresses.macOwner(mac);
    if (owner === undefined || owner === 'unowned' || owner.asset_id === asset.id) return;
    const device = this.#known.require(owner.asset_id);
    const isOnlyMac = device.macs.length === 1 && this.#known.bindings.addressesOf(device.id).length === 0;
    const isByPeople = device.version > 1 || device.source !== 'passive' || this.#known.bindings.mac(mac)!.byPeople;
    if (!isOnlyMac || isByPeople) return;
    this.#known.bindings.putMac(mac, { asset_id: asset.id, gateway: false, byPeople: false });
    asset.macs.push(mac);
    asset.heard = unitedNames(asset.heard, device.heard);
    if (asset.first === unseen || device.first < asset.first) asset.first = device.first;
    asset.last = Math.max(asset.last, device.last);
    this.#known.history.move(device, asset);
    this.#known.rows.remove(device.id);
    this.#known.tables.assetMerges.putSync(device.id, asset.id);
    this.#known.note(asset, at, { action: 'merged', by: network, other_asset_id: device.id });
    this.onHistoryMoved();
  }
}

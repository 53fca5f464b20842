import { type Binding, identifies, type MacOwner } from '../../../inventory/identity.ts';
import { limits } from '../../../limits.ts';
import type { AssetState } from './asset-state.ts';
import type { By } from './history.ts';
import type { KnownAssets } from './known-assets.ts';

/** Gives assets their addresses and takes them away, with a record of each. Who gets what is decided elsewhere. */
export class AssetAddresses {
  readonly #known: KnownAssets;

  constructor(known: KnownAssets) {
    this.#known = known;
  }

  /**
   * The address is the asset's from `since` on, as history says at `at`; whoever had it loses it. False where the asset
   * may have no more.
   */
  bindAddress(asset: AssetState, ip: string, binding: Binding, by: By, at: number): boolean {
    const { bindings } = this.#known;
    // All that happened to it is that it was created: it had no address yet.
    const isNew = asset.nextRecord === 1;
    if (!isNew && !bindings.mayHave(asset.id, ip)) {
      this.#known.leftOut(bindings.hasRoom ? 'maxAddressesPerAsset' : 'maxAssetAddresses');
      return false;
    }
    const before = bindings.latest(ip);
    if (before !== undefined && before.asset_id !== asset.id && before.until === undefined)
      this.#dropAddress(this.#known.require(before.asset_id), ip, at, by);
    bindings.bind(ip, binding, isNew);
    if (!asset.ips.includes(ip)) asset.ips.push(ip);
    this.#known.note(asset, at, { action: 'address_bound', by, ip_address: ip });
    if (asset.ips.length > limits.maxCurrentAddresses) this.#releaseOldest(asset, by);
    return true;
  }

  /** The address is the asset's no more, from a time on. */
  releaseAddress(asset: AssetState, ip: string, at: number, by: By, reason?: string): void {
    this.#known.bindings.release(ip, at);
    this.#dropAddress(asset, ip, at, by, reason);
  }

  /** The MAC address, which is nobody's, is the asset's. False where the asset may have no more. */
  bindMac(asset: AssetState, mac: string, at: number, by: By): boolean {
    if (asset.macs.length >= limits.maxCurrentAddresses) {
      this.#known.leftOut('maxCurrentAddresses');
      return false;
    }
    const gateway = this.#known.bindings.mac(mac)?.gateway ?? false;
    this.#known.bindings.putMac(mac, { asset_id: asset.id, gateway, byPeople: by.kind === 'principal' });
    asset.macs.push(mac);
    this.#known.note(asset, at, { action: 'mac_bound', by, mac_address: mac });
    return true;
  }

  releaseMac(asset: AssetState, mac: string, at: number, by: By, reason?: string): void {
    asset.macs = asset.macs.filter((each) => each !== mac);
    for (const ip of asset.ips)
      if (this.#known.bindings.latest(ip)?.mac === mac) this.#known.bindings.setMac(ip, undefined);
    this.#known.note(asset, at, { action: 'mac_released', by, mac_address: mac, ...because(reason) });
  }

  /** The asset has the address no more; whose it is now is said elsewhere. */
  forgetAddress(asset: AssetState, ip: string, at: number, by: By, reason?: string): void {
    asset.ips = asset.ips.filter((each) => each !== ip);
    this.#known.note(asset, at, { action: 'address_left', by, ip_address: ip, ...because(reason) });
  }

  /** When an address was last seen, epoch milliseconds; 0 for never. */
  lastOf(ip: string): number {
    return this.#known.bindings.latest(ip)?.last ?? 0;
  }

  /** The MAC address, where it can stand for one machine. */
  identifying(mac: string | undefined): string | undefined {
    if (mac === undefined || !identifies(mac)) return undefined;
    const owner = this.#known.bindings.macOwner(mac);
    if (owner === 'gateway') return undefined;
    return owner === 'nobody' && !this.#known.bindings.hasRoomForMac
      ? this.#known.leftOut('maxKnownMacs')
      : mac;
  }

  /** Whose it is; undefined where it identifies none. */
  macOwner(mac: string): MacOwner | undefined {
    const owner = this.#known.bindings.macOwner(mac);
    return owner === 'gateway' ? undefined : owner;
  }

  /** The newest binding of an address is known to be by this MAC address. */
  learnMac(ip: string, binding: Binding, mac: string): void {
    if (this.#known.bindings.latest(ip)?.since === binding.since) this.#known.bindings.setMac(ip, mac);
  }

  /** What it offered there is closed: whoever has the address next has services of his own. */
  #dropAddress(asset: AssetState, ip: string, at: number, by: By, reason?: string): void {
    if (asset.services > 0) this.#known.services.closeAt(ip, asset.id, at);
    this.forgetAddress(asset, ip, at, by, reason);
  }

  #releaseOldest(asset: AssetState, by: By): void {
    const oldest = asset.ips.reduce((a, b) => (this.lastOf(b) < this.lastOf(a) ? b : a));
    this.releaseAddress(asset, oldest, this.lastOf(oldest) + 1, by, 'more addresses than are kept');
    this.#known.leftOut('maxCurrentAddresses');
  }
}

const because = (reason: string | undefined) => (reason === undefined ? {} : { reason });

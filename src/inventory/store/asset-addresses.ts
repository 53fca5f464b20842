import { limits } from '../../limits.ts';
import { type Binding, identifies, type MacOwner } from '../model/identity.ts';
import type { AssetState } from './asset-state.ts';
import type { By } from './history.ts';
import type { KnownAssets } from './known-assets.ts';

/**
 * Assigns addresses to assets, removes addresses from assets, and records each change. Callers decide which
 * asset gets an address.
 */
export class AssetAddresses {
  readonly #known: KnownAssets;

  constructor(known: KnownAssets) {
    this.#known = known;
  }

  /**
   * Assigns the address to the asset from `since` on, and records the assignment in the history at `at`. The
   * previous owner loses the address. Above `limits.maxCurrentAddresses`, the asset loses the address that was seen
   * least recently. Returns false at the limit of addresses of one asset or of all assets.
   */
  bindAddress(asset: AssetState, ip: string, binding: Binding, by: By, at: number): boolean {
    const { bindings } = this.#known;
    // If the creation is the asset's only record, the asset has no address yet.
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

  /** Ends the asset's ownership of the address at a time. */
  releaseAddress(asset: AssetState, ip: string, at: number, by: By, reason?: string): void {
    this.#known.bindings.release(ip, at);
    this.#dropAddress(asset, ip, at, by, reason);
  }

  /**
   * Assigns a MAC address that has no owner to the asset. Returns false if the asset is at its limit of MAC
   * addresses.
   */
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

  /** Removes the address from the asset. Callers record the new owner of the address. */
  forgetAddress(asset: AssetState, ip: string, at: number, by: By, reason?: string): void {
    asset.ips = asset.ips.filter((each) => each !== ip);
    this.#known.note(asset, at, { action: 'address_left', by, ip_address: ip, ...because(reason) });
  }

  /** Returns the time when an address was last seen, epoch milliseconds; 0 if it was never seen. */
  lastOf(ip: string): number {
    return this.#known.bindings.latest(ip)?.last ?? 0;
  }

  /**
   * Returns the MAC address if it can identify one machine, and if it is known or there is room for another MAC
   * address. Returns undefined otherwise.
   */
  identifying(mac: string | undefined): string | undefined {
    if (mac === undefined || !identifies(mac)) return undefined;
    const owner = this.#known.bindings.macOwner(mac);
    if (owner === 'gateway') return undefined;
    return owner === 'unowned' && !this.#known.bindings.hasRoomForMac ? this.#known.leftOut('maxKnownMacs') : mac;
  }

  /** Returns the owner of a MAC address; undefined if the MAC address does not identify a machine. */
  macOwner(mac: string): MacOwner | undefined {
    const owner = this.#known.bindings.macOwner(mac);
    return owner === 'gateway' ? undefined : owner;
  }

  /** Records the MAC address of a binding if the binding is the newest of the address. */
  learnMac(ip: string, binding: Binding, mac: string): void {
    if (this.#known.bindings.latest(ip)?.since === binding.since) this.#known.bindings.setMac(ip, mac);
  }

  /** Removes the address from the asset, and closes the asset's services at the address. */
  #dropAddress(asset: AssetState, ip: string, at: number, by: By, reason?: string): void {
    if (asset.services > 0) this.#known.services.closeAt(ip, asset.id, at);
    this.forgetAddress(asset, ip, at, by, reason);
  }

  #releaseOldest(asset: AssetState, by: By): void {
    const oldest = asset.ips.reduce((a, b) => (this.lastOf(b) < this.lastOf(a) ? b : a));
    this.releaseAddress(asset, oldest, this.lastOf(oldest) + 1, by, 'the asset had too many addresses');
    this.#known.leftOut('maxCurrentAddresses');
  }
}

const because = (reason: string | undefined) => (reason === undefined ? {} : { reason });

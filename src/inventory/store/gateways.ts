import { limits } from '../../limits.ts';
import { type Binding, identifies, overlap } from '../model/identity.ts';
import { unitedNames } from '../model/names.ts';
import type { AssetAddresses } from './asset-addresses.ts';
import type { AssetState } from './asset-state.ts';
import { network } from './history.ts';
import type { KnownAssets } from './known-assets.ts';

/**
 * Limits of addresses per MAC address. A MAC address with more than `most` addresses within `withinMs` belongs
 * to a gateway.
 */
const crowds = [
  { withinMs: 3_600_000, most: limits.maxAddressesPerMac },
  { withinMs: 86_400_000, most: limits.maxAddressesPerMacDay },
];

const reason = 'its MAC address forwards for other hosts';

/**
 * MAC addresses of gateways, which forward for other hosts. Such a MAC address does not identify a host, because
 * an asset based on it would combine several machines.
 */
export class Gateways {
  /**
   * Called after services were moved and written. The remaining changes must then be written in the same
   * transaction.
   */
  onServicesMoved: () => void = () => {};
  readonly #byPeople = new WeakMap<AssetState, { records: number; isConfirmed: (ip: string) => boolean }>();
  readonly #known: KnownAssets;
  readonly #addresses: AssetAddresses;

  constructor(known: KnownAssets, addresses: AssetAddresses) {
    this.#known = known;
    this.#addresses = addresses;
  }

  /** Records that the MAC address forwards packets. */
  seen(mac: string): void {
    if (!identifies(mac)) return;
    const known = this.#known.bindings.mac(mac);
    if (known?.gateway) return;
    if (known === undefined && !this.#known.bindings.hasRoomForMac) this.#known.leftOut('maxKnownMacs');
    else this.become(mac, undefined);
  }

  /**
   * Returns whether several machines share the MAC address. This is the case if the asset has more addresses than one
   * machine can have. It is also the case if several IPv4 addresses, not all confirmed by users, were in use with the
   * MAC address at the same time.
   */
  isShared(asset: AssetState, mac: string, ip: string, last: number): boolean {
    if (asset.ips.length < 2 || ip.includes(':')) return false;
    const found = asset.ips.flatMap((each) => {
      const binding = each.includes(':') ? undefined : this.#known.bindings.latest(each);
      return binding?.mac === mac ? [{ ip: each, ...binding }] : [];
    });
    const { use } = this.#known.bindings.latest(ip)!;
    const others = found.filter((each) => each.ip !== ip && overlap(each.use, use));
    if (others.length > 0) {
      const isConfirmed = this.#confirmed(asset);
      if (!isConfirmed(ip) || !others.every((each) => isConfirmed(each.ip))) return true;
    }
    return crowds.some(({ withinMs, most }) => found.filter((each) => each.last >= last - withinMs).length > most);
  }

  /**
   * Marks the MAC address as the address of a gateway. The IP addresses found with the MAC address belong to
   * other machines. Each address moves with its bindings to the asset that had it before, or to a new asset,
   * except the first address and the addresses that users confirmed.
   */
  become(mac: string, at: number | undefined): void {
    const { bindings } = this.#known;
    const known = bindings.mac(mac);
    const asset = known?.asset_id === undefined ? undefined : this.#known.rows.get(known.asset_id);
    const byPeople = known?.byPeople ?? false;
    bindings.putMac(mac, { asset_id: byPeople ? asset?.id : undefined, gateway: true, byPeople });
    if (asset === undefined) return;
    const when = at ?? Math.max(asset.last, ...asset.ips.map((ip) => this.#addresses.lastOf(ip)));
    const isConfirmed = this.#confirmed(asset);
    const owners = new Map<string, string>();
    for (const ip of new Set([...asset.ips.slice(1), ...bindings.addressesOf(asset.id)])) {
      if (ip === asset.ips[0] || isConfirmed(ip)) continue;
      const owner = this.#takeApart(asset, ip, mac, when);
      if (owner !== undefined) owners.set(ip, owner.id);
    }
    if (owners.size > 0) {
      this.#known.services.moveAddresses(asset.id, owners);
      this.onServicesMoved();
    }
    if (byPeople) return;
    this.#addresses.releaseMac(asset, mac, when, network, reason);
  }

  /**
   * Moves an address to another asset for the time in which only the MAC address connected the address with this asset.
   * Returns the other asset; undefined if nothing moves, or at limits.maxAssets.
   */
  #takeApart(asset: AssetState, ip: string, mac: string, when: number): AssetState | undefined {
    const { bindings, rows, history } = this.#known;
    const all = bindings.all(ip);
    const isJoined = (binding: Binding) => binding.asset_id === asset.id && binding.mac === mac;
    const latest = all.at(-1)!;
    const isCurrent = asset.ips.includes(ip);
    if (isCurrent ? !isJoined(latest) : latest.asset_id === asset.id || !all.some(isJoined)) return undefined;
    const another = all.findLast(({ asset_id }) => asset_id !== asset.id);
    const before = another && rows.get(another.asset_id);
    // A machine that has since received another address of the same family does not have this address any more.
    const isFree = before?.ips.every((each) => each.includes(':') !== ip.includes(':'));
    const first = history.firstBound(asset, ip) ?? latest.last;
    const other = !isCurrent || isFree ? before : this.#known.create(ip, { source: asset.source, by: network }, when);
    if (isCurrent) this.#addresses.forgetAddress(asset, ip, when, network, reason);
    bindings.reassign(ip, asset.id, other?.id, isJoined);
    if (other === undefined) return this.#known.leftOut('maxAssets');
    if (isCurrent) bindings.setMac(ip, undefined);
    const names = asset.heard.filter(({ of }) => isCurrent && of === ip);
    asset.heard = asset.heard.filter((name) => !names.includes(name));
    other.heard = unitedNames(other.heard, names);
    if (!isCurrent) return other;
    if (!other.ips.includes(ip)) other.ips.push(ip);
    this.#known.note(other, when, { action: 'address_bound', by: network, ip_address: ip, reason });
    return this.#known.noteSeen(other, Math.min(first, latest.last), latest.last, network);
  }

  /**
   * Returns a function that tests whether users confirmed an address. Cached until the asset's history changes.
   */
  #confirmed(asset: AssetState): (ip: string) => boolean {
    const known = this.#byPeople.get(asset);
    if (known?.records === asset.nextRecord) return known.isConfirmed;
    const isConfirmed = this.#known.history.confirmed(asset);
    this.#byPeople.set(asset, { records: asset.nextRecord, isConfirmed });
    return isConfirmed;
  }
}

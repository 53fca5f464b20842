import { identifies } from '../../../inventory/identity.ts';
import { limits } from '../../../limits.ts';
import type { AssetAddresses } from './asset-addresses.ts';
import type { AssetState } from './asset-state.ts';
import { network } from './history.ts';
import type { KnownAssets } from './known-assets.ts';

/** Times within which so many addresses of one MAC address make it a gateway's. */
const crowds = [
  { withinMs: 3_600_000, most: limits.maxAddressesPerMac },
  { withinMs: 86_400_000, most: limits.maxAddressesPerMacDay },
];

/** MAC addresses that forward for others: they identify no host, and what was taken for one machine is several. */
export class Gateways {
  /** Told when services were moved, which writes them: the rest is to be written in this transaction, too. */
  onServicesMoved: () => void = () => {};
  readonly #known: KnownAssets;
  readonly #addresses: AssetAddresses;

  constructor(known: KnownAssets, addresses: AssetAddresses) {
    this.#known = known;
    this.#addresses = addresses;
  }

  /** It was seen to forward. */
  seen(mac: string): void {
    if (!identifies(mac)) return;
    const known = this.#known.bindings.mac(mac);
    if (known?.gateway) return;
    if (known === undefined && !this.#known.bindings.hasRoomForMac) this.#known.leftOut('maxKnownMacs');
    else this.become(mac, undefined);
  }

  /** More IPv4 addresses than one machine has, at once or in turn. */
  isCrowded(asset: AssetState, mac: string, ip: string, last: number): boolean {
    if (ip.includes(':') || asset.ips.length <= limits.maxAddressesPerMac) return false;
    const seen = asset.ips.flatMap((each) => {
      const binding = each.includes(':') ? undefined : this.#known.bindings.latest(each);
      return binding?.mac === mac ? [binding.last] : [];
    });
    return crowds.some(({ withinMs, most }) => seen.filter((at) => at >= last - withinMs).length > most);
  }

  /**
   * The addresses found with it are other machines': each but the first goes back to the asset that had it before, or gets
   * one of its own, with all it had.
   */
  become(mac: string, at: number | undefined): void {
    const { bindings } = this.#known;
    const known = bindings.mac(mac);
    const asset = known?.asset_id === undefined ? undefined : this.#known.rows.get(known.asset_id);
    const byPeople = known?.byPeople ?? false;
    bindings.putMac(mac, { asset_id: byPeople ? asset?.id : undefined, gateway: true, byPeople });
    if (asset === undefined) return;
    const when = at ?? Math.max(asset.last, ...asset.ips.map((ip) => this.#addresses.lastOf(ip)));
    const reason = 'its MAC address forwards for others';
    const owners = new Map<string, string>();
    for (const ip of asset.ips.slice(1)) {
      const binding = bindings.latest(ip)!;
      if (binding.mac !== mac) continue;
      this.#addresses.forgetAddress(asset, ip, when, network, reason);
      const before = bindings.all(ip).findLast(({ asset_id }) => asset_id !== asset.id);
      const other =
        (before && this.#known.rows.get(before.asset_id)) ??
        this.#known.create(ip, { source: asset.source, by: network }, when);
      bindings.setMac(ip, undefined);
      bindings.reassign(ip, asset.id, other?.id);
      if (other === undefined) {
        this.#known.leftOut('maxAssets');
        continue;
      }
      owners.set(ip, other.id);
      if (!other.ips.includes(ip)) other.ips.push(ip);
      this.#known.note(other, when, { action: 'address_bound', by: network, ip_address: ip, reason });
      this.#known.noteSeen(other, binding.last, binding.last, network);
    }
    if (owners.size > 0) {
      this.#known.services.moveAddresses(asset.id, owners);
      this.onServicesMoved();
    }
    if (byPeople) return;
    this.#addresses.releaseMac(asset, mac, when, network, reason);
  }
}

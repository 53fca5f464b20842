import { invalidField, ServiceError } from '../../../errors.ts';
import { unitedNames } from '../../../inventory/names.ts';
import { limits } from '../../../limits.ts';
import type { Actor, AssetChanged } from '../../store.ts';
import { type AssetParts, freeMac, requireAsset, requireRoom, shown } from './asset-change.ts';
import type { AssetState } from './asset-state.ts';
import { person } from './history.ts';

/** What the contract allows of tags and notes. */
const maxTags = 100;
const maxNotes = 10_000;

/**
 * Plans that two assets are one: all that `id` has and had becomes `into`'s, and `id` is no more.
 *
 * @throws NOT_FOUND; CONFLICT for an asset with itself, and where one would have too many addresses.
 */
export function planMerge(parts: AssetParts, id: string, into: string, by: Actor): () => AssetChanged {
  const { assets, services, openAlerts, nowMs } = parts;
  const from = requireAsset(assets, id, 'asset_id');
  const to = requireAsset(assets, into, 'into');
  if (from === to) throw conflict('into', 'is the asset itself');
  for (const field of ['ips', 'macs'] as const)
    if (from[field].length + to[field].length > limits.maxCurrentAddresses)
      throw conflict('into', `would have more than ${limits.maxCurrentAddresses} addresses of one kind`);
  const addresses = assets.bindings.addressesOf(from.id);
  if (addresses.length + assets.bindings.addressesOf(to.id).length > limits.maxAddressesPerAsset)
    throw conflict('into', `would have had more than ${limits.maxAddressesPerAsset} addresses`);
  return () => {
    const next = to.version + 1;
    services.mergeInto(from.id, to.id);
    for (const ip of addresses) assets.bindings.reassign(ip, from.id, to.id);
    for (const mac of from.macs) {
      const { gateway, byPeople } = assets.bindings.mac(mac)!;
      assets.bindings.putMac(mac, { asset_id: to.id, gateway, byPeople });
    }
    to.ips.push(...from.ips);
    to.macs.push(...from.macs);
    takeOver(from, to);
    assets.history.move(from, to);
    assets.rows.remove(from.id);
    assets.tables.assetMerges.putSync(from.id, to.id);
    assets.changed(to, nowMs, { action: 'merged', by: person(by), other_asset_id: from.id });
    to.version = next;
    openAlerts.assetChanged(to.id);
    return shown(parts, to);
  };
}

/** What `to` lacks of what is known of `from`. */
function takeOver(from: AssetState, to: AssetState): void {
  to.heard = unitedNames(to.heard, from.heard);
  to.hostnames =
    to.hostnames === undefined && from.hostnames === undefined
      ? undefined
      : [...new Set([...(to.hostnames ?? []), ...(from.hostnames ?? [])])].slice(
          0,
          limits.maxCurrentAddresses,
        );
  to.name ??= from.name;
  if (to.kind === 'unknown') to.kind = from.kind;
  to.os ??= from.os;
  to.vendor ??= from.vendor;
  to.owner ??= from.owner;
  to.set = [...new Set([...to.set, ...from.set])];
  to.tags = [...new Set([...to.tags, ...from.tags])].slice(0, maxTags);
  const notes = [to.notes, from.notes].filter((each) => each !== undefined).join('\n\n');
  if (notes !== '' && notes.length <= maxNotes) to.notes = notes;
  to.first = Math.min(to.first || from.first, from.first || to.first);
  to.last = Math.max(to.last, from.last);
}

/**
 * Plans that an asset is two: a new one gets these IP and MAC addresses, with all bindings that were by them and the
 * services there. An IP address that was seen with a MAC address which stays says that this one stands for several
 * machines: it identifies none of them any more, or the network would soon undo the split.
 *
 * @throws NOT_FOUND; INVALID_REQUEST for an address that isn't the asset's; CONFLICT when none would be left, and past
 * limits.maxAssets.
 */
export function planSplit(
  parts: AssetParts,
  id: string,
  identifiers: readonly string[],
  by: Actor,
): () => AssetChanged {
  const { assets, services, openAlerts, nowMs } = parts;
  const { bindings } = assets;
  const asset = requireAsset(assets, id, 'asset_id');
  requireRoom(assets);
  const addresses = bindings.addressesOf(asset.id);
  for (const [i, identifier] of identifiers.entries())
    if (!addresses.includes(identifier) && !asset.macs.includes(identifier))
      throw invalidField(`identifiers.${i}`, 'is no address of this asset');
  const macs = asset.macs.filter((mac) => identifiers.includes(mac));
  const going = addresses.filter(
    (ip) => identifiers.includes(ip) || macs.includes(bindings.latest(ip)?.mac ?? ''),
  );
  const stays = [
    ...asset.ips.filter((ip) => !going.includes(ip)),
    ...asset.macs.filter((mac) => !macs.includes(mac)),
  ];
  if (stays.length === 0) throw conflict('identifiers', 'are all that the asset has');
  return () => {
    const who = person(by);
    const next = asset.version + 1;
    const { source, state, first, last } = asset;
    const other = assets.create(identifiers[0]!, { source, by: who }, nowMs)!;
    Object.assign(other, { state, first, last });
    for (const ip of going) {
      const mac = bindings.latest(ip)?.asset_id === asset.id ? bindings.latest(ip)?.mac : undefined;
      if (mac !== undefined && !macs.includes(mac)) {
        bindings.putMac(mac, { asset_id: asset.id, gateway: true, byPeople: true });
        bindings.setMac(ip, undefined);
      }
      bindings.reassign(ip, asset.id, other.id);
      services.moveAddress(ip, asset.id, other.id);
    }
    other.ips = asset.ips.filter((ip) => going.includes(ip));
    asset.ips = asset.ips.filter((ip) => !going.includes(ip));
    for (const mac of macs) {
      freeMac(assets, mac);
      const { gateway = false } = bindings.mac(mac) ?? {};
      bindings.putMac(mac, { asset_id: other.id, gateway, byPeople: true });
    }
    other.macs = macs;
    asset.macs = asset.macs.filter((mac) => !macs.includes(mac));
    const moved = { by: who, identifiers: [...identifiers] };
    assets.changed(asset, nowMs, { action: 'split', other_asset_id: other.id, ...moved });
    assets.changed(other, nowMs, { action: 'split', other_asset_id: asset.id, ...moved });
    asset.version = next;
    other.version = 1;
    openAlerts.assetChanged(asset.id);
    openAlerts.assetChanged(other.id);
    return shown(parts, other);
  };
}

const conflict = (field: string, reason: string) =>
  new ServiceError('CONFLICT', `${field} ${reason}`, { field, reason });

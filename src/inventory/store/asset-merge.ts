import { maxNotesLength, maxTags } from '../../contract/vocabulary.ts';
import { invalidField, ServiceError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { Actor, AssetChanged } from '../../store/store.ts';
import { type Binding, beginning } from '../model/identity.ts';
import { unitedNames } from '../model/names.ts';
import { type AssetParts, freeMac, requireAsset, requireRoom, requireVersion, shown } from './asset-change.ts';
import { unseen } from './asset-row.ts';
import type { AssetState } from './asset-state.ts';
import { person } from './history.ts';

/**
 * Plans the merge of two assets: all current and former data of `id` moves to `into`, and `id` is removed.
 *
 * @param version - the version that `id` must have
 * @throws NOT_FOUND; VERSION_MISMATCH; CONFLICT when both are the same asset, or when the result would exceed a limit
 *   of addresses or of users' texts, which are never dropped.
 */
export function planMerge(
  parts: AssetParts,
  id: string,
  into: string,
  by: Actor,
  version?: number,
): () => AssetChanged {
  const { assets, services, openAlerts, nowMs } = parts;
  const from = requireAsset(assets, id, 'asset_id');
  requireVersion(from, version);
  const to = requireAsset(assets, into, 'into');
  if (from === to) throw conflict('into', 'is the asset itself');
  for (const field of ['ips', 'macs'] as const)
    if (from[field].length + to[field].length > limits.maxCurrentAddresses)
      throw conflict('into', `would have more than ${limits.maxCurrentAddresses} addresses of one kind`);
  const addresses = assets.bindings.addressesOf(from.id);
  if (addresses.length + assets.bindings.addressesOf(to.id).length > limits.maxAddressesPerAsset)
    throw conflict('into', `would have more than ${limits.maxAddressesPerAsset} current and earlier addresses`);
  requireKept(from, to);
  return () => {
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
    assets.note(to, nowMs, { action: 'merged', by: person(by), other_asset_id: from.id });
    to.version++;
    openAlerts.assetChanged(from.id);
    openAlerts.assetChanged(to.id);
    return shown(parts, to);
  };
}

/** Requires that all texts of users are within their limits. @throws CONFLICT naming the field. */
function requireKept(from: AssetState, to: AssetState): void {
  const { hostnames = [], tags, notes = '' } = written(from, to);
  if (hostnames.length > limits.maxCurrentAddresses)
    throw conflict('hostnames', `would be more than ${limits.maxCurrentAddresses}`);
  if (tags.length > maxTags) throw conflict('tags', `would be more than ${maxTags}`);
  if (notes.length > maxNotesLength && [...notes].length > maxNotesLength)
    throw conflict('notes', `would be longer than ${maxNotesLength} characters`);
}

/** Returns the texts that users wrote for either asset. */
function written(from: AssetState, to: AssetState): Pick<AssetState, 'hostnames' | 'tags' | 'notes'> {
  const notes = [to.notes, from.notes].filter((each) => each !== undefined);
  const isNamed = to.hostnames !== undefined || from.hostnames !== undefined;
  return {
    hostnames: isNamed ? [...new Set([...(to.hostnames ?? []), ...(from.hostnames ?? [])])] : undefined,
    tags: [...new Set([...to.tags, ...from.tags])],
    notes: notes.length === 0 ? undefined : notes.join('\n\n'),
  };
}

/** Copies from `from` the attributes that `to` lacks, and merges texts, names and times. */
function takeOver(from: AssetState, to: AssetState): void {
  Object.assign(to, written(from, to));
  to.heard = unitedNames(to.heard, from.heard);
  to.name ??= from.name;
  if (to.kind === 'unknown') to.kind = from.kind;
  to.os ??= from.os;
  to.vendor ??= from.vendor;
  to.owner ??= from.owner;
  to.set = [...new Set([...to.set, ...from.set])];
  if (to.first === unseen || (from.first !== unseen && from.first < to.first)) to.first = from.first;
  to.last = Math.max(to.last, from.last);
}

/**
 * Plans the split of an asset. A new asset gets these IP and MAC addresses with all their bindings, the names
 * seen with these addresses, and the services at addresses that the new asset has after the split. If an IP address was
 * seen with a MAC address that stays, that MAC address belongs to several machines. It is no longer used to identify a
 * machine, because new traffic would otherwise undo the split.
 *
 * @throws NOT_FOUND; VERSION_MISMATCH; INVALID_REQUEST for an address that the asset does not have; CONFLICT
 * when the asset would keep no addresses, and at limits.maxAssets.
 */
export function planSplit(
  parts: AssetParts,
  id: string,
  identifiers: readonly string[],
  by: Actor,
  version?: number,
): () => AssetChanged {
  const { assets, services, openAlerts, nowMs } = parts;
  const { bindings } = assets;
  const asset = requireAsset(assets, id, 'asset_id');
  requireVersion(asset, version);
  requireRoom(assets);
  const addresses = bindings.addressesOf(asset.id);
  for (const [i, identifier] of identifiers.entries())
    if (!addresses.includes(identifier) && !asset.macs.includes(identifier))
      throw invalidField(`identifiers.${i}`, 'is not an address of this asset');
  const macs = asset.macs.filter((mac) => identifiers.includes(mac));
  const going = addresses.map((ip) => moveOf(parts, asset, ip, identifiers)).filter(({ of }) => of.length > 0);
  const gone = new Set([...identifiers, ...going.flatMap(({ ip, isCurrent }) => (isCurrent ? [ip] : []))]);
  const stays = [...asset.ips, ...asset.macs].filter((identifier) => !gone.has(identifier));
  if (stays.length === 0) throw conflict('identifiers', 'must not be all addresses of the asset');
  return () => {
    const who = person(by);
    const { source, state, retiredAt, heard } = asset;
    const other = assets.create(identifiers[0]!, { source, by: who }, nowMs)!;
    Object.assign(other, { state, retiredAt, ...timesOf(parts, asset, going, macs) });
    const owners = new Map<string, string>();
    for (const { ip, of, isCurrent } of going) {
      const latest = bindings.latest(ip);
      const mac = latest?.asset_id === asset.id && latest.since === of.at(-1)?.since ? latest.mac : undefined;
      const movesServices = isCurrent || latest?.asset_id !== asset.id;
      bindings.reassign(ip, asset.id, other.id, ({ since }) => of.some((each) => each.since === since));
      if (mac !== undefined && !macs.includes(mac)) {
        bindings.putMac(mac, { asset_id: asset.id, gateway: true, byPeople: true });
        bindings.setMac(ip, undefined);
      }
      if (movesServices) owners.set(ip, other.id);
    }
    services.moveAddresses(asset.id, owners);
    other.ips = asset.ips.filter((ip) => gone.has(ip));
    asset.ips = asset.ips.filter((ip) => !gone.has(ip));
    other.heard = heard.filter(({ of }) => of !== undefined && gone.has(of));
    asset.heard = heard.filter((name) => !other.heard.includes(name));
    for (const mac of macs) {
      freeMac(assets, mac);
      const { gateway = false } = bindings.mac(mac) ?? {};
      bindings.putMac(mac, { asset_id: other.id, gateway, byPeople: true });
    }
    other.macs = macs;
    asset.macs = asset.macs.filter((mac) => !macs.includes(mac));
    const moved = { by: who, identifiers: [...identifiers] };
    assets.note(asset, nowMs, { action: 'split', other_asset_id: other.id, ...moved });
    assets.note(other, nowMs, { action: 'split', other_asset_id: asset.id, ...moved });
    asset.version++;
    openAlerts.assetChanged(asset.id);
    openAlerts.assetChanged(other.id);
    return shown(parts, other);
  };
}

/**
 * The bindings of an address that a split moves: all bindings, or only the bindings with one of the moved MAC
 * addresses.
 */
interface Move {
  readonly ip: string;
  readonly of: readonly Binding[];
  /** Whether the asset has the address now and loses it. */
  readonly isCurrent: boolean;
}

function moveOf({ assets }: AssetParts, asset: AssetState, ip: string, identifiers: readonly string[]): Move {
  const all = assets.bindings.all(ip);
  const of = all.filter(
    ({ asset_id, mac }) =>
      asset_id === asset.id && (identifiers.includes(ip) || (mac !== undefined && identifiers.includes(mac))),
  );
  return { ip, of, isCurrent: of.at(-1) === all.at(-1) && asset.ips.includes(ip) };
}

/**
 * Returns the times when the moved bindings were seen, or, without bindings, when the MAC addresses were seen;
 * `unseen` if never.
 */
function timesOf(
  { assets }: AssetParts,
  asset: AssetState,
  going: readonly Move[],
  macs: readonly string[],
): Pick<AssetState, 'first' | 'last'> {
  const { history } = assets;
  // The first binding of an address begins at time 0, not when the address was first seen.
  const seen = going.flatMap(({ ip, of }) =>
    of
      .filter(({ last }) => last > beginning)
      .map(({ since, last }) => {
        const first = since > beginning ? since : (history.firstBound(asset, ip) ?? asset.first);
        return { first: Math.min(first, last), last };
      }),
  );
  if (seen.length === 0)
    for (const mac of macs) {
      const at = history.firstBound(asset, mac);
      if (at !== undefined) seen.push({ first: at, last: at });
    }
  if (seen.length === 0) return { first: unseen, last: unseen };
  return {
    first: Math.min(...seen.map(({ first }) => first)),
    last: Math.max(...seen.map(({ last }) => last)),
  };
}

const conflict = (field: string, reason: string) =>
  new ServiceError('CONFLICT', `${field} ${reason}`, { field, reason });

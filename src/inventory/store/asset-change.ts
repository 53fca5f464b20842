import type { Asset, AssetInput, AssetUpdateInput } from '../../contract/resources/asset.ts';
import { ServiceError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { Actor, AssetChanged } from '../../store/store.ts';
import { canonicalUuid } from '../../uuid.ts';
import { type Binding, beginning, endOf } from '../model/identity.ts';
import { mergedInto } from './asset-reads.ts';
import { assetOf } from './asset-row.ts';
import { type AssetState, assetCodec, hostnamesOf, nameOf, type SetField } from './asset-state.ts';
import type { Assets } from './assets.ts';
import { type By, person } from './history.ts';
import type { OpenAlerts } from './open-alerts.ts';
import type { ServicesPart } from './parts.ts';

/**
 * Dependencies of asset changes. The objects are up to date in memory, and are written completely with the
 * change.
 */
export interface AssetParts {
  readonly assets: Assets;
  readonly services: ServicesPart;
  readonly openAlerts: OpenAlerts;
  readonly nowMs: number;
}

/** Allowed transitions of the status. No transition leads to `staged`, the initial status of discovered assets. */
const transitions = {
  staged: ['managed', 'retired'],
  managed: ['retired'],
  retired: ['managed'],
} as const satisfies Record<Asset['state'], readonly Asset['state'][]>;

type Identifiers = 'ip_addresses' | 'mac_addresses';
const single = { ip_addresses: 'an IP address', mac_addresses: 'a MAC address' } as const;

/**
 * Plans an asset that a user enters.
 *
 * @throws CONFLICT for an address that another asset currently has, and at the limits of assets and addresses.
 */
export function planCreate(parts: AssetParts, input: AssetInput, by: Actor): () => AssetChanged {
  const { assets, nowMs } = parts;
  requireRoom(assets);
  for (const field of ['ip_addresses', 'mac_addresses'] as const)
    requireFree(assets, field, input[field] ?? [], undefined);
  return () => {
    const who = person(by);
    const origin = input.ip_addresses?.[0] ?? input.mac_addresses?.[0] ?? '';
    const asset = assets.create(origin, { source: 'manual', by: who }, nowMs)!;
    asset.state = input.state ?? 'managed';
    if (asset.state === 'retired') asset.retiredAt = nowMs;
    const { name } = input;
    // A name set by the user is stored even if the asset is already shown with this name.
    apply(asset, { ...differences(asset, input), ...(name === undefined ? {} : { name }) });
    bindAll(parts, asset, input, who);
    return shown(parts, asset);
  };
}

/**
 * Plans a user's change of an asset. Attributes that the network also reports are then controlled by the user, until
 * the user empties them.
 *
 * @throws NOT_FOUND; VERSION_MISMATCH; INVALID_TRANSITION; CONFLICT for an address that another asset
 * currently has, and at the limits of addresses.
 */
export function planChange(
  parts: AssetParts,
  id: string,
  change: AssetUpdateInput,
  by: Actor,
  version: number | undefined,
): () => AssetChanged {
  const { assets, nowMs } = parts;
  const asset = requireAsset(assets, id, 'asset_id');
  requireVersion(asset, version);
  const { state } = change;
  if (state !== undefined && state !== asset.state) requireTransition(asset.state, state);
  for (const field of ['ip_addresses', 'mac_addresses'] as const)
    requireFree(assets, field, change[field] ?? [], asset.id);
  const differs = differences(asset, change);
  const fields = Object.keys(differs);
  const moves =
    !sameSet(change.ip_addresses ?? asset.ips, asset.ips) || !sameSet(change.mac_addresses ?? asset.macs, asset.macs);
  const becomes = state === undefined || state === asset.state ? undefined : state;
  if (fields.length === 0 && !moves && becomes === undefined)
    return () => ({ ...shown(parts, asset), unchanged: true });
  return () => {
    const who = person(by);
    apply(asset, differs);
    if (fields.length > 0) assets.note(asset, nowMs, { action: 'edited', by: who, fields });
    if (differs.criticality !== undefined) parts.openAlerts.assetChanged(asset.id);
    if (becomes !== undefined) {
      asset.state = becomes;
      asset.retiredAt = becomes === 'retired' ? nowMs : 0;
      asset.seenRetired = false;
      assets.note(asset, nowMs, { action: 'state_changed', by: who, state: becomes });
    }
    releaseOthers(parts, asset, change, who);
    bindAll(parts, asset, change, who);
    asset.version++;
    return shown(parts, asset);
  };
}

/** Plans the removal of an asset with its services and its history. @throws NOT_FOUND; VERSION_MISMATCH. */
export function planRemove(parts: AssetParts, id: string, version: number | undefined): () => void {
  const { assets, services, openAlerts } = parts;
  const asset = requireAsset(assets, id, 'asset_id');
  requireVersion(asset, version);
  return () => {
    services.removeOf(asset.id);
    for (const ip of assets.bindings.addressesOf(asset.id)) assets.bindings.reassign(ip, asset.id, undefined);
    for (const mac of asset.macs) freeMac(assets, mac);
    assets.history.removeOf(asset);
    assets.rows.remove(asset.id);
    openAlerts.assetChanged(asset.id);
  };
}

/** Returns the asset. @throws NOT_FOUND, with `merged_into` if the asset was merged into another. */
export function requireAsset(assets: Assets, id: string, field: string): AssetState {
  const key = canonicalUuid(id);
  const asset = key === undefined ? undefined : assets.rows.get(key);
  if (asset !== undefined) return asset;
  if (key !== undefined) assets.tables.assets.getStrict(key);
  const into = mergedInto(assets.tables, id);
  throw new ServiceError('NOT_FOUND', `there is no asset ${id}`, {
    field,
    ...(into === undefined ? {} : { merged_into: into }),
  });
}

/** Requires room for another asset. @throws CONFLICT at limits.maxAssets. */
export function requireRoom(assets: Assets): void {
  if (assets.count < limits.maxAssets) return;
  const reason = `asset limit reached (${limits.maxAssets})`;
  throw new ServiceError('CONFLICT', reason, { reason });
}

/** Returns the asset in the form that readers see after the commit. */
export function shown({ assets, openAlerts }: AssetParts, asset: AssetState): AssetChanged {
  openAlerts.settle(assets);
  return { asset: { id: asset.id, ...assetOf(assetCodec.pack(asset)) } };
}

/** Removes the owner of the MAC address. If the MAC address belongs to a gateway, this remains recorded. */
export function freeMac(assets: Assets, mac: string): void {
  const known = assets.bindings.mac(mac);
  if (known?.gateway) assets.bindings.putMac(mac, { asset_id: undefined, gateway: true, byPeople: false });
  else assets.bindings.removeMac(mac);
}

export function requireVersion({ id, version }: AssetState, wanted: number | undefined): void {
  if (wanted === undefined || wanted === version) return;
  throw new ServiceError('VERSION_MISMATCH', `asset ${id} has version ${version}, not ${wanted}`, {
    version,
  });
}

function requireTransition(from: Asset['state'], to: Asset['state']): void {
  const allowed: readonly Asset['state'][] = transitions[from];
  if (allowed.includes(to)) return;
  throw new ServiceError(
    'INVALID_TRANSITION',
    `state: cannot change from ${from} to ${to}; allowed: ${allowed.join(', ')}`,
    { from, to, allowed },
  );
}

/**
 * Requires that no other asset currently has the addresses, and that there is room for the addresses. @throws CONFLICT
 * naming the first address that the asset cannot get.
 */
function requireFree(assets: Assets, field: Identifiers, values: readonly string[], id: string | undefined): void {
  const holder = (value: string): string | undefined => {
    if (field === 'mac_addresses') return assets.bindings.mac(value)?.asset_id;
    const latest = assets.bindings.latest(value);
    return latest?.until === undefined ? latest?.asset_id : undefined;
  };
  for (const [i, value] of values.entries()) {
    const other = holder(value);
    const refuse = (reason: string, details: { asset_id?: string } = {}) => {
      const name = `${field}.${i}`;
      throw new ServiceError('CONFLICT', `${name} ${reason}`, { field: name, reason, ...details });
    };
    if (other !== undefined && other !== id) refuse(`is ${single[field]} of another asset`, { asset_id: other });
    if (other !== undefined) continue;
    if (field === 'mac_addresses' && assets.bindings.mac(value) === undefined && !assets.bindings.hasRoomForMac)
      refuse(`exceeds the limit of known MAC addresses (${limits.maxKnownMacs})`);
    if (field === 'ip_addresses' && !assets.bindings.mayHave(id ?? '', value))
      refuse(
        `exceeds the limit of known addresses (${limits.maxAssetAddresses} in total, ${limits.maxAddressesPerAsset} per asset)`,
      );
  }
}

/** Attributes to change; some of them are also reported by the network. */
interface Differences {
  name?: string;
  kind?: Asset['kind'];
  hostnames?: string[];
  os?: string;
  vendor?: string;
  criticality?: Asset['criticality'];
  owner?: string;
  tags?: string[];
  notes?: string;
}
const networkFields: readonly SetField[] = ['name', 'kind', 'hostnames', 'os', 'vendor'];

function differences(asset: AssetState, change: AssetUpdateInput): Differences {
  const { name, kind, hostnames, os, vendor, criticality, owner, tags, notes } = change;
  const text = (field: 'os' | 'vendor' | 'owner' | 'notes', value: string | undefined) =>
    value === undefined || value === (asset[field] ?? '') ? {} : { [field]: value };
  // Returns the change, or no change if the user empties an attribute that comes from the network.
  const own = (field: 'os' | 'vendor', value: string | undefined) =>
    value === '' && !asset.set.includes(field) ? {} : text(field, value);
  const sameHostnames = (names: readonly string[]) =>
    names.length === 0 ? asset.hostnames === undefined : sameList(names, hostnamesOf(asset));
  return {
    ...(name === undefined || name === nameOf(asset) ? {} : { name }),
    ...(kind === undefined || kind === asset.kind ? {} : { kind }),
    ...(hostnames === undefined || sameHostnames(hostnames) ? {} : { hostnames }),
    ...own('os', os),
    ...own('vendor', vendor),
    ...(criticality === undefined || criticality === asset.criticality ? {} : { criticality }),
    ...text('owner', owner),
    ...(tags === undefined || sameList(tags, asset.tags) ? {} : { tags }),
    ...text('notes', notes),
  };
}

function apply(asset: AssetState, differs: Differences): void {
  const { os, vendor, owner, notes, ...rest } = differs;
  Object.assign(asset, rest);
  for (const [field, value] of Object.entries({ os, vendor, owner, notes }))
    if (value !== undefined) asset[field as 'os'] = value === '' ? undefined : value;
  if (differs.hostnames?.length === 0) asset.hostnames = undefined;
  for (const field of networkFields) {
    const value = differs[field];
    if (value === undefined) continue;
    asset.set = asset.set.filter((each) => each !== field);
    // An attribute that a user emptied follows the network again.
    if (value.length > 0) asset.set.push(field);
  }
}

function releaseOthers({ assets, nowMs }: AssetParts, asset: AssetState, change: AssetUpdateInput, by: By): void {
  const { ip_addresses = asset.ips, mac_addresses = asset.macs } = change;
  for (const mac of asset.macs.filter((each) => !mac_addresses.includes(each))) {
    freeMac(assets, mac);
    assets.addresses.releaseMac(asset, mac, nowMs, by);
  }
  for (const ip of asset.ips.filter((each) => !ip_addresses.includes(each)))
    assets.addresses.releaseAddress(asset, ip, nowMs, by);
}

function bindAll({ assets, nowMs }: AssetParts, asset: AssetState, change: AssetUpdateInput, by: By): void {
  for (const mac of change.mac_addresses ?? [])
    if (!asset.macs.includes(mac)) assets.addresses.bindMac(asset, mac, nowMs, by);
  for (const ip of change.ip_addresses ?? []) {
    if (asset.ips.includes(ip)) continue;
    const latest: Binding | undefined = assets.bindings.latest(ip);
    const since = latest === undefined ? beginning : endOf(latest);
    assets.addresses.bindAddress(asset, ip, { asset_id: asset.id, since, last: since }, by, nowMs);
  }
  // Lists keep the order that users gave them.
  if (change.ip_addresses !== undefined) asset.ips = inOrder(asset.ips, change.ip_addresses);
  if (change.mac_addresses !== undefined) asset.macs = inOrder(asset.macs, change.mac_addresses);
}

const inOrder = (values: readonly string[], order: readonly string[]): string[] =>
  order.filter((value) => values.includes(value));

const sameList = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((value, i) => value === b[i]);

const sameSet = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((value) => b.includes(value));

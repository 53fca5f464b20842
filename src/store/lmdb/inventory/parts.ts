import type { HostSeen } from '../../../inventory/seen.ts';
import type { Sighting } from '../../../inventory/sighting.ts';
import type { LimitName } from '../../../limits.ts';

/**
 * The parts of the inventory as they see each other. Everything runs in the store thread, inside a write
 * transaction. Memory holds what changed since the last write; tables and memory agree after `write`, and
 * `forget` drops memory because its transaction was aborted.
 */
export interface InventoryPart {
  /** Rows that `write` would write; 0 when there is nothing to write. */
  readonly dirty: number;
  write(): void;
  forget(): void;
}

/** Sightings of hosts: all but those of services. */
export type HostSighting = Exclude<Sighting, { kind: 'service' }>;

/** Which machine had which address when, and the attributes of the machines. */
export interface AssetsPart extends InventoryPart {
  /** Number of assets, including those in memory. */
  readonly count: number;
  /** How often data was dropped because of a limit since this was opened. Only grows. */
  readonly reached: Readonly<Partial<Record<LimitName, number>>>;
  /** Records that a home host answered. Returns its asset; undefined at the limit of assets. */
  hostSeen(host: HostSeen): string | undefined;
  /**
   * Records that this MAC address forwards for others, so that it identifies no host. Called whenever this is
   * seen.
   */
  gatewaySeen(mac: string): void;
  /** Takes in a sighting of a sensor. A name of an unknown host creates no asset. */
  sight(sighting: HostSighting): void;
  /** Returns the owner of the address at that time (epoch milliseconds); undefined if it had none. */
  assetAt(ip: string, time: number): string | undefined;
  /** Adds to an asset's number of open services. Unknown ids are ignored. */
  serviceCountChanged(assetId: string, by: number): void;
}

/** The services, as used by assets. Called in the writing step of a change of assets. */
export interface ServicesPart extends InventoryPart {
  /** Marks a new asset, which has no services: counting those of an asset takes 10 µs. */
  isNew(assetId: string): void;
  /**
   * Moves all services of an asset to another: services of both are merged, with connections added and
   * clients united. Calls `serviceCountChanged` for both.
   */
  mergeInto(fromAsset: string, toAsset: string): void;
  /**
   * As `mergeInto`, for the services at some addresses, each to the asset that now has it: `owners` by
   * address.
   */
  moveAddresses(fromAsset: string, owners: ReadonlyMap<string, string>): void;
  /**
   * Closes the asset's services at an address that it lost at that time (epoch milliseconds), until they
   * answer again.
   */
  closeAt(ip: string, assetId: string, at: number): void;
  /** Removes the services of a removed asset, without calling `serviceCountChanged`. */
  removeOf(assetId: string): void;
}

import type { LimitName } from '../../limits.ts';
import type { HostSeen } from '../model/seen.ts';
import type { Sighting } from '../model/sighting.ts';

/**
 * State of a part of the inventory. All methods run in the store thread, inside a write transaction. The changes since
 * the last write are in memory, and `write` writes them to the tables. After an aborted transaction, `forget` drops the
 * changes in memory.
 */
export interface TransactionalState {
  /** Number of rows that `write` would write. */
  readonly dirty: number;
  write(): void;
  forget(): void;
}

/** Sightings of hosts: all except sightings of services. */
export type HostSighting = Exclude<Sighting, { kind: 'service' }>;

/** The owners of addresses over time, and the attributes of assets. */
export interface AssetsPart extends TransactionalState {
  /** Number of assets, including those in memory. */
  readonly count: number;
  /** Number of times since the start that data was dropped, by limit. Only increases. */
  readonly reached: Readonly<Partial<Record<LimitName, number>>>;
  /** Records that a home host answered. Returns its asset; undefined if the evidence is ignored, or at a limit. */
  hostSeen(host: HostSeen): string | undefined;
  /**
   * Records that a MAC address forwards for other hosts, and therefore does not identify a host. Called whenever a
   * sensor shows that the MAC address forwards.
   */
  gatewaySeen(mac: string): void;
  /** Records a sighting that a sensor reported. A name of an unknown host does not create an asset. */
  sight(sighting: HostSighting): void;
  /** Returns the owner of the address at a time (epoch milliseconds); undefined if it had no owner. */
  assetAt(ip: string, time: number): string | undefined;
  /** Adds to an asset's number of open services. Unknown ids are ignored. */
  serviceCountChanged(assetId: string, by: number): void;
}

/** The services, as used by assets. The methods are called when a change of assets is written. */
export interface ServicesPart extends TransactionalState {
  /** Marks a new asset, which has no services. The mark avoids counting services, which takes 10 µs. */
  isNew(assetId: string): void;
  /**
   * Moves all services of an asset to another asset. Services that both assets have are merged: connections are
   * added, and clients united. Calls `serviceCountChanged` for both assets.
   */
  mergeInto(fromAsset: string, toAsset: string): void;
  /**
   * Moves the services at the given addresses to new owners, and merges them as `mergeInto` does. `owners` maps
   * each address to an asset id.
   */
  moveAddresses(fromAsset: string, owners: ReadonlyMap<string, string>): void;
  /**
   * Closes the asset's services at an address that the asset lost at `at` (epoch milliseconds). A closed service opens
   * when it answers again.
   */
  closeAt(ip: string, assetId: string, at: number): void;
  /** Removes the services of a removed asset, without calling `serviceCountChanged`. */
  removeOf(assetId: string): void;
}

import type { HostSeen } from '../../../inventory/seen.ts';
import type { Sighting } from '../../../inventory/sighting.ts';
import type { LimitName } from '../../../limits.ts';

/**
 * The parts of the inventory as they know each other. All of it is in the thread that writes siem.mdb, in the midst
 * of a write transaction. Memory holds what changed since it was last written; tables and memory agree after `write`,
 * and `forget` drops what memory holds, because the transaction that it belongs to was undone.
 */
export interface InventoryPart {
  /** Rows that `write` would write; none when there is nothing left. */
  readonly dirty: number;
  write(): void;
  forget(): void;
}

/** Sightings of hosts: all but those of services. */
export type HostSighting = Exclude<Sighting, { kind: 'service' }>;

/** Which machine had which address when, and what is known of the machines. */
export interface AssetsPart extends InventoryPart {
  /** Assets now, those in memory included. */
  readonly count: number;
  /** How often something was left out because of a limit since this was opened. Only grow. */
  readonly reached: Readonly<Partial<Record<LimitName, number>>>;
  /** A home host answered. Its asset; undefined when there may be no more of them. */
  hostSeen(host: HostSeen): string | undefined;
  /** This MAC address forwards for others: it identifies no host. Told as often as it is seen. */
  gatewaySeen(mac: string): void;
  /** What a sensor said of a host. A name of a host that isn't known makes none. */
  sight(sighting: HostSighting): void;
  /** Whose address this was at that time (epoch ms); undefined when no asset ever had it. */
  assetAt(ip: string, time: number): string | undefined;
  /** The number of open services of an asset changed by this much. Unknown ids are passed over. */
  serviceCountChanged(assetId: string, by: number): void;
}

/** What the assets need of the services. Called in the writing step of a change of assets. */
export interface ServicesPart extends InventoryPart {
  /** This asset has none yet: counting those of an asset takes 10 µs. */
  isNew(assetId: string): void;
  /**
   * All services of an asset become those of another: what both have becomes one, connections added, clients united.
   * `serviceCountChanged` is told of both.
   */
  mergeInto(fromAsset: string, toAsset: string): void;
  /** The same for the services at some addresses, each to the asset that has it now: `owners` by address. */
  moveAddresses(fromAsset: string, owners: ReadonlyMap<string, string>): void;
  /** The asset's services at an address, which left it at that time (epoch ms), are closed until they answer again. */
  closeAt(ip: string, assetId: string, at: number): void;
  /** The services of an asset that is no more; `serviceCountChanged` isn't told. */
  removeOf(assetId: string): void;
}

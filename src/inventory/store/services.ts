import { limits } from '../../limits.ts';
import { addClients, mergeClients } from '../../sketch/client-count.ts';
import { uuid7 } from '../../uuid.ts';
import type { ServiceSeen } from '../model/seen.ts';
import type { Sighting } from '../model/sighting.ts';
import { type KnownService, learn, newService, type ServicePlace, unite } from './known-service.ts';
import type { ServicesPart } from './parts.ts';
import { ServiceRows } from './service-rows.ts';
import type { InventoryTables } from './tables.ts';

type ServiceSighting = Extract<Sighting, { kind: 'service' }>;

/** A scan result for a port. Times are epoch milliseconds; protocol names are in lower case. */
export interface Scanned {
  readonly ip: string;
  readonly port: number;
  readonly transport: string;
  readonly state: 'open' | 'closed';
  readonly name?: string;
  readonly product?: string;
  readonly version?: string;
  readonly at: number;
}

export type ServiceLimits = Readonly<Record<'maxServices' | 'maxServicesPerAsset', number>>;

const passive = 0;
const scan = 1;

/**
 * The services of assets, from traffic, sensors and scans. Services above limits.maxServices and
 * limits.maxServicesPerAsset are dropped and counted.
 */
export class Services implements ServicesPart {
  /** Number of times that evidence was dropped because of limits.maxServices. Only increases. */
  beyondAll = 0;
  /** Number of times that evidence was dropped because of limits.maxServicesPerAsset. Only increases. */
  beyondAsset = 0;
  /** Number of times that evidence was dropped because its transport is longer than a protocol name. Only increases. */
  withoutTransport = 0;
  /**
   * Called when the time at which a service was first seen changes (epoch milliseconds). `before` is undefined
   * for a new service, `after` for a removed service.
   */
  onFirstSeen: ((before: number | undefined, after: number | undefined) => void) | undefined;
  readonly #rows: ServiceRows;
  readonly #openChanged: (assetId: string, by: number) => void;
  readonly #now: () => number;
  readonly #most: ServiceLimits;

  /** @param openChanged - called with the change in the number of open services of an asset */
  constructor(
    tables: InventoryTables,
    openChanged: (assetId: string, by: number) => void,
    now: () => number,
    most: ServiceLimits = limits,
  ) {
    this.#rows = new ServiceRows(tables);
    this.#most = most;
    this.#openChanged = openChanged;
    this.#now = now;
  }

  /** Number of services, including those in memory. */
  get count(): number {
    return this.#rows.count;
  }

  get dirty(): number {
    return this.#rows.dirty;
  }

  isNew(assetId: string): void {
    this.#rows.isNew(assetId);
  }

  /** Records traffic in which a service of this asset answered. */
  seen(assetId: string, seen: ServiceSeen): void {
    const service = this.#rows.find(assetId, seen) ?? this.#create(assetId, seen, passive, seen.first, seen.last);
    if (service === undefined) return;
    service.connections += seen.connections;
    this.#rows.setClients(service, addClients(this.#rows.clientsOf(service), seen.clients));
    learn(service, seen);
    this.#answered(service, seen.first, seen.last);
  }

  /** Records a service that answered, according to a sensor. */
  sight(assetId: string, sighting: ServiceSighting): void {
    const { at } = sighting;
    const service = this.#rows.find(assetId, sighting) ?? this.#create(assetId, sighting, passive, at, at);
    if (service === undefined) return;
    learn(service, sighting);
    this.#answered(service, at, at);
  }

  /** Records a scanned port. A closed port stays closed until there is newer evidence. */
  scanned(assetId: string, found: Scanned): void {
    const known = this.#rows.find(assetId, found);
    if (found.state === 'closed') {
      if (known !== undefined && found.at > known.last && found.at > known.closedAt) this.#close(known, found.at);
      return;
    }
    const service = known ?? this.#create(assetId, found, scan, found.at, found.at);
    if (service === undefined) return;
    learn(service, found);
    this.#answered(service, found.at, found.at);
  }

  mergeInto(fromAsset: string, toAsset: string): void {
    for (const service of this.#rows.of(fromAsset)) this.#move(service, toAsset);
    this.#rows.forgetAsset(fromAsset);
  }

  moveAddresses(fromAsset: string, owners: ReadonlyMap<string, string>): void {
    for (const service of this.#rows.of(fromAsset, owners)) this.#move(service, owners.get(service.ip)!);
  }

  closeAt(ip: string, assetId: string, at: number): void {
    for (const service of this.#rows.knownOf(assetId))
      if (service.ip === ip && service.closedAt === 0) this.#close(service, Math.max(at, service.last));
  }

  removeOf(assetId: string): void {
    for (const service of this.#rows.of(assetId)) this.#remove(service);
    this.#rows.forgetAsset(assetId);
  }

  write(): void {
    this.#rows.write();
  }

  forget(): void {
    this.#rows.forget();
  }

  /** Creates a service; returns undefined at a limit. */
  #create(assetId: string, place: ServicePlace, source: 0 | 1, first: number, last: number): KnownService | undefined {
    if (place.transport.length > limits.maxTransportLength) {
      this.withoutTransport++;
      return undefined;
    }
    if (this.count >= this.#most.maxServices) {
      this.beyondAll++;
      return undefined;
    }
    if (this.#rows.countOf(assetId) >= this.#most.maxServicesPerAsset) {
      this.beyondAsset++;
      return undefined;
    }
    const service = newService(uuid7(this.#now()), assetId, place, { source, first, last });
    this.#rows.add(service);
    this.onFirstSeen?.(undefined, first);
    this.#openChanged(assetId, 1);
    return service;
  }

  #answered(service: KnownService, first: number, last: number): void {
    if (first < service.first) {
      this.onFirstSeen?.(service.first, first);
      service.first = first;
    }
    if (last > service.last) service.last = last;
    if (service.closedAt > 0 && last > service.closedAt) {
      service.closedAt = 0;
      this.#openChanged(service.assetId, 1);
    }
    this.#rows.changed(service);
  }

  #close(service: KnownService, at: number): void {
    if (service.closedAt === 0) this.#openChanged(service.assetId, -1);
    service.closedAt = at;
    this.#rows.changed(service);
  }

  /**
   * Moves a service to another asset. The service keeps its id, unless the other asset already has a service at
   * the same location.
   */
  #move(service: KnownService, toAsset: string): void {
    const rows = this.#rows;
    const other = rows.find(toAsset, service);
    const clients = rows.clientsOf(service);
    if (service.closedAt === 0) this.#openChanged(service.assetId, -1);
    this.#remove(service);
    if (other === undefined) {
      rows.add({ ...service, assetId: toAsset, clientSet: clients, isNew: true, clientsChanged: true });
      this.onFirstSeen?.(undefined, service.first);
      if (service.closedAt === 0) this.#openChanged(toAsset, 1);
      return;
    }
    const wasOpen = other.closedAt === 0;
    if (service.first < other.first) this.onFirstSeen?.(other.first, service.first);
    unite(service, other);
    if (wasOpen !== (other.closedAt === 0)) this.#openChanged(toAsset, wasOpen ? -1 : 1);
    rows.setClients(other, mergeClients(rows.clientsOf(other), clients));
    rows.changed(other);
  }

  #remove(service: KnownService): void {
    this.#rows.remove(service);
    this.onFirstSeen?.(service.first, undefined);
  }
}

import { maxLineLength } from '../../../contract/resources/asset.ts';
import {
  addClients,
  type ClientCount,
  clientsIn,
  decodeClients,
  encodeClients,
  mergeClients,
  noClients,
} from '../../../inventory/client-count.ts';
import { printable } from '../../../inventory/printable.ts';
import type { ServiceSeen } from '../../../inventory/seen.ts';
import { toldName } from '../../../inventory/service-names.ts';
import type { Sighting } from '../../../inventory/sighting.ts';
import { limits } from '../../../limits.ts';
import { uuid7 } from '../../../uuid.ts';
import { at, type ServiceKey, type ServiceRow } from '../../service-row.ts';
import { entryCount, type Tables } from '../tables.ts';
import type { ServicesPart } from './parts.ts';

type ServiceSighting = Extract<Sighting, { kind: 'service' }>;

/** What a scan found at a port. Times are epoch milliseconds, texts lower case where they are names of protocols. */
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

/** A service in memory. Sets of clients are read when they are needed. */
interface Known {
  readonly id: string;
  assetId: string;
  readonly transport: string;
  readonly port: number;
  readonly ip: string;
  name: string | undefined;
  product: string | undefined;
  version: string | undefined;
  source: 0 | 1;
  closedAt: number;
  connections: number;
  clients: number;
  first: number;
  last: number;
  /** Undefined while it is only in the table. */
  clientSet: ClientCount | undefined;
  isNew: boolean;
  clientsChanged: boolean;
}

/** What is learned of a service, by whatever way. */
type Learned = Pick<Scanned, 'name' | 'product' | 'version'>;

export type ServiceLimits = Readonly<Record<'maxServices' | 'maxServicesPerAsset', number>>;

const passive = 0;
const scan = 1;

/**
 * The services of assets. Those used last are in memory, up to limits.maxCachedServices, with those that changed since
 * `write`. Limits: limits.maxServices and maxServicesPerAsset; what comes beyond is counted and left out.
 */
export class Services implements ServicesPart {
  /** Evidence of services beyond limits.maxServices, and beyond limits.maxServicesPerAsset; only grow. */
  beyondAll = 0;
  beyondAsset = 0;
  /** Evidence of services whose transport is no protocol's name; only grows. */
  withoutTransport = 0;
  readonly #tables: Tables;
  readonly #openChanged: (assetId: string, by: number) => void;
  readonly #now: () => number;
  readonly #most: ServiceLimits;
  /** By key, the one used last at the end. */
  #cache = new Map<string, Known>();
  #dirty = new Set<Known>();
  #cachedClientBytes = 0;
  #count: number;
  /** Services of an asset, counted when they are first needed. */
  #perAsset = new Map<string, number>();

  /** @param openChanged - told by how much the number of open services of an asset changed */
  constructor(
    tables: Tables,
    openChanged: (assetId: string, by: number) => void,
    now: () => number,
    most: ServiceLimits = limits,
  ) {
    this.#most = most;
    this.#tables = tables;
    this.#openChanged = openChanged;
    this.#now = now;
    this.#count = entryCount(tables.serviceKeys);
  }

  /** Services now, those in memory included. */
  get count(): number {
    return this.#count;
  }

  get dirty(): number {
    return this.#dirty.size;
  }

  /** This asset has none yet: counting them takes 10 µs. */
  isNew(assetId: string): void {
    this.#perAsset.set(assetId, 0);
  }

  /** Traffic showed that a service of this asset answers. */
  seen(assetId: string, seen: ServiceSeen): void {
    const service = this.#find(assetId, seen) ?? this.#create(assetId, seen, passive, seen.first, seen.last);
    if (service === undefined) return;
    service.connections += seen.connections;
    this.#addClients(service, seen.clients);
    this.#learn(service, seen);
    this.#answered(service, seen.first, seen.last);
  }

  /** A sensor named a service that it saw answer. */
  sight(assetId: string, sighting: ServiceSighting): void {
    const { at } = sighting;
    const service = this.#find(assetId, sighting) ?? this.#create(assetId, sighting, passive, at, at);
    if (service === undefined) return;
    this.#learn(service, sighting);
    this.#answered(service, at, at);
  }

  /** A port that a scan finds closed is closed until evidence that is younger. */
  scanned(assetId: string, found: Scanned): void {
    const known = this.#find(assetId, found);
    if (found.state === 'closed') {
      if (known !== undefined && found.at > known.last && found.at > known.closedAt)
        this.#close(known, found.at);
      return;
    }
    const service = known ?? this.#create(assetId, found, scan, found.at, found.at);
    if (service === undefined) return;
    this.#learn(service, found);
    this.#answered(service, found.at, found.at);
  }

  mergeInto(fromAsset: string, toAsset: string): void {
    for (const service of this.#of(fromAsset)) this.#move(service, toAsset);
    this.#perAsset.delete(fromAsset);
  }

  moveAddresses(fromAsset: string, owners: ReadonlyMap<string, string>): void {
    for (const service of this.#of(fromAsset, owners)) this.#move(service, owners.get(service.ip)!);
  }

  closeAt(ip: string, assetId: string, at: number): void {
    for (const service of this.#knownOf(assetId))
      if (service.ip === ip && service.closedAt === 0) this.#close(service, Math.max(at, service.last));
  }

  removeOf(assetId: string): void {
    for (const service of this.#of(assetId)) this.#remove(service);
    this.#perAsset.delete(assetId);
  }

  write(): void {
    // In order of their keys, neighbours on a page are written one after the other, and new ones fill their pages.
    const services = [...this.#dirty].sort((a, b) => (a.id < b.id ? -1 : 1));
    for (const service of services) this.#put(service);
    this.#dirty.clear();
    this.#trim();
  }

  forget(): void {
    this.#cache.clear();
    this.#dirty.clear();
    this.#perAsset.clear();
    this.#cachedClientBytes = 0;
    this.#count = entryCount(this.#tables.serviceKeys);
  }

  #find(assetId: string, place: Pick<Known, 'transport' | 'port' | 'ip'>): Known | undefined {
    if (place.transport.length > limits.maxTransportLength) return undefined;
    const { transport, port, ip } = place;
    const text = cacheKey(assetId, transport, port, ip);
    const cached = this.#cache.get(text);
    if (cached !== undefined) {
      this.#cache.delete(text);
      this.#cache.set(text, cached);
      return cached;
    }
    const id = this.#tables.serviceKeys.get([assetId, transport, port, ip]);
    return id === undefined ? undefined : this.#load(id);
  }

  #load(id: string): Known {
    const row = this.#tables.services.get(id);
    if (row === undefined) throw new Error(`service ${id} is missing`);
    const assetId = row[at.assetId];
    const transport = row[at.transport];
    const port = row[at.port];
    const ip = row[at.ip];
    const clients = row[at.clients];
    const service = {
      id,
      assetId,
      transport,
      port,
      ip,
      name: row[at.name] ?? undefined,
      product: row[at.product] ?? undefined,
      version: row[at.version] ?? undefined,
      source: row[at.source],
      closedAt: row[at.closedAt],
      connections: row[at.connections],
      clients,
      first: row[at.firstSeen],
      last: row[at.lastSeen],
      clientSet: clients === 0 ? noClients : undefined,
      isNew: false,
      clientsChanged: false,
    };
    this.#cache.set(cacheKey(assetId, transport, port, ip), service);
    return service;
  }

  /** Undefined when there may be no more of them. */
  #create(
    assetId: string,
    { transport, port, ip }: Pick<Known, 'transport' | 'port' | 'ip'>,
    source: 0 | 1,
    first: number,
    last: number,
  ): Known | undefined {
    if (transport.length > limits.maxTransportLength) {
      this.withoutTransport++;
      return undefined;
    }
    if (this.#count >= this.#most.maxServices) {
      this.beyondAll++;
      return undefined;
    }
    const ofAsset = this.#countOf(assetId);
    if (ofAsset >= this.#most.maxServicesPerAsset) {
      this.beyondAsset++;
      return undefined;
    }
    const service: Known = {
      id: uuid7(this.#now()),
      assetId,
      transport,
      port,
      ip,
      name: undefined,
      product: undefined,
      version: undefined,
      source,
      closedAt: 0,
      connections: 0,
      clients: 0,
      first,
      last,
      clientSet: noClients,
      isNew: true,
      clientsChanged: false,
    };
    this.#cache.set(cacheKey(assetId, transport, port, ip), service);
    this.#dirty.add(service);
    this.#count++;
    this.#perAsset.set(assetId, ofAsset + 1);
    this.#openChanged(assetId, 1);
    return service;
  }

  #countOf(assetId: string): number {
    let count = this.#perAsset.get(assetId);
    if (count === undefined) {
      count = this.#tables.serviceKeys.getKeysCount(rangeOf(assetId));
      this.#perAsset.set(assetId, count);
    }
    return count;
  }

  #learn(service: Known, { name, product, version }: Learned): void {
    service.name = toldName(service.name, line(name));
    const shown = line(product);
    if (shown === undefined) return;
    const changed = shown !== service.product;
    service.product = shown;
    if (version !== undefined || changed) service.version = line(version);
  }

  #answered(service: Known, first: number, last: number): void {
    if (first < service.first) service.first = first;
    if (last > service.last) service.last = last;
    if (service.closedAt > 0 && last > service.closedAt) {
      service.closedAt = 0;
      this.#openChanged(service.assetId, 1);
    }
    this.#dirty.add(service);
  }

  #close(service: Known, at: number): void {
    if (service.closedAt === 0) this.#openChanged(service.assetId, -1);
    service.closedAt = at;
    this.#dirty.add(service);
  }

  #addClients(service: Known, hashes: Uint32Array): void {
    this.#setClients(service, addClients(this.#clientsOf(service), hashes));
  }

  #clientsOf(service: Known): ClientCount {
    if (service.clientSet === undefined) {
      const stored = this.#tables.serviceClients.get(service.id);
      service.clientSet = stored === undefined ? noClients : decodeClients(stored);
      this.#cachedClientBytes += service.clientSet.byteLength;
    }
    return service.clientSet;
  }

  #setClients(service: Known, clients: ClientCount): void {
    if (clients === service.clientSet) return;
    this.#cachedClientBytes += clients.byteLength - (service.clientSet?.byteLength ?? 0);
    service.clientSet = clients;
    service.clients = clientsIn(clients);
    service.clientsChanged = true;
    this.#dirty.add(service);
  }

  /** The services of an asset, all or those at some addresses, after what memory holds was written. */
  #of(assetId: string, addresses?: ReadonlyMap<string, unknown>): Known[] {
    this.write();
    const places = [...this.#tables.serviceKeys.getRange(rangeOf(assetId))];
    return places
      .filter(({ key }) => addresses === undefined || addresses.has(key[3]))
      .map(({ key: [, transport, port, ip], value: id }) => {
        return this.#cache.get(cacheKey(assetId, transport, port, ip)) ?? this.#load(id);
      });
  }

  /** The same without writing: of each address that it has, and those that only memory has. */
  *#knownOf(assetId: string): Generator<Known> {
    const stored = Array.from(this.#tables.serviceKeys.getRange(rangeOf(assetId)));
    for (const { key, value: id } of stored) {
      const [, transport, port, ip] = key;
      yield this.#cache.get(cacheKey(assetId, transport, port, ip)) ?? this.#load(id);
    }
    for (const service of this.#dirty) if (service.isNew && service.assetId === assetId) yield service;
  }

  #move(service: Known, toAsset: string): void {
    const other = this.#find(toAsset, service);
    const clients = this.#clientsOf(service);
    if (service.closedAt === 0) this.#openChanged(service.assetId, -1);
    this.#remove(service);
    if (other === undefined) {
      this.#adopt({ ...service, assetId: toAsset, clientSet: clients, isNew: true, clientsChanged: true });
      return;
    }
    if (service.first < other.first) other.source = service.source;
    const wasOpen = other.closedAt === 0;
    other.closedAt = closedOf(service, other);
    if (wasOpen !== (other.closedAt === 0)) this.#openChanged(toAsset, wasOpen ? -1 : 1);
    if (service.last > other.last || other.name === undefined) other.name = service.name ?? other.name;
    if (service.product !== undefined && (service.last > other.last || other.product === undefined)) {
      other.product = service.product;
      other.version = service.version;
    }
    other.connections += service.connections;
    other.first = Math.min(other.first, service.first);
    other.last = Math.max(other.last, service.last);
    this.#setClients(other, mergeClients(this.#clientsOf(other), clients));
    this.#dirty.add(other);
  }

  /** Takes a service that was removed elsewhere, under the same id. */
  #adopt(service: Known): void {
    const { assetId, transport, port, ip } = service;
    const ofAsset = this.#countOf(assetId);
    this.#cache.set(cacheKey(assetId, transport, port, ip), service);
    this.#dirty.add(service);
    this.#cachedClientBytes += service.clientSet?.byteLength ?? 0;
    this.#count++;
    this.#perAsset.set(assetId, ofAsset + 1);
    if (service.closedAt === 0) this.#openChanged(assetId, 1);
  }

  #remove(service: Known): void {
    const { id, assetId, transport, port, ip } = service;
    this.#tables.services.removeSync(id);
    this.#tables.serviceKeys.removeSync([assetId, transport, port, ip]);
    this.#tables.serviceClients.removeSync(id);
    this.#cache.delete(cacheKey(assetId, transport, port, ip));
    this.#dirty.delete(service);
    this.#cachedClientBytes -= service.clientSet?.byteLength ?? 0;
    this.#count--;
    const ofAsset = this.#perAsset.get(assetId);
    if (ofAsset !== undefined) this.#perAsset.set(assetId, ofAsset - 1);
  }

  #put(service: Known): void {
    const { id, assetId, transport, port, ip, clientSet } = service;
    this.#tables.services.putSync(id, rowOf(service));
    if (service.isNew) this.#tables.serviceKeys.putSync([assetId, transport, port, ip], id);
    if (service.clientsChanged && clientSet !== undefined)
      this.#tables.serviceClients.putSync(id, encodeClients(clientSet));
    service.isNew = false;
    service.clientsChanged = false;
  }

  /** Nothing is dirty. The services used longest ago leave memory. */
  #trim(): void {
    if (this.#perAsset.size > limits.maxCachedServices) this.#perAsset.clear();
    let excess = this.#cache.size - limits.maxCachedServices;
    for (const [key, service] of this.#cache) {
      if (excess <= 0 && this.#cachedClientBytes <= limits.maxCachedClientBytes) break;
      this.#cache.delete(key);
      this.#cachedClientBytes -= service.clientSet?.byteLength ?? 0;
      excess--;
    }
  }
}

const line = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : printable(text, maxLineLength);

/** When two become one: open if one of them is, but for a port that was found closed after it answered last. */
function closedOf(a: Known, b: Known): number {
  const closedAt = Math.max(a.closedAt, b.closedAt);
  return closedAt > Math.max(a.last, b.last) ? closedAt : 0;
}

const cacheKey = (assetId: string, transport: string, port: number, ip: string): string =>
  `${assetId} ${transport} ${port} ${ip}`;

/** The keys of an asset's services, whatever they are: no id lies between it and the end. */
export const rangeOf = (assetId: string) => ({
  start: [assetId] as unknown as ServiceKey,
  end: [`${assetId}\0`] as unknown as ServiceKey,
});

function rowOf(service: Known): ServiceRow {
  return [
    service.assetId,
    service.transport,
    service.port,
    service.ip,
    service.name ?? null,
    service.product ?? null,
    service.version ?? null,
    service.source,
    service.closedAt,
    service.connections,
    service.clients,
    service.first,
    service.last,
  ];
}

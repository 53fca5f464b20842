import { entryCount } from '../../database/rows.ts';
import { limits } from '../../limits.ts';
import { type ClientCount, clientsIn, decodeClients, encodeClients, noClients } from '../../sketch/client-count.ts';
import { type KnownService, rangeOf, type ServicePlace, serviceCodec } from './known-service.ts';
import type { InventoryTables } from './tables.ts';

/**
 * The rows of services. The cache holds the most recently used services, up to limits.maxCachedServices, and
 * all services that changed since `write`. A service is found by asset and location. Its clients are in a
 * separate row, which is read on demand.
 */
export class ServiceRows {
  readonly #tables: InventoryTables;
  /**
   * Services by key. A service is moved to the end at most once between two writes, because moving a service takes
   * longer than finding a service.
   */
  readonly #cache = new Map<string, KnownService>();
  readonly #dirty = new Set<KnownService>();
  #cachedClientBytes = 0;
  #writes = 0;
  #count: number;
  /** Number of services per asset, counted on demand. */
  readonly #perAsset = new Map<string, number>();

  constructor(tables: InventoryTables) {
    this.#tables = tables;
    this.#count = entryCount(tables.serviceKeys);
  }

  /** Number of services, including those in memory. */
  get count(): number {
    return this.#count;
  }

  get dirty(): number {
    return this.#dirty.size;
  }

  /** Marks a new asset, which has no services. The mark avoids counting services, which takes 10 µs. */
  isNew(assetId: string): void {
    this.#perAsset.set(assetId, 0);
  }

  countOf(assetId: string): number {
    let count = this.#perAsset.get(assetId);
    if (count === undefined) {
      count = this.#tables.serviceKeys.getKeysCount(rangeOf(assetId));
      this.#perAsset.set(assetId, count);
    }
    return count;
  }

  find(assetId: string, { transport, port, ip }: ServicePlace): KnownService | undefined {
    if (transport.length > limits.maxTransportLength) return undefined;
    const text = cacheKey(assetId, transport, port, ip);
    const cached = this.#cache.get(text);
    if (cached !== undefined) {
      if (cached.usedAfter !== this.#writes) {
        cached.usedAfter = this.#writes;
        this.#cache.delete(text);
        this.#cache.set(text, cached);
      }
      return cached;
    }
    const id = this.#tables.serviceKeys.get([assetId, transport, port, ip]);
    return id === undefined ? undefined : this.#load(id);
  }

  /** Adds a service that is not in the table yet. */
  add(service: KnownService): void {
    const { assetId, transport, port, ip } = service;
    const ofAsset = this.countOf(assetId);
    this.#cache.set(cacheKey(assetId, transport, port, ip), service);
    this.#dirty.add(service);
    this.#cachedClientBytes += service.clientSet?.byteLength ?? 0;
    this.#count++;
    this.#perAsset.set(assetId, ofAsset + 1);
  }

  /** Marks a service that was changed in place. */
  changed(service: KnownService): void {
    this.#dirty.add(service);
  }

  clientsOf(service: KnownService): ClientCount {
    if (service.clientSet === undefined) {
      const stored = this.#tables.serviceClients.get(service.id);
      service.clientSet = stored === undefined ? noClients : decodeClients(stored);
      this.#cachedClientBytes += service.clientSet.byteLength;
    }
    return service.clientSet;
  }

  setClients(service: KnownService, clients: ClientCount): void {
    if (clients === service.clientSet) return;
    this.#cachedClientBytes += clients.byteLength - (service.clientSet?.byteLength ?? 0);
    service.clientSet = clients;
    service.clients = clientsIn(clients);
    service.clientsChanged = true;
    this.#dirty.add(service);
  }

  /**
   * Returns the services of an asset (all services, or only the services at the given addresses), after writing
   * pending changes.
   */
  of(assetId: string, addresses?: ReadonlyMap<string, unknown>): KnownService[] {
    this.write();
    const places = [...this.#tables.serviceKeys.getRange(rangeOf(assetId))];
    return places
      .filter(({ key }) => addresses === undefined || addresses.has(key[3]))
      .map(({ key: [, transport, port, ip], value: id }) => {
        return this.#cache.get(cacheKey(assetId, transport, port, ip)) ?? this.#load(id);
      })
      .filter((service) => service !== undefined);
  }

  /**
   * Yields the services of an asset without writing: first stored services, then services that are only in
   * memory.
   */
  *knownOf(assetId: string): Generator<KnownService> {
    const stored = Array.from(this.#tables.serviceKeys.getRange(rangeOf(assetId)));
    for (const { key, value: id } of stored) {
      const [, transport, port, ip] = key;
      const service = this.#cache.get(cacheKey(assetId, transport, port, ip)) ?? this.#load(id);
      if (service !== undefined) yield service;
    }
    for (const service of this.#dirty) if (service.isNew && service.assetId === assetId) yield service;
  }

  /** Removes a service. Runs within a transaction. */
  remove(service: KnownService): void {
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

  /** Drops the cached count of a removed asset. */
  forgetAsset(assetId: string): void {
    this.#perAsset.delete(assetId);
  }

  /** Writes changed services. Runs within a transaction. */
  write(): void {
    // The services are sorted, so that neighbours on a page are written consecutively, and new services fill
    // their pages.
    const services = [...this.#dirty].sort((a, b) => (a.id < b.id ? -1 : 1));
    for (const service of services) this.#put(service);
    this.#dirty.clear();
    this.#writes++;
    this.#trim();
  }

  forget(): void {
    this.#cache.clear();
    this.#dirty.clear();
    this.#perAsset.clear();
    this.#cachedClientBytes = 0;
    this.#count = entryCount(this.#tables.serviceKeys);
  }

  /**
   * Returns a service; undefined if its row is damaged. A damaged service is created again at its next
   * sighting.
   */
  #load(id: string): KnownService | undefined {
    const row = this.#tables.services.get(id);
    if (row === undefined) return undefined;
    const service = serviceCodec.unpack(row, id);
    this.#cache.set(cacheKey(service.assetId, service.transport, service.port, service.ip), service);
    return service;
  }

  #put(service: KnownService): void {
    const { id, assetId, transport, port, ip, clientSet } = service;
    this.#tables.services.putSync(id, serviceCodec.pack(service));
    if (service.isNew) this.#tables.serviceKeys.putSync([assetId, transport, port, ip], id);
    if (service.clientsChanged && clientSet !== undefined)
      this.#tables.serviceClients.putSync(id, encodeClients(clientSet));
    service.isNew = false;
    service.clientsChanged = false;
  }

  /** Evicts the least recently used services. Called when there are no pending changes. */
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

const cacheKey = (assetId: string, transport: string, port: number, ip: string): string =>
  `${assetId} ${transport} ${port} ${ip}`;

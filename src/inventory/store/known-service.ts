import { maxLineLength } from '../../contract/vocabulary.ts';
import { type ClientCount, noClients } from '../../sketch/client-count.ts';
import { printable } from '../model/printable.ts';
import { toldName } from '../model/service-names.ts';
import { at, type ServiceKey, type ServiceRow } from './service-row.ts';

/** Location of a service. */
export interface ServicePlace {
  readonly transport: string;
  readonly port: number;
  readonly ip: string;
}

/** A service in memory, changed in place. Sets of clients are read on demand. */
export interface KnownService extends ServicePlace {
  readonly id: string;
  readonly assetId: string;
  name: string | undefined;
  product: string | undefined;
  version: string | undefined;
  source: 0 | 1;
  closedAt: number;
  connections: number;
  clients: number;
  first: number;
  last: number;
  /** The set of clients; undefined while the set is only in the table. */
  clientSet: ClientCount | undefined;
  isNew: boolean;
  clientsChanged: boolean;
  /** Number of `ServiceRows.write` calls before the service was last moved to the end of the cache. */
  usedAfter: number;
}

/** Details learned about a service, from any source. */
export interface Learned {
  readonly name?: string;
  readonly product?: string;
  readonly version?: string;
}

export const newService = (
  id: string,
  assetId: string,
  { transport, port, ip }: ServicePlace,
  { source, first, last }: Pick<KnownService, 'source' | 'first' | 'last'>,
): KnownService => ({
  ...{ id, assetId, transport, port, ip, source, first, last },
  name: undefined,
  product: undefined,
  version: undefined,
  closedAt: 0,
  connections: 0,
  clients: 0,
  clientSet: noClients,
  isNew: true,
  clientsChanged: false,
  usedAfter: -1,
});

/** Encoding of a service row. */
export const serviceCodec = {
  pack: (service: KnownService): ServiceRow => [
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
  ],
  unpack: (row: ServiceRow, id: string): KnownService => ({
    id,
    assetId: row[at.assetId],
    transport: row[at.transport],
    port: row[at.port],
    ip: row[at.ip],
    name: row[at.name] ?? undefined,
    product: row[at.product] ?? undefined,
    version: row[at.version] ?? undefined,
    source: row[at.source],
    closedAt: row[at.closedAt],
    connections: row[at.connections],
    clients: row[at.clients],
    first: row[at.firstSeen],
    last: row[at.lastSeen],
    clientSet: row[at.clients] === 0 ? noClients : undefined,
    isNew: false,
    clientsChanged: false,
    usedAfter: -1,
  }),
};

export function learn(service: KnownService, { name, product, version }: Learned): void {
  service.name = toldName(service.name, line(name));
  const shown = line(product);
  if (shown === undefined) return;
  const changed = shown !== service.product;
  service.product = shown;
  if (version !== undefined || changed) service.version = line(version);
}

/** Merges one service into another, except the clients, which callers must merge. */
export function unite(service: KnownService, into: KnownService): void {
  if (service.first < into.first) into.source = service.source;
  into.closedAt = closedOf(service, into);
  if (service.last > into.last || into.name === undefined) into.name = service.name ?? into.name;
  if (service.product !== undefined && (service.last > into.last || into.product === undefined)) {
    into.product = service.product;
    into.version = service.version;
  }
  into.connections += service.connections;
  into.first = Math.min(into.first, service.first);
  into.last = Math.max(into.last, service.last);
}

/**
 * Returns the closing time of merged services; 0 if the merged service is open. The merged service is closed only if
 * the port was found closed after the last answer.
 */
function closedOf(a: KnownService, b: KnownService): number {
  const closedAt = Math.max(a.closedAt, b.closedAt);
  return closedAt > Math.max(a.last, b.last) ? closedAt : 0;
}

const line = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : printable(text, maxLineLength);

/** Returns the key range of all services of an asset. No other id sorts between the start and the end. */
export const rangeOf = (assetId: string) => ({
  start: [assetId] as unknown as ServiceKey,
  end: [`${assetId}\0`] as unknown as ServiceKey,
});

import type { Service } from '../../contract/resources/service.ts';

/** [asset id, transport, port, address] */
export type ServiceKey = [string, string, number, string];

/**
 * A stored service: its location, details and counters. Rows are arrays without names, because a filtered list
 * reads all rows: 1.1 s for a million.
 */
export type ServiceRow = readonly [
  assetId: string,
  transport: string,
  port: number,
  ip: string,
  name: string | null,
  product: string | null,
  version: string | null,
  source: 0 | 1,
  /**
   * Time when a scan found the service closed or its asset lost the address, epoch milliseconds; 0 while the service is
   * open.
   */
  closedAt: number,
  connections: number,
  clients: number,
  firstSeen: number,
  lastSeen: number,
];

/** Indexes in a row. */
export const at = {
  assetId: 0,
  transport: 1,
  port: 2,
  ip: 3,
  name: 4,
  product: 5,
  version: 6,
  source: 7,
  closedAt: 8,
  connections: 9,
  clients: 10,
  firstSeen: 11,
  lastSeen: 12,
} as const;

const sources = ['passive', 'scan'] as const satisfies readonly Service['source'][];

export const stateOf = (row: ServiceRow): Service['state'] => (row[at.closedAt] === 0 ? 'open' : 'closed');
export const sourceOf = (row: ServiceRow): Service['source'] => sources[row[at.source]];

export function serviceOf(row: ServiceRow): Service {
  const name = row[at.name];
  const product = row[at.product];
  const version = row[at.version];
  return {
    asset_id: row[at.assetId],
    ip: row[at.ip],
    port: row[at.port],
    transport: row[at.transport],
    ...(name === null ? {} : { name }),
    ...(product === null ? {} : { product }),
    ...(version === null ? {} : { version }),
    state: stateOf(row),
    source: sourceOf(row),
    connections: row[at.connections],
    clients: row[at.clients],
    first_seen: new Date(row[at.firstSeen]).toISOString(),
    last_seen: new Date(row[at.lastSeen]).toISOString(),
  };
}

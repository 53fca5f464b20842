import type { NetworkEvent } from '../../../src/contract/resources/network-event.ts';
import type { Service } from '../../../src/contract/resources/service.ts';
import { BlockBuilder } from '../../../src/events/format/block-builder.ts';
import type { NetworkRecord } from '../../../src/events/records.ts';
import type { IngestBatch, StoreReader } from '../../../src/store/store.ts';
import { type BatchParts, batchOf, everything, resources, start } from '../../store/opened.ts';
import { networkRecord } from '../../store/records.ts';

/** Returns an established connection to port 22 of a home host. */
export const ssh = (changes: Partial<NetworkRecord> = {}): NetworkRecord =>
  networkRecord({ direction: 'inbound', conn_state: 'SF', dst_ip: '10.0.0.1', ...changes });

export function block(records: readonly NetworkRecord[]): ArrayBuffer {
  const builder = new BlockBuilder('network', start);
  for (const record of records) builder.add(record);
  return builder.finish();
}

export const batch = (records: readonly NetworkRecord[], { findings = [], ...more }: BatchParts = {}): IngestBatch =>
  batchOf(findings, {
    blocks: [block(records)],
    answer: { accepted: records.length, rejected: 0, ignored: 0, duplicates: 0, errors: [] },
    ...more,
  });

export interface Counted {
  readonly connections: number;
  readonly clients: number;
}

/** Returns the services in the store, by `address port/transport`. */
export function counted(reader: StoreReader): Record<string, Counted> {
  const page = reader.listServices({ ...everything, per_page: 1_000_000 });
  return Object.fromEntries(
    resources<Service>(page).map(({ attributes: { ip, port, transport, connections, clients } }) => [
      `${ip} ${port}/${transport}`,
      { connections, clients },
    ]),
  );
}

/** Counts the services from the stored events, which are all established connections to home hosts. */
export function countedOfEvents(reader: StoreReader): Record<string, Counted> {
  const found = new Map<string, { connections: number; clients: Set<string> }>();
  const known = new Set<string>();
  const query = { table: 'network', filter: { terms: [] }, order: 'asc', page: 1, per_page: 10_000 } as const;
  let cursor: string | undefined;
  do {
    const page = reader.listEvents(cursor === undefined ? query : { ...query, cursor });
    for (const { attributes } of resources<NetworkEvent>(page)) {
      const { src_ip, dst_ip, dst_port, transport, connection_id } = attributes;
      const key = `${dst_ip} ${dst_port}/${transport}`;
      const service = found.get(key) ?? { connections: 0, clients: new Set() };
      found.set(key, service);
      service.clients.add(src_ip);
      if (connection_id === undefined || !known.has(connection_id)) service.connections++;
      if (connection_id !== undefined) known.add(connection_id);
    }
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return Object.fromEntries(
    [...found].map(([key, { connections, clients }]) => [key, { connections, clients: clients.size }]),
  );
}

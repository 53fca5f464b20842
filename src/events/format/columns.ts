import { connectionStates, directions, dnsKinds, eventSources, severities } from '../../contract/vocabulary.ts';
import type { DnsRecord, NetworkRecord, Table, WithSpans } from '../records.ts';

export type RecordOf<T extends Table> = T extends 'network' ? WithSpans<NetworkRecord> : WithSpans<DnsRecord>;

/**
 * The storage of a column's values.
 *
 * - `time`: epoch milliseconds. `number`: a finite number, not negative. `boolean` and `enum` (the index in
 *   `values`) are numbers internally.
 * - `address`: 4 or 16 bytes in a sorted dictionary.
 * - `text`: a sorted dictionary. `unique`: texts row by row, because nearly all are different.
 *
 * `fold`: filters ignore the case of letters. `q`: free text searches the column (`unique` columns only for
 * whole values, because a part of an id means nothing).
 */
export type Column =
  | { readonly kind: 'time' | 'number' | 'boolean' | 'address' }
  | { readonly kind: 'enum'; readonly values: readonly string[] }
  | { readonly kind: 'text' | 'unique'; readonly fold?: true; readonly q?: true };

const time = { kind: 'time' } as const;
const number = { kind: 'number' } as const;
const flag = { kind: 'boolean' } as const;
const address = { kind: 'address' } as const;
const text = { kind: 'text' } as const;
const name = { kind: 'text', q: true } as const;
const mac = { kind: 'text', fold: true, q: true } as const;
const principal = { kind: 'text', fold: true } as const;
const unique = { kind: 'unique' } as const;
const uniqueName = { kind: 'unique', q: true } as const;
const oneOf = <const V extends readonly string[]>(values: V) => ({ kind: 'enum', values }) as const;

/**
 * Every stored column of both tables. Records (records.ts), filters and resources are derived from these columns.
 * `received_at` and `sensor_id` are not in the record, because the builder holds one value of each per request body.
 * The order determines the block format and the pieces that the log covers (event-piece.ts), so append new columns.
 * The number of columns is part of the block format: a new column needs a new magic in block-format.ts.
 */
export const columns = {
  network: {
    /** An id that the sender chose (UUID); if absent, it is derived from timestamp and sequence. */
    id: unique,
    timestamp: time,
    duration_ms: number,
    src_ip: address,
    src_port: number,
    src_mac: mac,
    dst_ip: address,
    dst_port: number,
    dst_mac: mac,
    transport: name,
    app_protocol: name,
    src_bytes: number,
    dst_bytes: number,
    src_payload_bytes: number,
    dst_payload_bytes: number,
    src_packets: number,
    dst_packets: number,
    missed_bytes: number,
    state: oneOf(connectionStates),
    conn_state: text,
    history: text,
    direction: oneOf(directions),
    /** The community id of the sensor; otherwise it is computed when read. */
    community_id: unique,
    connection_id: uniqueName,
    vlan: number,
    sensor: name,
    source: oneOf(eventSources),
    severity: oneOf(severities),
    received_at: time,
    sensor_id: principal,
  },
  dns: {
    id: unique,
    timestamp: time,
    src_ip: address,
    src_port: number,
    dst_ip: address,
    dst_port: number,
    transport: text,
    kind: oneOf(dnsKinds),
    transaction_id: number,
    query: { kind: 'text', fold: true, q: true },
    qtype: name,
    qclass: text,
    rcode: number,
    rcode_name: name,
    /** JSON text of `answers[] {type, ttl, data}`, absent if empty. */
    answers: name,
    authoritative: flag,
    truncated: flag,
    recursion_desired: flag,
    recursion_available: flag,
    rejected: flag,
    rtt_ms: number,
    community_id: unique,
    connection_id: uniqueName,
    sensor: name,
    source: oneOf(eventSources),
    severity: oneOf(severities),
    received_at: time,
    sensor_id: principal,
  },
} as const satisfies Readonly<Record<Table, Readonly<Record<string, Column>>>>;

export const tables = ['network', 'dns'] as const satisfies readonly Table[];

export type ColumnName<T extends Table = Table> = T extends Table ? keyof (typeof columns)[T] : never;

/** Column names of a table, in the order of the format. */
export const columnNames: { readonly [T in Table]: readonly ColumnName<T>[] } = {
  network: Object.keys(columns.network) as ColumnName<'network'>[],
  dns: Object.keys(columns.dns) as ColumnName<'dns'>[],
};

export const columnIndex: { readonly [T in Table]: ReadonlyMap<string, number> } = {
  network: new Map(columnNames.network.map((column, index) => [column, index])),
  dns: new Map(columnNames.dns.map((column, index) => [column, index])),
};

export function columnOf(table: Table, column: string): Column | undefined {
  const index = columnIndex[table].get(column);
  return index === undefined ? undefined : (columns[table] as Record<string, Column>)[column];
}

/** The last instant that ISO 8601 writes with a four-digit year. */
export const maxTime = 253_402_300_799_999;

/**
 * The columns of a network event that Zeek's conn lines fill, by the key in the line, typed in each engine as its
 * documentation recommends. `local_orig` and `local_resp` are omitted: Candor derives the direction. The time is
 * separate, as it is computed from seconds (`time`).
 */
const columns = [
  ['uid', 'connection_id', 'String', 'VARCHAR', 'text'],
  ['id.orig_h', 'src_ip', 'IPv6', 'VARCHAR', 'inet'],
  ['id.orig_p', 'src_port', 'UInt16', 'USMALLINT', 'integer'],
  ['id.resp_h', 'dst_ip', 'IPv6', 'VARCHAR', 'inet'],
  ['id.resp_p', 'dst_port', 'UInt16', 'USMALLINT', 'integer'],
  ['proto', 'transport', 'LowCardinality(String)', 'VARCHAR', 'text'],
  ['service', 'app_protocol', 'LowCardinality(String)', 'VARCHAR', 'text'],
  ['duration', 'duration', 'Float64', 'DOUBLE', 'float8'],
  ['orig_bytes', 'src_payload_bytes', 'UInt64', 'UBIGINT', 'bigint'],
  ['resp_bytes', 'dst_payload_bytes', 'UInt64', 'UBIGINT', 'bigint'],
  ['conn_state', 'conn_state', 'LowCardinality(String)', 'VARCHAR', 'text'],
  ['missed_bytes', 'missed_bytes', 'UInt64', 'UBIGINT', 'bigint'],
  ['history', 'history', 'LowCardinality(String)', 'VARCHAR', 'text'],
  ['orig_pkts', 'src_packets', 'UInt64', 'UBIGINT', 'bigint'],
  ['orig_ip_bytes', 'src_bytes', 'UInt64', 'UBIGINT', 'bigint'],
  ['resp_pkts', 'dst_packets', 'UInt64', 'UBIGINT', 'bigint'],
  ['resp_ip_bytes', 'dst_bytes', 'UInt64', 'UBIGINT', 'bigint'],
] as const;

export type Dialect = 'clickhouse' | 'duckdb' | 'postgresql';
const typeAt = { clickhouse: 2, duckdb: 3, postgresql: 4 } as const satisfies Record<Dialect, number>;

/** Milliseconds, rounded down from Zeek's microseconds, as in Candor. */
const time = {
  clickhouse: {
    type: "DateTime64(3, 'UTC')",
    key: 'Float64',
    reckoned: "fromUnixTimestamp64Milli(intDiv(toInt64(round(ts * 1e6)), 1000), 'UTC')",
    at: (ms: number) => `fromUnixTimestamp64Milli(${ms}, 'UTC')`,
  },
  duckdb: {
    type: 'TIMESTAMP_MS',
    key: 'DOUBLE',
    reckoned: 'make_timestamp_ms(round(ts * 1e6)::BIGINT // 1000)',
    at: (ms: number) => `make_timestamp_ms(${ms})`,
  },
  postgresql: {
    type: 'timestamptz(3)',
    key: 'float8',
    reckoned: 'to_timestamp(floor(round(ts * 1e6) / 1e3) / 1e3)',
    at: (ms: number) => `to_timestamp(${ms} / 1e3)`,
  },
} as const satisfies Record<Dialect, unknown>;

/** Returns the columns of the table as `name type, …`. */
export function tableColumns(dialect: Dialect): string {
  const others = columns.map((column) => `${column[1]} ${column[typeAt[dialect]]}`);
  return [`timestamp ${time[dialect].type}`, ...others].join(', ');
}

/** Returns the fields of a line as `[key in the line, type]`, the time as `ts`. */
export function lineFields(dialect: Dialect): readonly (readonly [string, string])[] {
  return [['ts', time[dialect].key], ...columns.map((column) => [column[0], column[typeAt[dialect]]] as const)];
}

/** Returns the select list that makes a row of the table from a line's fields. */
export function rowOfLine(dialect: Dialect): string {
  const quote = dialect === 'clickhouse' ? '`' : '"';
  return [time[dialect].reckoned, ...columns.map(([key]) => `${quote}${key}${quote}`)].join(', ');
}

/** Returns a point in time, epoch milliseconds, as SQL. */
export function sqlTime(dialect: Dialect, ms: number): string {
  return time[dialect].at(ms);
}

/** Keys of a line in the order of the table's columns, for appending value by value. */
export const lineKeys: readonly string[] = ['ts', ...columns.map(([key]) => key)];
/** Keys of columns with whole 64-bit numbers. */
export const wideKeys: ReadonlySet<string> = new Set(
  columns.filter((column) => column[3] === 'UBIGINT').map(([key]) => key),
);

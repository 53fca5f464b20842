import { type Dialect, sqlTime } from './schema.ts';

/** A query that every engine runs. Pages have 50 rows, newest first, with all columns. */
export type Question =
  | { readonly kind: 'newest page' }
  | { readonly kind: 'page of an address'; readonly ip: string }
  | {
      readonly kind: 'page of a port and time range';
      readonly port: number;
      readonly from: number;
      readonly to: number;
    }
  | { readonly kind: 'exact total of a port'; readonly port: number }
  | { readonly kind: 'ten top talkers of a day'; readonly from: number }
  | { readonly kind: 'distinct addresses of a day'; readonly from: number }
  | { readonly kind: 'by connection id'; readonly connectionId: string }
  | { readonly kind: 'get by id'; readonly id: string; readonly connectionId: string; readonly at: number };
export type Kind = Question['kind'];

/** Notes beside the query times on the results page, by kind of query. */
export const remarks = {
  'newest page': 'candor also counts the exact total',
  'page of an address': 'source or destination; candor also counts the exact total',
  'page of a port and time range': 'candor also counts the exact total',
  'exact total of a port': 'ports repeat, and candor caches totals by filter',
  'ten top talkers of a day': 'candor returns the whole dashboard, which ingest keeps up to date',
  'distinct addresses of a day':
    'estimated by all engines; candor returns the whole dashboard, which ingest keeps up to date',
  'by connection id': 'peers use an index that is created after loading',
  'get by id': 'peers select by time and connection id, because they store no other id',
} as const satisfies Record<Kind, string>;

/** The parts of SQL that differ between engines. */
interface Words {
  readonly dialect: Dialect;
  readonly address: (ip: string) => string;
  readonly distinct: (column: string) => string;
}

const byDialect = {
  clickhouse: {
    dialect: 'clickhouse',
    address: (ip) => `toIPv6('${ip}')`,
    distinct: (column) => `uniq(${column})`,
  },
  duckdb: {
    dialect: 'duckdb',
    address: (ip) => `'${ip}'`,
    distinct: (column) => `approx_count_distinct(${column})`,
  },
} as const satisfies Partial<Record<Dialect, Words>>;

/** Returns the query in SQL. A page selects all columns; other queries select a count as `n`. */
export function sqlOf(question: Question, dialect: keyof typeof byDialect): string {
  const { address, distinct } = byDialect[dialect];
  const at = (ms: number) => sqlTime(dialect, ms);
  const page = (where: string) => `SELECT * FROM events ${where} ORDER BY timestamp DESC LIMIT 50`;
  switch (question.kind) {
    case 'newest page':
      return page('');
    case 'page of an address':
      return page(`WHERE src_ip = ${address(question.ip)} OR dst_ip = ${address(question.ip)}`);
    case 'page of a port and time range':
      return page(
        `WHERE dst_port = ${question.port} AND timestamp >= ${at(question.from)} AND timestamp < ${at(question.to)}`,
      );
    case 'exact total of a port':
      return `SELECT count(*) AS n FROM events WHERE dst_port = ${question.port}`;
    case 'ten top talkers of a day':
      return (
        'SELECT src_ip, count(*) AS n, sum(src_bytes + dst_bytes) AS bytes FROM events ' +
        `WHERE timestamp >= ${at(question.from)} GROUP BY src_ip ORDER BY n DESC LIMIT 10`
      );
    case 'distinct addresses of a day':
      return (
        `SELECT ${distinct('src_ip')} AS n, ${distinct('dst_ip')} AS destinations FROM events ` +
        `WHERE timestamp >= ${at(question.from)}`
      );
    case 'by connection id':
      return page(`WHERE connection_id = '${question.connectionId}'`);
    case 'get by id':
      return `SELECT * FROM events WHERE timestamp = ${at(question.at)} AND connection_id = '${question.connectionId}'`;
  }
}

/**
 * Returns the part of a result that must be the same for all engines, from an engine's rows as objects. Returns an empty
 * list for estimates, which may differ. Times are `YYYY-MM-DD hh:mm:ss.mmm`, in UTC.
 */
export function answerOf(question: Question, rows: readonly Readonly<Record<string, unknown>>[]): readonly number[] {
  switch (question.kind) {
    case 'distinct addresses of a day':
      return [];
    case 'ten top talkers of a day':
    case 'exact total of a port':
      return [Number(rows[0]?.n)];
    default: {
      const first = rows[0]?.timestamp;
      return first === undefined ? [0] : [rows.length, Date.parse(`${String(first).replace(' ', 'T')}Z`)];
    }
  }
}

import { type Dialect, sqlTime } from './schema.ts';

/** The questions for every engine. Pages have 50 rows, newest first, with all columns. */
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

/** Notes for the figures of a question. */
export const remarks = {
  'newest page': 'candor counts the exact total as well',
  'page of an address': 'either end; candor counts the exact total as well',
  'page of a port and time range': 'candor counts the exact total as well',
  'exact total of a port': 'ports recur, and candor keeps the totals of filters asked before',
  'ten top talkers of a day': 'candor answers with the whole dashboard, kept at ingest',
  'distinct addresses of a day': 'estimated by all; candor answers with the whole dashboard, kept at ingest',
  'by connection id': 'peers have an index on it, made after loading',
  'get by id': 'of peers by time and connection id, as they store no other',
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

/** Returns the question in SQL: all columns for pages, otherwise a count as `n`. */
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
 * Returns the part of an answer that must be the same for all engines, from an engine's rows as objects. Times are
 * `YYYY-MM-DD hh:mm:ss.mmm`, in UTC.
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

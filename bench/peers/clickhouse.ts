/**
 * ClickHouse's engine, embedded (chDB): MergeTree in the order of time, lines read from files by the engine
 * itself.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Engine, EngineOptions, Variant } from './engine.ts';
import { answerOf, type Question, sqlOf } from './questions.ts';
import { lineFields, rowOfLine, tableColumns } from './schema.ts';

const synced =
  'fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, ' +
  'min_compressed_bytes_to_fsync_after_merge = 1';

export const variants: Readonly<Record<string, Variant>> = {
  'one INSERT': {
    note: 'a round is one INSERT; default settings: no fsync',
    durable: false,
    perBody: false,
  },
  'one INSERT, fsync': {
    note: 'a round is one INSERT; fsync_after_insert, fsync_part_directory and fsync after merges',
    durable: true,
    perBody: false,
  },
  'INSERT of a body, fsync': {
    note: 'an INSERT for each 10,000 lines; fsync_after_insert, fsync_part_directory and fsync after merges',
    durable: true,
    perBody: true,
  },
};

/** The used members of chDB's class. */
interface Session {
  query(sql: string, format?: string): string;
  close(): void;
}

export async function open({ packages, folder, variant }: EngineOptions): Promise<Engine> {
  const { Session: Sessions } = createRequire(join(packages, 'here'))('chdb') as {
    Session: new (path: string) => Session;
  };
  const session = new Sessions(join(folder, 'clickhouse'));
  const rows = (sql: string) =>
    session
      .query(sql, 'JSONEachRow')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const settings = variants[variant]?.durable ? `SETTINGS ${synced}` : '';
  session.query(
    `CREATE TABLE events (${tableColumns('clickhouse')}) ENGINE = MergeTree ORDER BY timestamp ${settings}`,
  );
  const structure = lineFields('clickhouse')
    .map(([key, type]) => `\`${key}\` ${type}`)
    .join(', ');
  const insert = (files: readonly string[]) =>
    session.query(
      `INSERT INTO events SELECT ${rowOfLine('clickhouse')} FROM file('${globOf(files)}', JSONEachRow, '${structure}') ` +
        'SETTINGS input_format_skip_unknown_fields = 1, max_insert_threads = 2',
    );

  return {
    version: `ClickHouse ${String(rows('SELECT version() AS v')[0]?.v)}`,
    async load(files) {
      for (const part of variants[variant]?.perBody ? files.map((file) => [file]) : [files]) insert(part);
    },
    async finish() {
      session.query('OPTIMIZE TABLE events FINAL');
    },
    async bytes() {
      const [row] = rows("SELECT sum(bytes_on_disk) AS bytes FROM system.parts WHERE table = 'events' AND active");
      return Number(row?.bytes);
    },
    async prepare() {
      for (const column of ['src_ip', 'dst_ip', 'connection_id'])
        session.query(`ALTER TABLE events ADD INDEX of_${column} ${column} TYPE bloom_filter GRANULARITY 1`);
      for (const column of ['src_ip', 'dst_ip', 'connection_id'])
        session.query(`ALTER TABLE events MATERIALIZE INDEX of_${column} SETTINGS mutations_sync = 2`);
    },
    async ask(question: Question) {
      return answerOf(question, rows(sqlOf(question, 'clickhouse')));
    },
    async close() {
      session.close();
    },
  };
}

/** Returns files of one folder as one path with alternatives: `/folder/{a,b}`. */
function globOf(files: readonly string[]): string {
  const folder = join(files[0] ?? '', '..');
  return join(folder, `{${files.map((file) => file.slice(folder.length + 1)).join(',')}}`);
}

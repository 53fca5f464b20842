/** DuckDB, embedded: a table in a file; lines read by its own read_json, or parsed here and appended. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Engine, EngineOptions, Variant } from './engine.ts';
import { answerOf, sqlOf } from './questions.ts';
import { lineFields, lineKeys, rowOfLine, tableColumns, wideKeys } from './schema.ts';

const synced = 'its log is synced at each commit (default)';

export const variants: Readonly<Record<string, Variant>> = {
  'read_json, one INSERT': { note: `a round is one INSERT; ${synced}`, durable: true, perBody: false },
  'read_json, INSERT of a body': {
    note: `an INSERT for each 10,000 lines; ${synced}`,
    durable: true,
    perBody: true,
  },
  appender: {
    note: `JSON.parse and the appender, a commit for each 10,000 lines; ${synced}`,
    durable: true,
    perBody: true,
  },
};

/** The used members of @duckdb/node-api. */
interface DuckDB {
  readonly DuckDBInstance: { create(path: string): Promise<Instance> };
  readonly DuckDBTimestampMillisecondsValue: new (ms: bigint) => unknown;
  readonly DuckDBDataChunk: { create(types: readonly unknown[], rows: number): Chunk };
  version(): string;
}
interface Instance {
  connect(): Promise<Connection>;
  closeSync(): void;
}
interface Connection {
  run(sql: string): Promise<unknown>;
  runAndReadAll(sql: string): Promise<{ getRowObjectsJson(): Record<string, unknown>[]; columnTypes(): unknown[] }>;
  createAppender(table: string): Promise<Appender>;
  closeSync(): void;
}
interface Appender {
  appendDataChunk(chunk: Chunk): void;
  closeSync(): void;
}
interface Chunk {
  setColumns(columns: readonly (readonly unknown[])[]): void;
}

/** Maximum number of rows in a data chunk (STANDARD_VECTOR_SIZE). */
const chunkRows = 2048;

export async function open({ packages, folder, variant }: EngineOptions): Promise<Engine> {
  const duckdb = createRequire(join(packages, 'here'))('@duckdb/node-api') as DuckDB;
  const instance = await duckdb.DuckDBInstance.create(join(folder, 'events.duckdb'));
  const connection = await instance.connect();
  const rows = async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjectsJson();
  await connection.run(`CREATE TABLE events (${tableColumns('duckdb')})`);
  const fields = lineFields('duckdb')
    .map(([key, type]) => `'${key}': '${type}'`)
    .join(', ');
  const types = (await connection.runAndReadAll('SELECT * FROM events LIMIT 0')).columnTypes();

  const insert = (files: readonly string[]) =>
    connection.run(
      `INSERT INTO events SELECT ${rowOfLine('duckdb')} FROM read_json([${files.map((file) => `'${file}'`).join(', ')}], ` +
        `format = 'newline_delimited', columns = {${fields}})`,
    );

  async function append(file: string): Promise<void> {
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    const appender = await connection.createAppender('events');
    for (let at = 0; at < lines.length; at += chunkRows) {
      const records = lines
        .slice(at, at + chunkRows)
        .map((line) => JSON.parse(line) as Record<string, string | number | undefined>);
      const chunk = duckdb.DuckDBDataChunk.create(types, records.length);
      chunk.setColumns(lineKeys.map((key) => records.map((record) => appended(key, record[key]))));
      appender.appendDataChunk(chunk);
    }
    appender.closeSync();
  }

  function appended(key: string, value: string | number | undefined): unknown {
    if (value === undefined) return null;
    if (key === 'ts')
      return new duckdb.DuckDBTimestampMillisecondsValue(BigInt(Math.floor(Math.round(Number(value) * 1e6) / 1e3)));
    return wideKeys.has(key) ? BigInt(value) : value;
  }

  return {
    version: `DuckDB ${duckdb.version()}`,
    async load(files) {
      if (!variants[variant]?.perBody) await insert(files);
      else for (const file of files) await (variant === 'appender' ? append(file) : insert([file]));
    },
    async finish() {
      await connection.run('FORCE CHECKPOINT');
    },
    async bytes() {
      const [size] = await rows('SELECT block_size * used_blocks AS bytes FROM pragma_database_size()');
      return Number(size?.bytes);
    },
    async prepare() {
      await connection.run('CREATE INDEX of_connection_id ON events (connection_id)');
      await connection.run('FORCE CHECKPOINT');
    },
    async ask(question) {
      return answerOf(question, await rows(sqlOf(question, 'duckdb')));
    },
    async close() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

/** PostgreSQL if it is installed: COPY of whole lines, then one INSERT that reads them as JSON. */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Engine, EngineOptions, Variant } from './engine.ts';
import { lineFields, rowOfLine, tableColumns } from './schema.ts';

export const variants: Readonly<Record<string, Variant>> = {
  COPY: {
    note: 'COPY of lines to a temporary table and INSERT … SELECT as JSON, a transaction a round; fsync and synchronous_commit on (default); no indices; shared_buffers, 1 GB, are not anonymous',
    durable: true,
    perBody: false,
  },
};

const settings = {
  listen_addresses: '',
  shared_buffers: '1GB',
  temp_buffers: '256MB',
  max_wal_size: '8GB',
  wal_compression: 'lz4',
  default_toast_compression: 'lz4',
} as const;

/** Returns the folder of PostgreSQL's programs; undefined if it is not installed. */
export function programs(): string | undefined {
  for (const folder of (process.env.PATH ?? '').split(':')) {
    try {
      const bin = dirname(realpathSync(join(folder, 'postgres')));
      realpathSync(join(bin, 'initdb'));
      return bin;
    } catch {}
  }
  return undefined;
}

export async function open({ packages: bin, folder }: EngineOptions): Promise<Engine> {
  const data = join(folder, 'postgresql');
  mkdirSync(data, { mode: 0o700 });
  const user: { uid?: number; gid?: number } = process.getuid?.() === 0 ? unprivileged() : {};
  if (user.uid !== undefined && user.gid !== undefined) chownSync(data, user.uid, user.gid);
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'bench', '-A', 'trust', '-E', 'UTF8'], {
    ...user,
    cwd: '/',
    stdio: 'ignore',
  });
  const flags = Object.entries({ ...settings, unix_socket_directories: data }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const server = spawn(join(bin, 'postgres'), ['-D', data, ...flags], { ...user, cwd: '/', stdio: 'ignore' });
  process.once('exit', () => server.kill('SIGQUIT'));

  async function sql(text: string): Promise<string> {
    const options = ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-h', data, '-U', 'bench', '-d', 'postgres'];
    return (await promisify(execFile)(join(bin, 'psql'), [...options, '-c', text])).stdout.trim();
  }
  for (let tries = 0; ; tries++) {
    try {
      await sql('SELECT 1');
      break;
    } catch (error) {
      if (tries === 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  await sql(`CREATE TABLE events (${tableColumns('postgresql')})`);
  const fields = lineFields('postgresql')
    .map(([key, type]) => `"${key}" ${type}`)
    .join(', ');

  return {
    version: `PostgreSQL ${(await sql('SHOW server_version')).split(' ')[0]}`,
    async load(files) {
      // Copies as CSV with a quote and a delimiter that occur in no line, so that each line is read whole, with its
      // backslashes.
      const copies = files.map(
        (file) => `COPY lines FROM '${file}' WITH (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02');`,
      );
      await sql(
        `BEGIN; CREATE TEMP TABLE lines (line text) ON COMMIT DROP; ${copies.join(' ')} INSERT INTO events ` +
          `SELECT ${rowOfLine('postgresql')} FROM lines, json_to_record(line::json) AS fields (${fields}); COMMIT;`,
      );
    },
    async finish() {
      await sql('VACUUM events');
      await sql('CHECKPOINT');
    },
    async bytes() {
      return Number(await sql("SELECT pg_total_relation_size('events')"));
    },
    async prepare() {},
    async ask() {
      throw new Error('queries are not measured on PostgreSQL');
    },
    async close() {
      const ended = once(server, 'exit');
      server.kill('SIGINT');
      await ended;
    },
  };
}

/**
 * Returns an account without privileges, because PostgreSQL refuses to run as root. PostgreSQL's packages create the
 * account `postgres`; without that account, `nobody` is used.
 */
function unprivileged(): { uid: number; gid: number } {
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const account = accounts.find(([name]) => name === 'postgres') ?? accounts.find(([name]) => name === 'nobody');
  if (account === undefined) throw new Error('there is no account postgres or nobody to run PostgreSQL');
  return { uid: Number(account[2]), gid: Number(account[3]) };
}

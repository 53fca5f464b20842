/**
 * Peers are not dependencies of the project: on first use, npm installs them into a cache folder of the user.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const packages = {
  clickhouse: { name: 'chdb', version: '3.4.0' },
  duckdb: { name: '@duckdb/node-api', version: '1.5.6-r.1' },
} as const;

/**
 * Returns the folder with the package's `node_modules`; installs it on first use, half a gigabyte for
 * ClickHouse's engine. No install scripts are run: both packages are prebuilt.
 * @throws Error with the package that could not be installed, and npm's message
 */
export function installed(engine: Packaged): Promise<string> {
  const folder = folders.get(engine) ?? install(engine);
  folders.set(engine, folder);
  return folder;
}

type Packaged = keyof typeof packages;
/** Installation is attempted once per run, even after a failure, because npm fails slowly. */
const folders = new Map<Packaged, Promise<string>>();

async function install(engine: Packaged): Promise<string> {
  const { name, version } = packages[engine];
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const folder = join(cache, 'candor-bench', `${engine}-${version}`);
  if (versionIn(join(folder, 'node_modules', name)) === version) return folder;
  mkdirSync(folder, { recursive: true });
  const options = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
  try {
    await promisify(execFile)('npm', ['install', '--prefix', folder, ...options, `${name}@${version}`], {
      cwd: folder,
      timeout: 300_000,
    });
  } catch (error) {
    const words = (error as { stderr?: string }).stderr?.trim().split('\n')[0] ?? '';
    throw new Error(`${name} ${version} could not be installed: ${words || String(error)}`);
  }
  return folder;
}

function versionIn(folder: string): string | undefined {
  try {
    return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version?: string }).version;
  } catch {
    return undefined;
  }
}

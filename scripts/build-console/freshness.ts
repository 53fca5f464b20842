import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The inputs of the console's build, relative to the project. */
const sources = [
  'src/console',
  'src/client',
  'src/contract',
  'src/docs',
  'src/events',
  'src/tlog',
  'src/errors.ts',
  'src/limits.ts',
  'scripts/build-console.ts',
  'scripts/build-console',
  'package-lock.json',
];

/**
 * Returns the reason for a build of the console: `built` has no build, or a source has changed since the build in
 * `built` began. Returns undefined if the build is up to date. Compares only modification times, including those of
 * folders, which change when a file is removed.
 */
export function reasonToBuild(root: string, built: string): string | undefined {
  const builtAt = changedAt(join(built, 'index.html'));
  if (builtAt === undefined) return 'not built yet';
  for (const source of sources) {
    const changed = findNewer(root, source, builtAt);
    if (changed !== undefined) return `${changed} has changed`;
  }
  return undefined;
}

function findNewer(root: string, path: string, than: number): string | undefined {
  const at = changedAt(join(root, path));
  if (at === undefined) return undefined;
  if (at > than) return path;
  for (const entry of readdirIfFolder(join(root, path))) {
    const newer = findNewer(root, join(path, entry), than);
    if (newer !== undefined) return newer;
  }
  return undefined;
}

/** Returns the modification time in epoch milliseconds; undefined if the path does not exist. */
function changedAt(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

function readdirIfFolder(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return [];
    throw error;
  }
}

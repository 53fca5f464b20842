import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** What the build of the console is made of, relative to the project. */
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
 * Why the console is to be built: there is none in `built`, or the path of something that changed since its build began.
 * Undefined where it is up to date. By times of change alone, folders' included, which change when a file goes.
 */
export function reasonToBuild(root: string, built: string): string | undefined {
  const builtAt = changedAt(join(built, 'index.html'));
  if (builtAt === undefined) return 'there is none yet';
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

/** Epoch milliseconds; undefined where there is nothing. */
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

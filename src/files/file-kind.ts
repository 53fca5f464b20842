import { lstatSync, type Stats, statSync } from 'node:fs';

export type Kind = 'file' | 'folder';

/**
 * Returns the reason why a path cannot be used as a file or a folder; undefined if it can be used, or if it
 * does not exist.
 */
export function kindProblem(path: string, kind: Kind): string | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  const target = found?.isSymbolicLink() ? statSync(path, { throwIfNoEntry: false }) : found;
  if (found === undefined) return undefined;
  if (target === undefined) return `${path} is a broken link, and must be a ${kind}`;
  const isRight = kind === 'file' ? target.isFile() : target.isDirectory();
  return isRight ? undefined : `${path} is a ${kindOf(target)}, and must be a ${kind}`;
}

function kindOf(stat: Stats): string {
  if (stat.isDirectory()) return 'folder';
  if (stat.isFile()) return 'file';
  if (stat.isFIFO()) return 'pipe';
  return stat.isSocket() ? 'socket' : 'device';
}

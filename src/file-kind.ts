import { lstatSync, type Stats, statSync } from 'node:fs';

export type Kind = 'file' | 'folder';

/** Why a path cannot be used as a file or a folder; undefined where it can, or where there is nothing. */
export function kindProblem(path: string, kind: Kind): string | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  const target = found?.isSymbolicLink() ? statSync(path, { throwIfNoEntry: false }) : found;
  if (found === undefined) return undefined;
  if (target === undefined) return `${path} is a link to nothing, and must be a ${kind}`;
  const isRight = kind === 'file' ? target.isFile() : target.isDirectory();
  return isRight ? undefined : `${path} is a ${kindOf(target)}, and must be a ${kind}`;
}

function kindOf(stat: Stats): string {
  if (stat.isDirectory()) return 'folder';
  if (stat.isFile()) return 'file';
  if (stat.isFIFO()) return 'pipe';
  return stat.isSocket() ? 'socket' : 'device';
}

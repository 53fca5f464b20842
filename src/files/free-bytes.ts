import { statfsSync } from 'node:fs';

/** Returns the number of bytes that this process may still write to the volume of a path. */
export function freeBytesOf(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

import { readFileSync } from 'node:fs';
import { limits } from '../limits.ts';

/**
 * Returns the limit on file descriptors of this process: RLIMIT_NOFILE, which Node raises to the hard limit
 * at start-up. Returns undefined if there is no limit, or if the limit is unknown, as outside Linux.
 */
export function descriptorLimit(): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const soft = /^Max open files\s+(\d+)/m.exec(ownLimits())?.[1];
  return soft === undefined ? undefined : Number(soft);
}

function ownLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    // The limit is unknown, because /proc cannot be read.
    return '';
  }
}

/** Returns the number of descriptors that connections may use, out of `all`. */
export const descriptorsForConnections = (all: number): number =>
  all - Math.min(limits.reservedDescriptors, Math.ceil((all * 3) / 4));

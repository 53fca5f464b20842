import { readFileSync } from 'node:fs';
import { limits } from '../limits.ts';

/**
 * File descriptors that this process may have: RLIMIT_NOFILE, which Node has raised as far as it may go when it started.
 * Undefined where there is no such limit, or it cannot be told: not on Linux.
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
    // Where /proc is not mounted, it cannot be told.
    return '';
  }
}

/** How many of so many descriptors connections may have. */
export const descriptorsForConnections = (all: number): number =>
  all - Math.min(limits.reservedDescriptors, Math.ceil((all * 3) / 4));

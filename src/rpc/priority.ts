import { readlinkSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

/**
 * Lowers the priority of the calling thread by `steps` of its nice value. On Linux, each thread has its own nice value
 * (sched(7)). On other systems, a nice value applies to the whole process, which is then left unchanged.
 */
export function lowerPriority(steps: number): void {
  if (process.platform !== 'linux') return;
  let thread: number;
  try {
    thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
  } catch {
    return; // /proc is not mounted
  }
  setPriority(thread, Math.min(19, getPriority(thread) + steps));
}

import { getPriority, setPriority } from 'node:os';

/**
 * Lowers the priority of the calling thread by `steps` of its nice value. On Linux, each thread has its own nice value
 * (sched(7)). On other systems, a nice value applies to the whole process, which is then left unchanged.
 */
export function lowerPriority(steps: number): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(Math.min(19, getPriority() + steps));
  } catch {
    // A filter of system calls refuses the change, as those of some containers do: the priority stays the same.
  }
}

import { readFileSync } from 'node:fs';

/** Resource use of processes and their descendants, from /proc; zero on systems other than Linux. */

/** Returns the CPU seconds of a process and its descendants, with all threads, running or ended and waited for. */
export function cpuSeconds(pid: number): number {
  // utime, stime, and both for children that ended; a tick is 10 ms on every Linux that Node supports.
  return family(pid).reduce((sum, one) => {
    const fields = stat(one);
    return sum + [11, 12, 13, 14].reduce((ticks, at) => ticks + Number(fields[at] ?? 0), 0) / 100;
  }, 0);
}

export function rssAnonMiB(pid: number): number {
  return family(pid).reduce((sum, one) => {
    const kib = /^RssAnon:\s+(\d+) kB$/m.exec(textOf(`/proc/${one}/status`))?.[1];
    return sum + Number(kib ?? 0) / 1024;
  }, 0);
}

/**
 * Resolves when the process has been nearly idle for half a second, or after twenty seconds. Returns the beginning of
 * the idle time by `performance.now()`.
 */
export async function quiet(pid: number): Promise<number> {
  const pauseMs = 500;
  for (let waited = 0; ; waited += pauseMs) {
    const began = performance.now();
    const before = cpuSeconds(pid);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    if (cpuSeconds(pid) - before <= 0.03 || waited >= 20_000) return began;
  }
}

/** Returns the process and its descendants, except processes started by a thread other than the main thread. */
function family(pid: number): number[] {
  const children = textOf(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  return [pid, ...children.flatMap(family)];
}

/** Returns the fields from the third on. The second field, the name, may have spaces and parentheses. */
function stat(pid: number): string[] {
  const text = textOf(`/proc/${pid}/stat`);
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

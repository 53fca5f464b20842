import { readFileSync } from 'node:fs';

/** What processes take, from /proc: zero where that is not Linux's. Those that a process started count with it. */

/** Seconds of CPU of all threads of the process and of all that it started, living or ended and waited for. */
export function cpuSeconds(pid: number): number {
  // utime, stime and those of children that ended; a tick is 10 ms on every Linux that Node supports.
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
 * Resolves when the process has had next to nothing to do for half a second, or after twenty; with the time at which
 * that began, as `performance.now()` tells it.
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

/** The process and its descendants; those started by another thread than the main one are not seen. */
function family(pid: number): number[] {
  const children = textOf(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  return [pid, ...children.flatMap(family)];
}

/** Fields from the third on: the second, the name, may have spaces and parentheses. */
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

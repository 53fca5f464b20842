/**
 * Runs programs under strace: records their system calls, and injects failures and signals at the calls that
 * a test names.
 */
import { execFileSync, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Returns false if strace is missing or may not trace; scripts/with-system-tools.sh provides strace. */
export function mayTrace(): boolean {
  try {
    execFileSync('strace', ['-f', '--seccomp-bpf', '-o', '/dev/null', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export interface SystemCall {
  readonly thread: number;
  readonly name: string;
  /** Arguments in strace's format: descriptors with their paths. */
  readonly args: string;
  readonly result: number;
  /** The call was not executed, because the test injected a failure. */
  readonly injected: boolean;
}

export interface TracedRun {
  readonly calls: readonly SystemCall[];
  /** Exit code of the program; null after a signal. */
  readonly code: number | null;
  readonly signal: string | null;
  /** Lines that the program wrote to standard output. */
  readonly output: readonly string[];
  readonly errors: string;
}

export interface Tracing {
  /** Only calls on these files. `output` means the program's standard output. */
  readonly paths?: readonly string[];
  readonly calls: readonly string[];
  /**
   * A value of strace's `inject`, such as `fdatasync:error=EIO:when=2`. Calls are counted for each thread and
   * each name.
   */
  readonly inject?: string;
}

/**
 * Runs a script under strace. Standard output is a file, so that strace knows its path and the output
 * survives a kill.
 */
export async function traced(script: string, args: readonly string[], tracing: Tracing): Promise<TracedRun> {
  const folder = mkdtempSync(join(tmpdir(), 'candor-trace-'));
  const [trace, out] = [join(folder, 'trace'), join(folder, 'output')];
  const output = openSync(out, 'w');
  // Without a filter, strace stops at every call. A filter in the kernel stops only at the requested calls
  // and is 3 times as fast, but cannot inject signals.
  const filter = tracing.inject?.includes('signal=') ? [] : ['--seccomp-bpf'];
  const options = [
    ...['-f', '-y', ...filter, '-s', '16', '-o', trace, '-e', `trace=${tracing.calls.join()}`],
    ...(tracing.paths ?? []).flatMap((path) => ['-P', path === 'output' ? out : path]),
    ...(tracing.inject === undefined ? [] : ['-e', `inject=${tracing.inject}`]),
  ];
  // One thread for file operations, so that their calls have one order and one count; no compile cache, which
  // would add calls.
  const env = { ...process.env, UV_THREADPOOL_SIZE: '1', NODE_DISABLE_COMPILE_CACHE: '1' };
  const child = spawn('strace', [...options, '--', process.execPath, script, ...args], {
    env,
    stdio: ['ignore', output, 'pipe'],
  });
  closeSync(output);
  let errors = '';
  child.stderr?.on('data', (text) => {
    errors += text;
  });
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) => {
    child.once('close', (...how) => resolve(how));
  });
  const run = {
    calls: readCalls(readFileSync(trace, 'utf8')),
    code,
    signal,
    output: readFileSync(out, 'utf8').split('\n').filter(Boolean),
    errors,
  };
  rmSync(folder, { recursive: true });
  return run;
}

/**
 * Returns completed calls, in the order of their start. Calls that a signal interrupted do not have a result
 * and are left out.
 */
function readCalls(trace: string): SystemCall[] {
  const calls: SystemCall[] = [];
  /** Calls started by a thread and interrupted in the trace by another thread's line. */
  const begun = new Map<string, string>();
  for (const line of trace.split('\n')) {
    const [, thread = '', rest = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (rest.endsWith('<unfinished ...>')) {
      begun.set(thread, rest.slice(0, -'<unfinished ...>'.length));
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest)?.[1];
    const whole = resumed === undefined ? rest : `${begun.get(thread) ?? ''}${resumed}`;
    const [, name, args, result] = /^(\w+)\((.*)\) += (-?\d+)/.exec(whole) ?? [];
    if (name === undefined || args === undefined) continue;
    calls.push({
      thread: Number(thread),
      name,
      args,
      result: Number(result),
      injected: whole.endsWith('(INJECTED)'),
    });
  }
  return calls;
}

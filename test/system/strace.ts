/** Programs run under strace: what they ask of the system, and refusals and deaths at the call that a test names. */
import { execFileSync, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** False where strace is missing or may not trace; scripts/with-system-tools.sh brings it. */
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
  /** As strace writes them: descriptors with their paths. */
  readonly args: string;
  readonly result: number;
  /** Not done, because the test said so. */
  readonly injected: boolean;
}

export interface TracedRun {
  readonly calls: readonly SystemCall[];
  /** Of the program; null when a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
  /** Lines that the program wrote to standard output. */
  readonly output: readonly string[];
  readonly errors: string;
}

export interface Tracing {
  /** Only calls on these files. `output` stands for the program's standard output. */
  readonly paths?: readonly string[];
  readonly calls: readonly string[];
  /** As strace's `inject`: `fdatasync:error=EIO:when=2`. Calls are counted for each thread and each name. */
  readonly inject?: string;
}

/** Standard output goes to a file, so that its path is known to strace and what was written outlives a kill. */
export async function traced(script: string, args: readonly string[], tracing: Tracing): Promise<TracedRun> {
  const folder = mkdtempSync(join(tmpdir(), 'candor-trace-'));
  const [trace, out] = [join(folder, 'trace'), join(folder, 'output')];
  const output = openSync(out, 'w');
  // Stops at every call; with a filter in the kernel, where it can't inject signals, only at those asked for: 3 times as
  // quick.
  const filter = tracing.inject?.includes('signal=') ? [] : ['--seccomp-bpf'];
  const options = [
    ...['-f', '-y', ...filter, '-s', '16', '-o', trace, '-e', `trace=${tracing.calls.join()}`],
    ...(tracing.paths ?? []).flatMap((path) => ['-P', path === 'output' ? out : path]),
    ...(tracing.inject === undefined ? [] : ['-e', `inject=${tracing.inject}`]),
  ];
  // One thread for files: then their calls have one order, and one count; and none of them are for compiled code.
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

/** Completed calls, in the order in which they began. One that a signal cut off has no result and isn't among them. */
function readCalls(trace: string): SystemCall[] {
  const calls: SystemCall[] = [];
  /** Begun by a thread and interrupted in the trace by another's line. */
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

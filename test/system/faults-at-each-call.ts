/**
 * Tests the log on a failing disk, by system call: a process that appends runs once for each call that it
 * makes, with a failure at that call, and the resulting log is verified completely by an auditor without
 * prior trust.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { SignedTreeHead } from '../../src/contract/resources/transparency.ts';
import type { Appended } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { cloneFolder } from '../files/copy-folder.ts';
import { entries } from '../ledger/fixture-entry.ts';
import { reverify } from '../ledger/reverify.ts';
import { type SystemCall, type TracedRun, type Tracing, traced } from './strace.ts';

const child = new URL('../ledger/append-child.ts', import.meta.url).pathname;

/** Failures of a call, in strace's syntax. */
export const allFailures = ['error=EIO', 'error=ENOSPC', 'signal=SIGKILL'];
/** The system calls that LMDB uses to write and flush. */
export const databaseCalls = ['pwrite64', 'pwritev', 'write', 'writev', 'fdatasync', 'fsync', 'msync'];

/** The starting point of each run: identical folders, and the known state of the log in the folders. */
export class StartingPoint {
  #made: string | undefined;
  #folders = 0;
  answers: Appended[] = [];
  pins: SignedTreeHead[] = [];

  get #root(): string {
    this.#made ??= mkdtempSync(join(realpathSync(tmpdir()), 'candor-faults-'));
    return this.#made;
  }

  /** Makes a log with `size` entries; otherwise folders are empty. */
  async begin(size: number): Promise<void> {
    const ledger = await openLedger({ dataDir: join(this.#root, 'log') });
    this.answers = await ledger.append(entries(0, size));
    this.pins = [await ledger.head()];
    await ledger.close();
  }

  folder(): string {
    const dataDir = join(this.#root, String(this.#folders++));
    if (this.pins.length > 0) cloneFolder(join(this.#root, 'log'), dataDir);
    else mkdirSync(dataDir);
    return dataDir;
  }

  remove(): void {
    rmSync(this.#root, { recursive: true });
  }
}

export interface Faults {
  readonly start: StartingPoint;
  /** Entries to append. */
  readonly append: number;
  readonly tracing: (dataDir: string) => Omit<Tracing, 'inject'>;
  /** Failures at a call of this name, in strace's syntax. Default: `allFailures`. */
  readonly failures?: (call: string) => readonly string[];
  /** Additional checks after a run. Returns the exact size of the log, if it is known. */
  readonly check?: (run: TracedRun, dataDir: string, inject: string) => number | undefined;
}

/** Runs the process once for each call. Returns the number of calls that failed. */
export async function faultsAtEachCall(faults: Faults): Promise<number> {
  const { start, append, tracing, failures = () => allFailures, check } = faults;
  const from = start.answers.length;
  const to = from + append;
  const run = (dataDir: string, inject = {}) =>
    traced(child, [dataDir, String(from), String(to)], { ...tracing(dataDir), ...inject });
  const sound = await run(start.folder());
  expect(sound.code, sound.errors).toBe(0);
  const counts = countsByName(sound.calls);
  const waiting = [...counts].flatMap(([name, count]) =>
    failures(name).flatMap((failure) => Array.from({ length: count }, (_, n) => `${name}:${failure}:when=${n + 1}`)),
  );
  const work = async (): Promise<void> => {
    for (let inject = waiting.shift(); inject !== undefined; inject = waiting.shift()) {
      const dataDir = start.folder();
      const failed = await run(dataDir, { inject });
      const struck = inject.includes('SIGKILL')
        ? failed.signal === 'SIGKILL'
        : failed.calls.some(({ injected }) => injected);
      expect(struck, `${inject} ${failed.errors}`).toBe(true);
      await verifyAgain(start, dataDir, failed, to, inject, check?.(failed, dataDir, inject));
      rmSync(dataDir, { recursive: true });
    }
  };
  await Promise.all([work(), work()]);
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

/**
 * Returns, for each name, the number of calls in the thread with the most calls of this name, because strace counts
 * per thread.
 */
function countsByName(calls: readonly SystemCall[]): Map<string, number> {
  const byThread = new Map<string, number>();
  const most = new Map<string, number>();
  for (const { thread, name } of calls) {
    const count = (byThread.get(`${thread} ${name}`) ?? 0) + 1;
    byThread.set(`${thread} ${name}`, count);
    most.set(name, Math.max(most.get(name) ?? 0, count));
  }
  return most;
}

/**
 * Opens the log and verifies that every acknowledged entry is present, and that entries that are sent again are
 * stored once.
 */
async function verifyAgain(
  start: StartingPoint,
  dataDir: string,
  run: TracedRun,
  to: number,
  where: string,
  size: number | undefined,
): Promise<void> {
  const answers = [...start.answers, ...run.output.map((line) => JSON.parse(line) as Appended)];
  const pins = [...start.pins];
  const ledger = await openLedger({ dataDir });
  try {
    const status = await ledger.status();
    expect(status.health, where).toEqual({ state: 'ok' });
    if (size !== undefined) expect(status.size, where).toBe(size);
    expect(status.size, where).toBeGreaterThanOrEqual(answers.length);
    if (status.head !== undefined) pins.push((await reverify(ledger, { pins, answers })).head);
    const retried = await ledger.append(entries(0, to));
    const indices = retried.map((appended) => appended.leaf_index);
    expect(indices, where).toEqual(indices.map((_, index) => index));
    await reverify(ledger, { pins, answers: [...answers, ...retried] });
  } finally {
    await ledger.close();
  }
}

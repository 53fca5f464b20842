/**
 * The log under a disk that fails, by system call: a process that appends is run once for each call that it makes, with
 * a failure at that call, and the log that it leaves is verified as a whole by somebody who trusts nothing of it.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { SignedTreeHead } from '../../src/contract/resources/transparency.ts';
import type { Appended } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { cloneFolder } from '../copy-folder.ts';
import { entries } from '../ledger/fixture-entry.ts';
import { reverify } from '../ledger/reverify.ts';
import { type SystemCall, type TracedRun, type Tracing, traced } from './strace.ts';

const child = new URL('../ledger/append-child.ts', import.meta.url).pathname;

const allFailures = ['error=EIO', 'error=ENOSPC', 'signal=SIGKILL'];
/** How LMDB writes, and how it flushes. */
export const databaseCalls = ['pwrite64', 'pwritev', 'write', 'writev', 'fdatasync', 'fsync', 'msync'];

/** What each run starts from: folders that are alike, and what is known of the log in them. */
export class StartingPoint {
  #made: string | undefined;
  #folders = 0;
  answers: Appended[] = [];
  pins: SignedTreeHead[] = [];

  get #root(): string {
    this.#made ??= mkdtempSync(join(realpathSync(tmpdir()), 'candor-faults-'));
    return this.#made;
  }

  /** Makes a log of so many entries; without it folders are empty. */
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
  /** What happens at a call of this name, in strace's words. Default: `allFailures`. */
  readonly failures?: (call: string) => readonly string[];
  /** What else must hold after a run. Returns the exact size of the log, where it can be said. */
  readonly check?: (run: TracedRun, dataDir: string, inject: string) => number | undefined;
}

/** Returns how many calls failed in turn. */
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
    failures(name).flatMap((failure) =>
      Array.from({ length: count }, (_, n) => `${name}:${failure}:when=${n + 1}`),
    ),
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

/** Calls of each name by the thread that makes the most: strace counts for each thread. */
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

/** Opens the log and verifies it: nothing that was answered is missing, and what is sent again is there once. */
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

/** The very first start, refused and killed at each of its calls: the next one goes on, and no log is taken for lost. */
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { databaseCalls, faultsAtEachCall, StartingPoint } from './faults-at-each-call.ts';
import { mayTrace } from './strace.ts';

/** Dozens of processes, each stopped at its system calls: half a minute where nothing else runs. */
const timeout = 240_000;

describe.skipIf(!mayTrace())('a first start under a failing disk', () => {
  const start = new StartingPoint();
  afterAll(() => start.remove());

  test('each file that is flushed or renamed', { timeout }, async () => {
    const calls = await faultsAtEachCall({
      start,
      append: 1,
      tracing: () => ({ calls: ['fsync', 'rename'] }),
      failures: () => ['error=EIO', 'signal=SIGKILL'],
    });
    expect(calls).toBeGreaterThanOrEqual(10);
  });

  test('each write and each flush of the database, until it has two entries', { timeout }, async () => {
    // To who is killed all calls between two flushes are alike: what they wrote, no meta page names yet.
    const failures: Readonly<Record<string, readonly string[]>> = {
      pwrite64: ['error=EIO'],
      fdatasync: ['error=EIO', 'signal=SIGKILL'],
    };
    const calls = await faultsAtEachCall({
      start,
      append: 2,
      tracing: (dataDir) => ({ paths: [join(dataDir, 'ledger.mdb')], calls: databaseCalls }),
      failures: (call) => failures[call] ?? [],
    });
    expect(calls).toBeGreaterThanOrEqual(20);
  });
});

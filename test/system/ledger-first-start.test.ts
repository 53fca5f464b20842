/**
 * The first start fails or is killed at each of its calls: the next start continues, and does not report a
 * lost log.
 */
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { databaseCalls, faultsAtEachCall, StartingPoint } from './faults-at-each-call.ts';
import { mayTrace } from './strace.ts';

/**
 * Timeout of a test that runs dozens of processes, each stopped at its system calls. It takes half a minute
 * on an idle machine.
 */
const timeout = 300_000;

describe.skipIf(!mayTrace())('a first start on a failing disk', () => {
  const start = new StartingPoint();
  afterAll(() => start.remove());

  test('is completed at the next start after a failed flush or rename of any file', { timeout }, async () => {
    const calls = await faultsAtEachCall({
      start,
      append: 1,
      tracing: () => ({ calls: ['fsync', 'rename'] }),
      failures: () => ['error=EIO', 'signal=SIGKILL'],
    });
    expect(calls).toBeGreaterThanOrEqual(10);
  });

  test('is completed at the next start after a failed write or flush of the database, until it has two entries', {
    timeout,
  }, async () => {
    // For kills, all calls between two flushes are equivalent: no meta page refers to their data yet.
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

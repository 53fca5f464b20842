/**
 * Failures at each system call of a commit, and of writes to the files beside the database: EIO, ENOSPC, or a kill of
 * the process.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allFailures, databaseCalls, faultsAtEachCall, StartingPoint } from './faults-at-each-call.ts';
import { mayTrace, type TracedRun } from './strace.ts';

/** Bytes of the head of a meta page. LMDB makes a transaction valid by writing this head. */
const metaBytes = 128;
const first = 5;

/**
 * The writes of a process that is killed stay in the system's memory, so a flush changes nothing that the next process
 * sees: a kill at a flush is the same as a kill at the next call. Between two writes of meta pages, all kills are
 * equivalent, because no meta page refers to the new data yet: the database needs only the kill at the flush.
 */
const isFlush = (call: string) => /^f(data)?sync$|^msync$/.test(call);
const errors = allFailures.filter((failure) => failure.startsWith('error='));

/**
 * Timeout of a test that runs dozens of processes, each stopped at its system calls. It takes half a minute
 * on an idle machine.
 */
const timeout = 300_000;

describe.skipIf(!mayTrace())('the log on a failing disk', () => {
  const start = new StartingPoint();
  beforeAll(() => start.begin(first));
  afterAll(() => start.remove());

  test('stores exactly the acknowledged entries if any write or flush of a commit fails', {
    timeout,
  }, async () => {
    const calls = await faultsAtEachCall({
      start,
      append: 3,
      tracing: (dataDir) => ({ paths: [join(dataDir, 'ledger.mdb')], calls: databaseCalls }),
      failures: (call) => (isFlush(call) ? allFailures : errors),
      check(run, _, inject) {
        if (inject.includes('error=')) expect(run.code, inject).toBe(1);
        const commits = metaPagesWritten(run);
        expect(run.output, inject).toHaveLength(commits);
        return first + commits;
      },
    });
    expect(calls).toBeGreaterThanOrEqual(9);
  });

  test('keeps an entry if the process is killed between the commit and the response', {
    timeout,
  }, async () => {
    const calls = await faultsAtEachCall({
      start,
      append: 2,
      tracing: () => ({ paths: ['output'], calls: ['write'] }),
      failures: () => ['signal=SIGKILL'],
      check: (run) => first + run.output.length + 1,
    });
    expect(calls).toBe(2);
  });

  test('writes an anchor and a journal that match the log, even if a call on one of the files fails', {
    timeout,
  }, async () => {
    const files = ['', 'anchor.json', 'anchor.json.new', 'journal.ndjson'];
    const calls = await faultsAtEachCall({
      start,
      append: 2,
      tracing: (dataDir) => ({
        paths: files.map((file) => join(dataDir, file)),
        calls: ['write', 'pwrite64', 'fsync', 'fdatasync', 'rename'],
      }),
      failures: (call) => (isFlush(call) ? errors : allFailures),
      check(run, dataDir, inject) {
        const anchor = JSON.parse(readFileSync(join(dataDir, 'anchor.json'), 'utf8'));
        expect(anchor.tree_size, inject).toBeGreaterThanOrEqual(first);
        expect(anchor.tree_size, inject).toBeLessThanOrEqual(first + run.output.length);
        return undefined;
      },
    });
    expect(calls).toBeGreaterThanOrEqual(6);
  });
});

/**
 * Counts writes of meta pages before the failure. If a write of a meta page fails, LMDB writes the number of an older
 * transaction back. This write is not a commit.
 */
function metaPagesWritten({ calls }: TracedRun): number {
  const failure = calls.findIndex(({ injected }) => injected);
  return calls
    .slice(0, failure < 0 ? calls.length : failure)
    .filter(({ name, args }) => name === 'pwrite64' && args.includes(`, ${metaBytes}, `)).length;
}

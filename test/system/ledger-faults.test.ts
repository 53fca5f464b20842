/**
 * Each call of a commit, and of the writing of the files beside the database, refused with EIO and with ENOSPC, and the
 * process killed at it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseCalls, faultsAtEachCall, StartingPoint } from './faults-at-each-call.ts';
import { mayTrace, type TracedRun } from './strace.ts';

/** A meta page's head, written through a descriptor of its own: what makes a transaction valid. */
const metaBytes = 128;
const first = 10;

/** Dozens of processes, each stopped at its system calls: half a minute where nothing else runs. */
const timeout = 240_000;

describe.skipIf(!mayTrace())('the log under a failing disk', () => {
  const start = new StartingPoint();
  beforeAll(() => start.begin(first));
  afterAll(() => start.remove());

  test('each write and each flush of a commit: answered is what is there, and nothing else', {
    timeout,
  }, async () => {
    const calls = await faultsAtEachCall({
      start,
      append: 3,
      tracing: (dataDir) => ({ paths: [join(dataDir, 'ledger.mdb')], calls: databaseCalls }),
      check(run, _, inject) {
        if (inject.includes('error=')) expect(run.code, inject).toBe(1);
        const commits = metaPagesWritten(run);
        expect(run.output, inject).toHaveLength(commits);
        return first + commits;
      },
    });
    expect(calls).toBeGreaterThanOrEqual(9);
  });

  test('killed when the commit is done and its answer is not written', { timeout }, async () => {
    const calls = await faultsAtEachCall({
      start,
      append: 2,
      tracing: () => ({ paths: ['output'], calls: ['write'] }),
      failures: () => ['signal=SIGKILL'],
      check: (run) => first + run.output.length + 1,
    });
    expect(calls).toBe(2);
  });

  test('each call that writes the anchor or the journal: what they tell is there', { timeout }, async () => {
    const files = ['', 'anchor.json', 'anchor.json.new', 'journal.ndjson'];
    const calls = await faultsAtEachCall({
      start,
      append: 2,
      tracing: (dataDir) => ({
        paths: files.map((file) => join(dataDir, file)),
        calls: ['write', 'pwrite64', 'fsync', 'fdatasync', 'rename'],
      }),
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

/** Before the failure: after one, LMDB writes the number of an older transaction over what became of the meta page. */
function metaPagesWritten({ calls }: TracedRun): number {
  const failure = calls.findIndex(({ injected }) => injected);
  return calls
    .slice(0, failure < 0 ? calls.length : failure)
    .filter(({ name, args }) => name === 'pwrite64' && args.includes(`, ${metaBytes}, `)).length;
}

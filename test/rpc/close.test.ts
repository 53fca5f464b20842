import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

/** Runs in a separate process, because Node aborts when a thread is ended while it loads its modules. */
it('closing a pool while its threads load waits for the threads and does not abort the process', async () => {
  const script = new URL('./fixtures/close-at-once.ts', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, [script], { timeout: 280_000 });
  expect(stdout).toBe('closed all\n');
});

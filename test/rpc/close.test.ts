import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

/** In a process of its own: Node aborts when a thread is ended in the midst of loading its modules. */
it('a pool that is closed while its threads load waits for them, and the process lives on', async () => {
  const script = new URL('./fixtures/close-at-once.ts', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, [script], { timeout: 55_000 });
  expect(stdout).toBe('closed all\n');
});

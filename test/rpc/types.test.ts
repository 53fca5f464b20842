import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

it('invalid uses of the RPC types do not compile', async () => {
  const tsc = path('../../node_modules/typescript/bin/tsc');
  const check = promisify(execFile)(process.execPath, [tsc, '--noEmit', '-p', path('./fixtures/tsconfig.json')]);
  const { stdout } = await check.catch((error: { stdout: string }) => error);
  expect(stdout).toBe('');
});

/** A new password for a user of a stopped service. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { adminPassword, login, type Service, startService } from '../../scripts/service.ts';
import { exitCodes } from '../../src/service/exit-codes.ts';
import { call, type Item } from '../system/call.ts';
import { candor } from './candor.ts';

vi.setConfig({ testTimeout: 180_000 });

let dataDir: string;
let service: Service | undefined;
beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'candor-reset-'));
});
afterAll(async () => {
  await service?.stop();
  rmSync(dataDir, { recursive: true });
});

const reset = (...args: string[]) => candor('reset-password', ...args, '--data-dir', dataDir);
/** Returns the access token, or undefined if the password is rejected. */
async function signIn({ url }: Service, password: string): Promise<string | undefined> {
  const answer = await fetch(`${url}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password }),
  });
  return ((await answer.json()) as { access_token?: string }).access_token;
}

test('after candor reset-password, only the new password signs in, sessions have ended, and the log records the reset', async () => {
  const before = await startService({ dataDir, env: {} });
  const session = await login(before);
  expect((await reset('admin')).code).toBe(exitCodes.unavailable);
  await before.stop();

  expect(await reset('nobody')).toMatchObject({ code: exitCodes.refused });
  const { code, stdout } = await reset('admin');
  expect(code).toBe(exitCodes.ok);
  const password = /^The password of admin is (\S+)\.$/.exec(stdout.trim())?.[1] ?? '';

  service = await startService({ dataDir });
  // The administrator's password in the environment is the old password.
  expect(service.output.join()).toContain('CANDOR_ADMIN_PASSWORD is ignored');
  expect((await call(service, 'whoAmI', { token: session })).status).toBe(401);
  expect(await signIn(service, adminPassword)).toBeUndefined();
  const token = await signIn(service, password);
  const running = service;
  const kinds = async () => {
    const { body } = await call(running, 'listEntries', { token: token!, query: 'per_page=100' });
    return (body as { data: Item[] }).data.map(({ attributes }) => (attributes.entry as { kind: string }).kind);
  };
  await expect.poll(kinds).toContain('principal.password_reset');
  expect(await kinds()).toContain('token.revoked');
});

test('candor reset-password reads the password from standard input, and rejects a password that is too short', async () => {
  await service?.stop();
  service = undefined;
  const run = promisify(execFile);
  const launcher = new URL('../../scripts/candor.js', import.meta.url).pathname;
  const given = (password: string) => {
    const child = run(process.execPath, [
      ...[launcher, 'reset-password', 'admin', '--password-stdin', '--data-dir', dataDir],
    ]);
    child.child.stdin!.end(`${password}\n`);
    return child.then(
      () => 0,
      ({ code }: { code: number }) => code,
    );
  };
  expect(await given('short')).toBe(exitCodes.refused);
  expect(await given('a password of my own')).toBe(0);
  service = await startService({ dataDir });
  expect(await signIn(service, 'a password of my own')).toEqual(expect.any(String));
});

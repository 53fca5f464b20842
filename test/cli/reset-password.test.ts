/** A new password for a user of a stopped service. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { adminPassword, login, type Service, startService } from '../../scripts/service.ts';
import { exitCodes } from '../../src/service/exit-codes.ts';
import { call, type Item } from '../system/call.ts';
import { candor, command } from './candor.ts';

let dataDir: string;
let service: Service | undefined;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'candor-reset-'));
});
afterEach(async () => {
  await service?.stop();
  service = undefined;
  rmSync(dataDir, { recursive: true });
});

const reset = (name: string) => command('reset-password', name, '--data-dir', dataDir);
/** Returns the access token, or undefined if the password is rejected. */
async function signIn({ url }: Service, username: string, password: string): Promise<string | undefined> {
  const answer = await fetch(`${url}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
  });
  return ((await answer.json()) as { access_token?: string }).access_token;
}

/** Runs the command in a process with this password as standard input. Returns the exit code. */
function resetTo(name: string, password: string): Promise<number> {
  const launcher = new URL('../../scripts/candor.js', import.meta.url).pathname;
  const args = [launcher, 'reset-password', name, '--password-stdin', '--data-dir', dataDir];
  const running = promisify(execFile)(process.execPath, args);
  running.child.stdin!.end(`${password}\n`);
  return running.then(
    () => 0,
    ({ code }: { code: number }) => code,
  );
}

test('after candor reset-password, only the new password signs in, sessions have ended, and the log records the reset', async () => {
  const before = await startService({ dataDir });
  service = before;
  const session = await login(before);
  const json = { name: 'ann', kind: 'user', roles: ['viewer'], password: "ann's first password" };
  expect((await call(before, 'createPrincipal', { token: session, json })).status).toBe(201);
  expect((await reset('admin')).code).toBe(exitCodes.unavailable);
  await before.stop();
  service = undefined;

  expect(await reset('nobody')).toMatchObject({ code: exitCodes.refused });
  const { code, stdout } = await candor('reset-password', 'admin', '--data-dir', dataDir);
  expect(code).toBe(exitCodes.ok);
  const password = /^The password of admin is (\S+)\.$/.exec(stdout.trim())?.[1] ?? '';
  // The password is read from standard input, and must be long enough.
  expect(await resetTo('ann', 'short')).toBe(exitCodes.refused);
  expect(await resetTo('ann', 'a password of my own')).toBe(0);

  const running = await startService({ dataDir });
  service = running;
  // The administrator's password in the environment is the old password.
  expect(running.output.join()).toContain('CANDOR_ADMIN_PASSWORD is ignored');
  expect((await call(running, 'whoAmI', { token: session })).status).toBe(401);
  expect(await signIn(running, 'admin', adminPassword)).toBeUndefined();
  expect(await signIn(running, 'ann', json.password)).toBeUndefined();
  expect(await signIn(running, 'ann', 'a password of my own')).toEqual(expect.any(String));
  const token = await signIn(running, 'admin', password);
  const kinds = async () => {
    const { body } = await call(running, 'listEntries', { token: token!, query: 'per_page=100' });
    return (body as { data: Item[] }).data.map(({ attributes }) => (attributes.entry as { kind: string }).kind);
  };
  await expect.poll(kinds).toContain('principal.password_reset');
  expect(await kinds()).toContain('token.revoked');
});

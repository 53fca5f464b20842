/** Nobody takes the last administrators away by asking for two things at once. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Caller } from '../../src/auth/access.ts';
import { restoring } from '../../src/auth/policy/lock-out.ts';
import type { PrincipalChange } from '../../src/store/store.ts';
import { forRoles, withRules } from '../auth/policy-parts.ts';
import { openService, password, type Service } from './service.ts';

let service: Service;
let admin: string;
beforeEach(async () => {
  service = await openService();
  admin = await signIn('admin');
});
afterEach(() => service.close());

async function signIn(username: string): Promise<string> {
  const { body } = await service.call('login', 'POST /auth/login', { json: { username, password } });
  return (body as { access_token: string }).access_token;
}

async function addUser(name: string, ...roles: string[]): Promise<string> {
  const json = { name, kind: 'user', roles, password };
  const { body } = await service.call('createPrincipal', 'POST /api/v1/principals', { token: admin, json });
  return (body as { data: { id: string } }).data.id;
}

const putPolicy = (token: string, rules: readonly unknown[]) =>
  service.call('updatePolicy', 'PUT /api/v1/policy', { token, json: { rules } });
const change = (token: string, id: string, json: object) =>
  service.call('updatePrincipal', `PUT /api/v1/principals/${id}`, { token, json });
const rulesForAnalysts = () =>
  withRules(
    service.services.policy.current.rules,
    ...restoring.map((operation) => forRoles(operation, 'analyst')),
  );

/** One of the two is done; the other is refused, whoever asks by then. */
const oneOfTwo = async (asked: ReturnType<Service['call']>[], refusals = [409]) => {
  const answers = await Promise.all(asked);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused).toHaveLength(1);
  expect(refusals).toContain(refused[0]!.status);
};

test.each<[string, PrincipalChange]>([
  ['suspend', { status: 'suspended' }],
  ['take the roles of', { roles: [] }],
])('two who alone administer, by another role than admin, %s each other', async (_, taken) => {
  const [a, b] = [await addUser('ann', 'analyst'), await addUser('bob', 'analyst')];
  const [asAnn, asBob] = [await signIn('ann'), await signIn('bob')];
  expect((await putPolicy(admin, rulesForAnalysts())).status).toBe(200);
  // One who was taken away before he was asked who he is doesn't get as far as a conflict.
  await oneOfTwo([change(asAnn, b, taken), change(asBob, a, taken)], [401, 403, 409]);
});

test('one gives administration to a role, another suspends the only one who has it', async () => {
  const id = await addUser('ann', 'analyst');
  await oneOfTwo([putPolicy(admin, rulesForAnalysts()), change(admin, id, { status: 'suspended' })]);
});

test('and in the other order', async () => {
  const id = await addUser('ann', 'analyst');
  await oneOfTwo([change(admin, id, { status: 'suspended' }), putPolicy(admin, rulesForAnalysts())]);
});

test('a password is set only as long as the principal has the roles that the caller has too', async () => {
  const id = await addUser('ann', 'viewer');
  const by: Caller = { id, name: 'somebody', roles: ['viewer'] };
  const known = service.services.reader.principal(id)!;
  const resetting = service.auth.changePrincipal(known, { password: 'another password' }, by);
  await service.store.changePrincipal(id, { roles: ['admin'] }, { id: 'system', name: 'system' });
  await expect(resetting).rejects.toMatchObject({ code: 'CONFLICT' });
  expect(service.services.reader.principal(id)).toMatchObject({
    roles: ['admin'],
    password_hash: known.password_hash,
  });
  // Nor by naming the version that the principal is about to have.
  const viewer = { ...known, version: 1 };
  await expect(
    service.auth.changePrincipal(viewer, { password: 'another password' }, by, 2),
  ).rejects.toMatchObject({ code: 'VERSION_MISMATCH', details: { version: 1 } });
});

test('who says nothing of the version is told of a conflict only where there is one', async () => {
  const id = await addUser('ann', 'viewer');
  const answers = await Promise.all(
    ['viewer', 'analyst', 'auditor'].map((role) => change(admin, id, { roles: [role] })),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
});

/** Two concurrent requests cannot remove the last administrators. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Caller } from '../../src/identities/access.ts';
import { restoring } from '../../src/identities/store/lock-out.ts';
import type { PrincipalChange } from '../../src/store/store.ts';
import { forRoles, withRules } from '../identities/policy-parts.ts';
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
  withRules(service.services.policy.current.rules, ...restoring.map((operation) => forRoles(operation, 'analyst')));

/**
 * Expects one of two concurrent calls to succeed and the other call to be refused. `refusals` has the permitted status
 * codes of the refusal.
 */
const oneOfTwo = async (asked: ReturnType<Service['call']>[], refusals = [409]) => {
  const answers = await Promise.all(asked);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused).toHaveLength(1);
  expect(refusals).toContain(refused[0]!.status);
};

test.each<[string, PrincipalChange]>([
  ['suspend', { status: 'suspended' }],
  ['take the roles of', { roles: [] }],
])('two users who administer through a role other than admin cannot both %s each other', async (_, taken) => {
  const [a, b] = [await addUser('ann', 'analyst'), await addUser('bob', 'analyst')];
  const [asAnn, asBob] = [await signIn('ann'), await signIn('bob')];
  expect((await putPolicy(admin, rulesForAnalysts())).status).toBe(200);
  // A caller whose access is removed before authentication gets 401 or 403 instead of a conflict.
  await oneOfTwo([change(asAnn, b, taken), change(asBob, a, taken)], [401, 403, 409]);
});

test("granting administration to a role conflicts with suspending the role's only member", async () => {
  const id = await addUser('ann', 'analyst');
  await oneOfTwo([putPolicy(admin, rulesForAnalysts()), change(admin, id, { status: 'suspended' })]);
});

test('suspending the only member of a role conflicts with granting administration to the role', async () => {
  const id = await addUser('ann', 'analyst');
  await oneOfTwo([change(admin, id, { status: 'suspended' }), putPolicy(admin, rulesForAnalysts())]);
});

test('a password is set only while the caller has all roles of the principal', async () => {
  const id = await addUser('ann', 'viewer');
  const by: Caller = { id, name: 'somebody', roles: ['viewer'] };
  const known = service.services.reader.principal(id)!;
  await Promise.all([
    expect(service.auth.changePrincipal(known, { password: 'another password' }, by)).rejects.toMatchObject({
      code: 'FORBIDDEN',
    }),
    service.store.changePrincipal(id, { roles: ['admin'] }, { id: 'system', name: 'system' }),
  ]);
  expect(service.services.reader.principal(id)).toMatchObject({
    roles: ['admin'],
    password_hash: known.password_hash,
  });
  // A request that names the version that the principal is about to have is refused, too.
  const viewer = { ...known, version: 1 };
  await expect(service.auth.changePrincipal(viewer, { password: 'another password' }, by, 2)).rejects.toMatchObject({
    code: 'FORBIDDEN',
  });
});

test('concurrent changes without a version all succeed if an administrator remains', async () => {
  const id = await addUser('ann', 'viewer');
  const answers = await Promise.all(
    ['viewer', 'analyst', 'auditor'].map((role) => change(admin, id, { roles: [role] })),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
});

/** Concurrent changes of rules and principals: each is checked against the result of the others. */
import { expect, test } from 'vitest';
import { requireAdministrator, restoring } from '../../src/auth/policy/lock-out.ts';
import { limits } from '../../src/limits.ts';
import type { Principal, PrincipalChange } from '../../src/store/store.ts';
import { code, opened } from './opened-policy.ts';
import { alice, forRoles, system, withRules } from './policy-parts.ts';

const analyst = { roles: ['analyst'], password_hash: 'a hash' } as const;

async function openedForAnalysts() {
  const parts = await opened();
  const { policy, store } = parts;
  const rules = withRules(
    policy.current.rules,
    ...restoring.map((operation) => forRoles(operation, 'analyst')),
  );
  const change = (id: string, taken: PrincipalChange) =>
    code(policy.changePrincipal(id, taken, () => store.changePrincipal(id, taken, system)));
  return { ...parts, rules, change, replace: () => code(policy.replace(rules, alice)) };
}

const lockedOut = ['CONFLICT', 'locks_out'];

test.each<PrincipalChange>([{ status: 'suspended' }, { roles: [] }])(
  'at least one of the last two administrators remains: %j',
  async (taken) => {
    const { addPrincipal, change, replace } = await openedForAnalysts();
    const [a, b] = [await addPrincipal(analyst), await addPrincipal(analyst)];
    await replace();
    const answers = await Promise.all([change(a.id, taken), change(b.id, taken)]);
    expect(answers).toEqual([expect.objectContaining({ principal: expect.anything() }), lockedOut]);
  },
);

test('rules that leave one administrator and a change that removes this administrator do not both succeed', async () => {
  const first = await openedForAnalysts();
  const { id } = await first.addPrincipal(analyst);
  expect(await Promise.all([first.replace(), first.change(id, { status: 'suspended' })])).toEqual([
    expect.objectContaining({ version: 2 }),
    lockedOut,
  ]);
  const second = await openedForAnalysts();
  const other = await second.addPrincipal(analyst);
  expect(await Promise.all([second.change(other.id, { status: 'suspended' }), second.replace()])).toEqual([
    expect.objectContaining({ principal: expect.anything() }),
    lockedOut,
  ]);
});

test('a failed change removes no administrator and does not block the next one', async () => {
  const { policy, change, addPrincipal } = await openedForAnalysts();
  const { id } = await addPrincipal({});
  const failed = policy.changePrincipal(id, { roles: [] }, () => Promise.reject(new Error('lost')));
  await expect(failed).rejects.toThrow('lost');
  expect(await change(id, { roles: ['viewer'] })).toMatchObject({ principal: { roles: ['viewer'] } });
});

test('an administrator with the role admin is found without reading all principals', async () => {
  const { policy } = await opened();
  const { rules } = policy.current;
  const administrator: Principal = {
    ...{ ...alice, kind: 'user', status: 'active', created_at: '2026-01-01T00:00:00.000Z' },
    ...{ roles: ['admin'], password_hash: 'a hash' },
  };
  const others = Array.from({ length: 3 * limits.maxPerPage }, (_, n) => ({
    ...administrator,
    id: `${n}`,
    roles: [],
  }));
  let pages = 0;
  const readerOf = (all: readonly Principal[]) => ({
    storedAdministrators: () => all.filter(({ roles }) => roles.includes('admin')),
    storedPrincipals: (page: number, perPage: number) => {
      pages++;
      return { principals: all.slice((page - 1) * perPage, page * perPage), total: all.length };
    },
  });
  await requireAdministrator(rules, readerOf([...others, administrator]));
  expect(pages).toBe(0);
  // With another role, all principals are read.
  const byAnalyst = withRules(rules, ...restoring.map((operation) => forRoles(operation, 'analyst')));
  await requireAdministrator(byAnalyst, readerOf([...others, { ...administrator, roles: ['analyst'] }]));
  expect(pages).toBe(4);
  await expect(requireAdministrator(byAnalyst, readerOf(others))).rejects.toMatchObject({ code: 'CONFLICT' });
});

test('the index of administrators lists them', async () => {
  const { policy, addPrincipal, store } = await opened();
  await addPrincipal({ roles: ['admin'] });
  const second = await addPrincipal({ roles: ['admin'], password_hash: 'a hash' });
  await store.changePrincipal(alice.id, { status: 'suspended' }, system);
  const refused = policy.changePrincipal(second.id, { status: 'suspended' }, async () => undefined);
  expect(await code(refused)).toEqual(lockedOut);
});

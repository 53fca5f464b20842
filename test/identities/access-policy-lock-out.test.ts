/** Concurrent changes of rules and principals: each change is checked against the result of the others. */
import { expect, test } from 'vitest';
import { restoring } from '../../src/identities/store/lock-out.ts';
import type { PrincipalChange } from '../../src/store/store.ts';
import { code, opened } from './opened-policy.ts';
import { alice, forRoles, system, withRules } from './policy-parts.ts';

const analyst = { roles: ['analyst'], password_hash: 'a hash' } as const;

async function openedForAnalysts() {
  const parts = await opened();
  const { policy, store } = parts;
  const rules = withRules(policy.current.rules, ...restoring.map((operation) => forRoles(operation, 'analyst')));
  const change = (id: string, taken: PrincipalChange) => code(store.changePrincipal(id, taken, system));
  return { ...parts, rules, change, replace: () => code(policy.replace(rules, alice)) };
}

const lockedOut = ['CONFLICT', 'locks_out'];

test.each<PrincipalChange>([{ status: 'suspended' }, { roles: [] }])(
  'one of the last two administrators always remains: %j',
  async (taken) => {
    const { addPrincipal, change, replace } = await openedForAnalysts();
    const [a, b] = [await addPrincipal(analyst), await addPrincipal(analyst)];
    await replace();
    const answers = await Promise.all([change(a.id, taken), change(b.id, taken)]);
    expect(answers).toEqual([expect.objectContaining({ principal: expect.anything() }), lockedOut]);
  },
);

test('rules that leave one administrator and a change that removes this administrator do not both succeed', async () => {
  for (const isRulesFirst of [true, false]) {
    const { addPrincipal, replace, change } = await openedForAnalysts();
    const { id } = await addPrincipal(analyst);
    const works = [replace, () => change(id, { status: 'suspended' })];
    const answers = await Promise.all((isRulesFirst ? works : works.reverse()).map((work) => work()));
    expect(answers.filter(Array.isArray)).toEqual([lockedOut]);
  }
});

test('changes that keep the only administrator are allowed', async () => {
  const { addPrincipal, change, replace } = await openedForAnalysts();
  const keeper = await addPrincipal(analyst);
  const viewer = await addPrincipal({ ...analyst, roles: ['viewer'] });
  await replace();
  for (const [id, taken] of [
    [viewer.id, { status: 'suspended' }],
    [keeper.id, { roles: ['analyst', 'viewer'] }],
  ] as const)
    expect(await change(id, taken)).toMatchObject({ principal: taken });
  expect(await change(keeper.id, { roles: ['viewer'] })).toEqual(lockedOut);
});

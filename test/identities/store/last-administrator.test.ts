import fc from 'fast-check';
import { expect, test } from 'vitest';
import { roles } from '../../../src/contract/vocabulary.ts';
import { openReader } from '../../../src/store/reader.ts';
import type { Principal, Store, StoreReader } from '../../../src/store/store.ts';
import { openStore } from '../../../src/store/writer.ts';
import { principal, system } from './identity-records.ts';
import { withAdmin } from './with-admin.ts';

/** Counts the administrators by reading all principals. */
const administrators = (reader: StoreReader): number =>
  reader
    .storedPrincipals(1, 1000)
    .principals.filter(
      ({ kind, status, roles, password_hash }) =>
        kind === 'user' && status === 'active' && roles.includes('admin') && password_hash !== undefined,
    ).length;

const last = (field: string) => ({ code: 'CONFLICT', details: { field } });

test('the last administrator can neither be suspended nor lose the role', async () => {
  const { store, reader, admin, kinds } = await withAdmin();
  const others: Partial<Principal>[] = [
    { kind: 'sensor' },
    { status: 'suspended' },
    { roles: ['viewer', 'analyst', 'sensor', 'auditor'] },
  ];
  for (const [n, changes] of others.entries()) await store.createPrincipal(principal(`other ${n}`, changes), system);
  const { password_hash: _, ...withCertificate } = principal('by certificate');
  await store.createPrincipal(withCertificate, system);
  expect(reader.administrators()).toBe(1);
  const change = (wanted: Parameters<typeof store.changePrincipal>[1]) =>
    store.changePrincipal(admin.id, wanted, admin);
  await expect(change({ status: 'suspended' })).rejects.toMatchObject(last('status'));
  await expect(change({ roles: [] })).rejects.toMatchObject(last('roles'));
  await expect(change({ roles: ['viewer'], status: 'suspended' })).rejects.toMatchObject(last('roles'));
  expect(reader.principal(admin.id)).toEqual(admin);
  expect(await kinds()).toEqual(Array(4).fill('principal.provisioned'));

  await change({ name: 'root', roles: ['admin', 'analyst'], password_hash: '$argon2id$1' });
  await store.changePrincipal(withCertificate.id, { password_hash: '$argon2id$1' }, admin);
  expect(reader.administrators()).toBe(2);
  await change({ status: 'suspended' });
  await expect(store.changePrincipal(withCertificate.id, { roles: ['viewer'] }, admin)).rejects.toMatchObject(
    last('roles'),
  );
});

test('if two administrators suspend each other at the same time, one of them stays active', async () => {
  const { store, reader, admin } = await withAdmin();
  const other = principal('other');
  await store.createPrincipal(other, admin);
  const both = [
    store.changePrincipal(other.id, { status: 'suspended' }, admin),
    store.changePrincipal(admin.id, { status: 'suspended' }, other),
  ];
  expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  expect(reader.administrators()).toBe(1);
});

const change = fc.record(
  {
    status: fc.constantFrom('active' as const, 'suspended' as const),
    roles: fc.subarray([...roles]),
    password_hash: fc.constantFrom('$argon2id$1', '$argon2id$2'),
    name: fc.constantFrom('a', 'b', 'c'),
  },
  { requiredKeys: [] },
);
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ who: fc.nat(5), change, together: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant('reopen' as const) },
);

test('any changes in any order leave an administrator, and the count of administrators is right', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const { store, reader, admin, dataDir } = await withAdmin();
      const all = [
        admin,
        principal('second'),
        principal('third', { roles: ['viewer'] }),
        principal('fourth', { status: 'suspended' }),
        principal('sensor', { kind: 'sensor' }),
      ];
      const { password_hash: _, ...without } = principal('sixth');
      all.push(without);
      for (const each of all.slice(1)) await store.createPrincipal(each, system);
      let current: { store: Store; reader: StoreReader } = { store, reader };
      let waiting: Promise<unknown>[] = [];
      const reopened: (typeof current)[] = [];
      for (const each of steps) {
        if (each === 'reopen') {
          await Promise.allSettled(waiting);
          if (current.store === store) {
            reader.close();
            await store.close();
          } else await close(current);
          current = { store: openStore({ dataDir, alertWindowMs: 1 }), reader: openReader(dataDir) };
          reopened.push(current);
          continue;
        }
        waiting.push(
          current.store.changePrincipal(all[each.who]!.id, each.change, system).catch((error: unknown) => {
            expect(error).toMatchObject({ code: 'CONFLICT' });
          }),
        );
        if (each.together) continue;
        await Promise.all(waiting);
        waiting = [];
        expect(administrators(current.reader)).toBeGreaterThan(0);
        expect(current.reader.administrators()).toBe(administrators(current.reader));
      }
      await Promise.all(waiting);
      expect(administrators(current.reader)).toBeGreaterThan(0);
      expect(current.reader.administrators()).toBe(administrators(current.reader));
      if (current.store !== store) await close(current);
    }),
    { numRuns: 40 },
  );
});

async function close({ store, reader }: { store: { close(): Promise<void> }; reader: StoreReader }): Promise<void> {
  reader.close();
  await store.close();
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { keyHash } from '../../src/database/key-hash.ts';
import { openDatabase, type RootDatabase } from '../../src/database/lmdb.ts';
import { openRows } from '../../src/database/rows.ts';
import { inspectStore } from '../../src/store/inspect.ts';
import { openReader } from '../../src/store/reader.ts';
import type { Principal } from '../../src/store/store.ts';
import { openStore } from '../../src/store/writer.ts';
import { longLived, principal, session, system } from '../identities/store/identity-records.ts';
import { allRecords, start } from './opened.ts';

const later = ['principal-tokens', 'administrators', 'audit'];
const ignore = () => undefined;

/** Creates a file with identities, then changes its tables directly. */
async function changedFile(change: (root: RootDatabase) => void) {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-older-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const store = openStore({ dataDir, alertWindowMs: 1, clock: () => start });
  const [admin, second] = [principal('admin'), principal('second')];
  for (const each of [admin, second, principal('third', { roles: ['viewer'] })])
    await store.createPrincipal(each, system);
  const sessions = [session(admin), session(second), session(admin)] as const;
  const revoked = session(admin);
  for (const token of [...sessions, longLived(admin), revoked]) await store.addToken(token, system);
  await store.revokeToken(revoked.jti, system);
  await store.close();
  const root = openDatabase(join(dataDir, 'siem.mdb'));
  change(root);
  await root.close();
  return { dataDir, admin, second, sessions };
}

const withoutLater = (root: RootDatabase) => {
  for (const name of later) root.openDB({ name }).dropSync();
};

test('indexes that a file lacks are created when it is opened, and are used', async () => {
  const { dataDir, admin, second, sessions } = await changedFile(withoutLater);
  await inspectStore(dataDir, ignore);
  for (let time = 0; time < 2; time++) {
    const store = openStore({ dataDir, alertWindowMs: 1, clock: () => start });
    const reader = openReader(dataDir);
    expect(reader.administrators()).toBe(2);
    expect(reader.listAudit(allRecords).total).toBe(0);
    reader.close();
    await store.close();
  }
  await inspectStore(dataDir, ignore);

  const store = openStore({ dataDir, alertWindowMs: 1, clock: () => start });
  const { ended } = await store.changePrincipal(admin.id, { password_hash: 'new' }, system);
  expect([...ended].sort()).toEqual([sessions[0].jti, sessions[2].jti].sort());
  await store.changePrincipal(second.id, { status: 'suspended' }, system);
  await expect(store.changePrincipal(admin.id, { status: 'suspended' }, system)).rejects.toMatchObject({
    code: 'CONFLICT',
  });
  await store.close();
  await inspectStore(dataDir, ignore);
});

test('an incomplete index by principal is found in a copy, and completed when the file is opened', async () => {
  const { dataDir, admin, sessions } = await changedFile((root) => {
    const index = openRows<true, [string, string, string]>(root, 'principal-tokens');
    for (const key of index.getKeys({ limit: 1 })) index.removeSync(key);
  });
  await expect(inspectStore(dataDir, ignore)).rejects.toThrow(/there are 5 tokens, but 4 in the index/);
  const store = openStore({ dataDir, alertWindowMs: 1, clock: () => start });
  const { ended } = await store.changePrincipal(admin.id, { password_hash: 'new' }, system);
  expect([...ended].sort()).toEqual([sessions[0].jti, sessions[2].jti].sort());
  await store.close();
  await inspectStore(dataDir, ignore);
});

test('a token that exists only in its index is found in a copy', async () => {
  const { dataDir } = await changedFile((root) => {
    const index = openRows<true, [string, string, string]>(root, 'principal-tokens');
    for (const [id, state, jti] of [...index.getKeys({ limit: 1 })]) {
      index.removeSync([id, state, jti]);
      index.putSync([id, state, '0'], true);
    }
  });
  await expect(inspectStore(dataDir, ignore)).rejects.toThrow('token 0 is missing');
});

test('look-alike names of an older file are kept, and new names that resemble them are rejected', async () => {
  const { dataDir, admin } = await changedFile((root) => {
    const names = openRows<string, string>(root, 'principal-names');
    const principals = openRows<Principal, string>(root, 'principals');
    names.clearSync();
    for (const { value } of principals.getRange()) {
      const name = value.name === 'third' ? 'Admin' : value.name;
      principals.putSync(value.id, { ...value, name });
      names.putSync(keyHash(name), value.id);
    }
  });
  for (let time = 0; time < 2; time++) {
    const store = openStore({ dataDir, alertWindowMs: 1, clock: () => start });
    const reader = openReader(dataDir);
    for (const name of ['admin', 'Admin', 'second']) expect(reader.principalByName(name)?.name).toBe(name);
    for (const name of ['ADMIN', 'Second'])
      await expect(store.createPrincipal(principal(name), system)).rejects.toMatchObject({
        code: 'CONFLICT',
      });
    await store.changePrincipal(admin.id, { roles: time === 0 ? ['admin', 'viewer'] : ['admin'] }, system);
    reader.close();
    await store.close();
  }
  await inspectStore(dataDir, ignore);
});

test('the table of look-alike names in an older file is converted to the current form', async () => {
  const { dataDir } = await changedFile((root) => {
    const names = openRows<string, string>(root, 'principal-names');
    const principals = openRows<Principal, string>(root, 'principals');
    names.clearSync();
    for (const { value } of principals.getRange()) {
      const name = value.name === 'third' ? 'sensor\u20131' : value.name;
      principals.putSync(value.id, { ...value, name });
      // Each name has both of its keys, one of them in an earlier form.
      names.putSync(keyHash(name), value.id);
      names.putSync(keyHash(name.normalize('NFKC').toLowerCase(), 'looks'), value.id);
    }
  });
  const store = openStore({ dataDir, alertWindowMs: 1, clock: () => start });
  await expect(store.createPrincipal(principal('sensor-1'), system)).rejects.toMatchObject({
    code: 'CONFLICT',
    details: { field: 'name', reason: 'looks like a name that is taken' },
  });
  await store.close();
  await inspectStore(dataDir, ignore);
});

test('any other missing table makes a copy invalid', async () => {
  const { dataDir } = await changedFile((root) => void root.openDB({ name: 'tokens' }).dropSync());
  await expect(inspectStore(dataDir, ignore)).rejects.toThrow(/table tokens cannot be read/);
});

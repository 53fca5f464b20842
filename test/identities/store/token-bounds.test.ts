import { describe, expect, test } from 'vitest';
import { limits } from '../../../src/limits.ts';
import type { ListPage, ListQuery } from '../../../src/store/store.ts';
import { uuid7 } from '../../../src/uuid.ts';
import { allTokens, newest, resources, start } from '../../store/opened.ts';
import { day, longLived, principal, session, system } from './identity-records.ts';
import { withAdmin } from './with-admin.ts';

const most = limits.maxTokensPerPrincipal;
/** Returns a token whose jti has a distinct millisecond, so that the order is known. */
const at = (n: number) => ({ jti: uuid7(start + n), issued_at: new Date(start + n).toISOString() });

describe('tokens of one principal', () => {
  test('above the limit are ended one by one: a login ends only the oldest session, with its entry', async () => {
    const { store, reader, admin, rows } = await withAdmin();
    const other = principal('other');
    await store.createPrincipal(other, admin);
    const endless = longLived(admin);
    const sessions = Array.from({ length: most + 2 }, (_, n) => session(admin, at(n)));
    for (const token of [session(other, at(-1)), endless]) await store.addToken(token, admin);
    const added = await Promise.all(sessions.map((token) => store.addToken(token, admin)));
    const displaced = sessions.slice(0, 2).map(({ jti }) => jti);
    expect(added.flatMap(({ ended }) => ended)).toEqual(displaced);
    for (const jti of displaced) expect(reader.token(jti)).toBeUndefined();
    const revoked = (await rows()).filter(({ kind }) => kind === 'token.revoked');
    expect(revoked.map(({ subject }) => subject.id)).toEqual(displaced);
    expect(reader.listTokens(allTokens, start).total).toBe(most + 2);
    expect(reader.token(endless.jti)).toEqual(endless);
    expect((await store.changePrincipal(admin.id, { password_hash: 'new' }, admin)).ended).toHaveLength(most);
  });

  test('do not count towards the limit once revoked, and the oldest revoked sessions are removed', async () => {
    const { store, reader, admin } = await withAdmin();
    const kept = session(admin, at(-1));
    await store.addToken(kept, admin);
    const sessions = Array.from({ length: most + 5 }, (_, n) => session(admin, at(n)));
    await Promise.all(sessions.flatMap((token) => [store.addToken(token, admin), store.revokeToken(token.jti, admin)]));
    expect(reader.token(kept.jti)).toEqual(kept);
    expect(reader.listTokens(allTokens, start).total).toBe(most + 1);
    expect(sessions.map(({ jti }) => reader.token(jti)?.revoked_at !== undefined)).toEqual(
      sessions.map((_, n) => n >= 5),
    );
    expect(await store.revokeToken(sessions[0]!.jti, admin)).toBe(false);
  });

  test('that are long-lived are rejected above the limit until another token is revoked or has expired', async () => {
    const { store, reader, admin, clock, rows } = await withAdmin();
    const soon = new Date(start + day).toISOString();
    const tokens = Array.from({ length: most }, (_, n) =>
      longLived(admin, { ...at(n), ...(n === 7 ? { expires_at: soon } : {}) }),
    );
    await Promise.all(tokens.map((token) => store.addToken(token, system)));
    const conflict = { code: 'CONFLICT', details: { field: 'principal_id' } };
    const before = await rows();
    await expect(store.addToken(longLived(admin, at(-1)), system)).rejects.toMatchObject(conflict);
    expect(await rows()).toEqual(before);
    await store.addToken(session(admin), system);
    await store.revokeToken(tokens[3]!.jti, system);
    await store.addToken(longLived(admin, at(-1)), system);
    await expect(store.addToken(longLived(admin, at(-2)), system)).rejects.toMatchObject(conflict);
    clock.now += 2 * day;
    expect(await store.addToken(longLived(admin, at(-2)), system)).toEqual({ ended: [] });
    expect(reader.token(tokens[7]!.jti)).toBeUndefined();
    expect(reader.token(tokens[3]!.jti)?.revoked_at).toBeDefined();
    await expect(store.addToken(longLived(admin, at(-3)), system)).rejects.toMatchObject(conflict);
  });
});

test('lists of tokens and principals are newest first, in pages, with the total', async () => {
  const { store, reader, admin } = await withAdmin();
  const tokens = Array.from({ length: 25 }, (_, n) => longLived(admin, at(n)));
  await Promise.all(tokens.toReversed().map((token) => store.addToken(token, admin)));
  const principals = Array.from({ length: 24 }, (_, n) => principal(`p${n}`, { id: uuid7(start + 1 + n) }));
  await Promise.all(principals.toReversed().map((each) => store.createPrincipal(each, admin)));
  const all = [...principals.toReversed(), admin];
  for (const page of [1, 2, 3, 4, 2 ** 52]) {
    const part = [(page - 1) * 10, page * 10] as const;
    const listed = reader.listTokens({ ...allTokens, page, per_page: 10 }, start);
    expect(listed).toMatchObject({ total: 25, page });
    expect(resources(listed).map(({ id }) => id)).toEqual(
      tokens
        .toReversed()
        .slice(...part)
        .map(({ jti }) => jti),
    );
    expect(reader.storedPrincipals(page, 10)).toEqual({ principals: all.slice(...part), total: 25 });
  }
});

test('the latest use of a token is stored in any state, and unknown tokens are ignored', async () => {
  const { store, reader, admin, kinds } = await withAdmin();
  const [used, revoked] = [longLived(admin), session(admin)];
  for (const token of [used, revoked]) await store.addToken(token, admin);
  await store.revokeToken(revoked.jti, admin);
  const minute = (n: number) => new Date(start + n * 60_000).toISOString();
  await store.noteTokenUse(new Map([used.jti, revoked.jti, 'unknown'].map((jti) => [jti, minute(2)])));
  await store.noteTokenUse(new Map([[used.jti, minute(1)]]));
  expect(reader.token(used.jti)).toEqual({ ...used, last_used_at: minute(2) });
  expect(reader.token(revoked.jti)).toMatchObject({
    revoked_at: expect.any(String),
    last_used_at: minute(2),
  });
  expect(await store.revokeToken(revoked.jti, admin)).toBe(false);
  expect(await store.revokeToken(used.jti, admin)).toBe(true);
  expect(reader.token(used.jti)?.last_used_at).toBe(minute(2));
  expect(reader.listTokens(allTokens, start).total).toBe(2);
  await store.noteTokenUse(new Map());
  expect(await kinds()).toEqual(['token.issued', 'token.issued', 'token.revoked', 'token.revoked']);
});

test('complete lists by cursor have the same pages as a sorted list, in both orders', async () => {
  const { store, reader, admin } = await withAdmin();
  const tokens = Array.from({ length: 25 }, (_, n) => longLived(admin, at(n)));
  for (const token of tokens) await store.addToken(token, admin);
  const made = (n: number) => ({
    id: uuid7(start + 1 + n),
    created_at: new Date(start + 1 + n).toISOString(),
  });
  for (let n = 0; n < 24; n++) await store.createPrincipal(principal(`p${n}`, made(n)), admin);
  const lists = {
    tokens: (query: ListQuery) => reader.listTokens(query, start),
    principals: (query: ListQuery) => reader.listPrincipals(query),
  };
  for (const [name, list] of Object.entries(lists))
    for (const order of ['asc', 'desc'] as const) {
      const whole = { ...(name === 'tokens' ? allTokens : newest), order };
      // `from: 0` excludes no rows, but forces the store to read every row and to sort the rows by their attributes.
      const expected = resources(list({ ...whole, from: 0 })).map(({ id }) => id);
      expect(expected).toHaveLength(25);
      const walked: string[] = [];
      let cursor: string | undefined;
      do {
        const page: ListPage = list({ ...whole, per_page: 7, ...(cursor === undefined ? {} : { cursor }) });
        expect(page).toMatchObject({ total: 25, page: walked.length / 7 + 1 });
        walked.push(...resources(page).map(({ id }) => id));
        cursor = page.next_cursor;
      } while (cursor !== undefined);
      expect(walked).toEqual(expected);
    }
});

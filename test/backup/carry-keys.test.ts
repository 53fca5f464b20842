import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { carryKeys } from '../../src/backup/carry-keys.ts';
import type { SignedTreeHead } from '../../src/contract/resources/transparency.ts';
import { activated, type KeyFile, newKeyFile } from '../../src/ledger/keys/key-file.ts';
import { newFolder } from './fixture.ts';

const now = Date.UTC(2026, 10, 20);
const head = (tree_size: number) => ({ tree_size }) as SignedTreeHead;
const mark = { replaced: head(100), started_at: new Date(now).toISOString() };

type State = Partial<KeyFile>;
const key = (state: State): KeyFile => ({
  ...activated(newKeyFile('transparency-sth', now), 0, now),
  ...state,
});
const gone = ({ d: _private, ...file }: KeyFile, state: State): KeyFile => ({ ...file, ...state });

function folderOf(files: readonly KeyFile[]): string {
  const folder = join(newFolder(), 'keys');
  mkdirSync(folder);
  for (const file of files) writeFileSync(join(folder, `${file.kid}.json`), JSON.stringify(file));
  return folder;
}

function filesIn(folder: string): Map<string, KeyFile> {
  return new Map(
    readdirSync(folder).map((name) => {
      const file: KeyFile = JSON.parse(readFileSync(join(folder, name), 'utf8'));
      return [file.kid, file];
    }),
  );
}

describe('keys of the replaced log', () => {
  const first = key({});

  test('are kept as retired public keys, with the range of tree sizes that they signed', async () => {
    const later = key({ svc_from_size: 60 });
    const earlier = gone(key({ svc_from_size: 55 }), { svc_state: 'retired', svc_to_size: 60 });
    const pending = key({
      svc_state: 'pending',
      svc_succession: { replaces: later.kid, entry_id: crypto.randomUUID(), actor: 'system' },
    });
    const token = { ...key({}), svc_purpose: 'access-token' as const };
    delete (token as { svc_from_size?: number }).svc_from_size;
    const to = folderOf([first]);
    await carryKeys(folderOf([first, later, earlier, pending, token]), to, mark);
    const files = filesIn(to);
    expect(files.get(first.kid)).toMatchObject({ svc_state: 'retired', svc_to_size: 100 });
    expect(files.get(later.kid)).toMatchObject({ svc_state: 'retired', svc_from_size: 60, svc_to_size: 100 });
    expect(files.get(earlier.kid)).toMatchObject({
      svc_state: 'retired',
      svc_from_size: 55,
      svc_to_size: 60,
    });
    expect(files.get(pending.kid)).toMatchObject({ svc_state: 'retired', svc_from_size: 0, svc_to_size: 0 });
    expect(files.get(token.kid)).toMatchObject({ svc_state: 'retired' });
    expect(files.get(token.kid)).not.toHaveProperty('svc_to_size');
    for (const file of files.values()) expect(file).not.toHaveProperty('d');
  });

  test('stay revoked if they were revoked, and no private key is copied', async () => {
    const revoked = gone(first, { svc_state: 'revoked', svc_to_size: 80 });
    const successor = key({ svc_from_size: 80 });
    const from = folderOf([revoked, successor]);
    const to = folderOf([first]);
    for (let run = 0; run < 2; run++) {
      await carryKeys(from, to, mark);
      const files = filesIn(to);
      expect(files.get(revoked.kid)).toEqual(revoked);
      expect(files.get(successor.kid)).toMatchObject({
        svc_state: 'retired',
        svc_from_size: 80,
        svc_to_size: 100,
      });
      expect(files.get(successor.kid)).not.toHaveProperty('d');
    }
  });

  test('are ignored if they belong to another log or are not valid key files', async () => {
    const to = folderOf([first]);
    await carryKeys(folderOf([key({}), key({})]), to, mark);
    expect([...filesIn(to).keys()]).toEqual([first.kid]);
    const damaged = folderOf([first]);
    writeFileSync(join(damaged, '01940000-0000-7000-8000-000000000000.json'), '{');
    await carryKeys(damaged, to, mark);
    expect([...filesIn(to).keys()]).toEqual([first.kid]);
    await carryKeys(join(damaged, 'nothing'), to, mark);
    expect([...filesIn(to).keys()]).toEqual([first.kid]);
  });
});

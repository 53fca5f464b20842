import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fsck } from '../../src/ledger/check/fsck.ts';
import { codeOf, entries, entry, folder, open } from './fixture.ts';

test('a copy made during appends ends at the reported head', async () => {
  const dataDir = folder();
  const ledger = await open(dataDir);
  let next = 0;
  let going = true;
  const appending = (async () => {
    for (; going; next += 20) await ledger.append(entries(next, next + 20));
  })();
  const sizes: number[] = [];
  for (let n = 0; n < 5; n++) {
    const copy = folder();
    const { head, files } = await ledger.copyTo(copy);
    const found = await fsck({ dataDir: copy });
    expect(found.findings).toEqual([]);
    expect(found.size).toBe(head?.tree_size ?? 0);
    expect(files).toEqual(['ledger.mdb', ...readdirSync(join(copy, 'keys')).map((name) => `keys/${name}`)]);
    sizes.push(found.size);
  }
  going = false;
  await appending;
  expect(sizes).toEqual(sizes.toSorted((a, b) => a - b));
  expect(new Set(sizes).size).toBeGreaterThan(1);
});

test('a rotation waits until the copy is done, so that the copied keys match', async () => {
  const dataDir = folder();
  const ledger = await open(dataDir);
  await ledger.append([entry(0)]);
  const copy = folder();
  const before = readdirSync(join(dataDir, 'keys'));
  const copying = ledger.copyTo(copy);
  const rotating = ledger.rotateKey('event-signing', 'system');
  await copying;
  await rotating;
  expect(readdirSync(join(copy, 'keys'))).toEqual(before);
  for (const name of before)
    expect(JSON.parse(readFileSync(join(copy, 'keys', name), 'utf8')).svc_state).toBe('active');
  expect((await fsck({ dataDir: copy })).ok).toBe(true);
});

test('concurrent copies, copies into an existing copy, and copies after close are rejected; close waits for a copy', async () => {
  const ledger = await open(folder());
  await ledger.append([entry(0)]);
  const copy = folder();
  const copying = ledger.copyTo(copy);
  expect(await codeOf(ledger.copyTo(folder()))).toBe('CONFLICT');
  await copying;
  await expect(ledger.copyTo(copy)).rejects.toThrow();
  const last = folder();
  const running = ledger.copyTo(last);
  await ledger.close();
  await running;
  expect((await fsck({ dataDir: last })).size).toBe(1);
  expect(await codeOf(ledger.copyTo(folder()))).toBe('UNAVAILABLE');
});

test('an empty log can be copied', async () => {
  const ledger = await open(folder());
  const copy = folder();
  mkdirSync(copy, { recursive: true });
  expect((await ledger.copyTo(copy)).head).toBeUndefined();
  expect(await fsck({ dataDir: copy })).toMatchObject({ ok: true, size: 0 });
});

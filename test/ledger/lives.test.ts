/**
 * The fault table for starting a life: the state after the next start, for an interruption at each step.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fsck } from '../../src/ledger/check/fsck.ts';
import type { LedgerStep } from '../../src/ledger/hooks.ts';
import type { KeyFile } from '../../src/ledger/keys/key-file.ts';
import { KeyRing } from '../../src/ledger/keys/key-ring.ts';
import { startLife } from '../../src/ledger/keys/start-life.ts';
import { lifeStartOf } from '../../src/ledger/lives/continue-copy.ts';
import { type DurableLedger, openLedger } from '../../src/ledger/open.ts';
import { uuid7 } from '../../src/uuid.ts';
import { entries, folder, open } from './fixture.ts';

const previous = { previous: { origin: 'log.example.org' } };

async function logOf(size: number): Promise<string> {
  const dataDir = folder();
  const ledger = await open(dataDir, { origin: 'log.example.org' });
  if (size > 0) await ledger.append(entries(0, size));
  await ledger.close();
  return dataDir;
}

/** Changes the keys of a log of `size` entries; throws after `files` files if given. */
async function begin(dataDir: string, files = Number.POSITIVE_INFINITY, size = 3): Promise<void> {
  let written = 0;
  const keys = KeyRing.load(join(dataDir, 'keys'));
  await startLife(keys, { start: lifeStartOf('copied', {}, previous), fromSize: size }, () => {
    written++;
    if (written === files) throw new Error('stop');
  });
}

const filesOf = (dataDir: string): KeyFile[] =>
  readdirSync(join(dataDir, 'keys')).map((name) => JSON.parse(readFileSync(join(dataDir, 'keys', name), 'utf8')));

async function entryAt(ledger: DurableLedger, index: number) {
  return JSON.parse(Buffer.from((await ledger.leaf({ leaf_index: index })).canonical).toString());
}

/**
 * Checks at every start that one life began, with the fourth entry, and that only the keys of this life can
 * sign.
 */
async function checkBegun(dataDir: string): Promise<void> {
  let origin: string | undefined;
  for (let start = 0; start < 2; start++) {
    const ledger = await open(dataDir, { origin: 'log.example.org' });
    const { health, life, regression } = await ledger.status();
    expect(health).toEqual({ state: 'ok' });
    const { kind, data } = await entryAt(ledger, 3);
    expect(kind).toBe('log.life_started');
    expect(data).toMatchObject({ reason: 'copied', life: life?.id, continues_from: { tree_size: 3 } });
    expect(data.origin).toBe(`log.example.org/life-${life?.id}`);
    expect((await ledger.checkpoint()).split('\n')[0]).toBe(data.origin);
    origin ??= data.origin;
    expect(data.origin).toBe(origin);
    expect(regression).toMatchObject({ event: 'copied', to_size: 3 });
    expect((await ledger.entries({ kinds: [kind], page: 1, per_page: 10 })).total).toBe(1);
    const named = data.keys.map(({ kid }: { kid: string }) => kid).sort();
    const files = filesOf(dataDir);
    expect(
      files
        .filter(({ d }) => d !== undefined)
        .map(({ kid }) => kid)
        .sort(),
    ).toEqual(named);
    expect(
      files
        .filter(({ svc_state }) => svc_state === 'active')
        .map(({ kid }) => kid)
        .sort(),
    ).toEqual(named);
    expect(files.some(({ svc_life_start }) => svc_life_start !== undefined)).toBe(false);
    const jwks = await ledger.keys();
    expect(
      jwks
        .filter(({ svc_life }) => svc_life === life?.id)
        .map(({ kid }) => kid)
        .sort(),
    ).toEqual(named);
    await ledger.append(entries(10 + start, 11 + start));
    await ledger.close();
  }
  expect(await fsck({ dataDir })).toMatchObject({ ok: true, size: 6 });
  const lines = readFileSync(join(dataDir, 'journal.ndjson'), 'utf8').trim().split('\n');
  expect(lines.filter((line) => line.includes('"event":"copied"'))).toHaveLength(1);
}

test('a life that began persists across starts', async () => {
  const dataDir = await logOf(3);
  await begin(dataDir);
  await checkBegun(dataDir);
});

describe('the start of a new life', () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'is completed at the next start after a crash following key file %i',
    async (files) => {
      const dataDir = await logOf(3);
      await expect(begin(dataDir, files)).rejects.toThrow('stop');
      await checkBegun(dataDir);
    },
  );

  const steps: LedgerStep[] = ['batch-taken', 'head-signed', 'in-transaction', 'flushed', 'life-logged', 'life-begun'];
  test.each(steps)('is completed at the next start after a crash at %s of the first entry, once', async (step) => {
    const dataDir = await logOf(3);
    await begin(dataDir);
    let stopped = false;
    const hooks = {
      at: (at: LedgerStep) => {
        if (at !== step || stopped) return;
        stopped = true;
        throw new Error('stop');
      },
    };
    await openLedger({ dataDir, hooks, onFatal: () => undefined })
      .then((ledger) => ledger.close())
      .catch(() => undefined);
    expect(stopped).toBe(true);
    await checkBegun(dataDir);
  });

  test('has no effect after a crash before the first key file', async () => {
    const dataDir = await logOf(3);
    const before = filesOf(dataDir);
    writeFileSync(join(dataDir, 'keys', `${uuid7(Date.now())}.json.new`), '{}');
    const ledger = await open(dataDir);
    expect((await ledger.status()).life).toBeUndefined();
    expect(filesOf(dataDir)).toEqual(before);
  });
});

test('a new life does not name a life without an entry as the previous life', async () => {
  const dataDir = await logOf(3);
  await begin(dataDir);
  const keys = KeyRing.load(join(dataDir, 'keys'));
  const start = lifeStartOf('copied', {}, { previous: { origin: keys.origin! } });
  await startLife(keys, { start, fromSize: 3 });
  const ledger = await open(dataDir);
  expect((await entryAt(ledger, 3)).data.previous).toEqual(previous.previous);
});

test('a configured origin gets the suffix of the life', async () => {
  const dataDir = await logOf(3);
  await begin(dataDir);
  const ledger = await open(dataDir, { origin: 'other.example' });
  const { life } = await ledger.status();
  expect((await ledger.checkpoint()).split('\n')[0]).toBe(`other.example/life-${life?.id}`);
});

test('keys of a life whose entry the log lacks are reported as a rollback, even without anchor and journal', async () => {
  const dataDir = await logOf(3);
  const older = readFileSync(join(dataDir, 'ledger.mdb'));
  await begin(dataDir);
  await (await open(dataDir)).close();
  writeFileSync(join(dataDir, 'ledger.mdb'), older);
  for (const name of ['ledger.mdb-lock', 'anchor.json', 'journal.ndjson']) rmSync(join(dataDir, name));
  const { health, size } = await (await open(dataDir)).status();
  expect({ health, size }).toMatchObject({ health: { fault: 'rollback' }, size: 3 });
});

test('rotated keys belong to the current life and are not linked to the previous life', async () => {
  const dataDir = await logOf(3);
  await begin(dataDir);
  const ledger = await open(dataDir);
  const { life } = await ledger.status();
  const changed = [await ledger.rotateKey('transparency-sth', 'ann'), await ledger.rotateKey('event-signing', 'ann')];
  const keys = await ledger.keys();
  for (const { kid } of changed) expect(keys.find((key) => key.kid === kid)).toMatchObject({ svc_life: life?.id });
  const { leaves } = await ledger.entries({ kinds: ['key.rotated'], page: 1, per_page: 10 });
  const ofLife = new Set(keys.filter(({ svc_life }) => svc_life === life?.id).map(({ kid }) => kid));
  for (const { canonical } of leaves)
    expect(ofLife).toContain(JSON.parse(Buffer.from(canonical).toString()).data.old_kid);
  await ledger.close();
  expect((await (await open(dataDir)).status()).health).toEqual({ state: 'ok' });
});

test('a new life of an empty log does not continue a tree', async () => {
  const dataDir = await logOf(0);
  await begin(dataDir, Number.POSITIVE_INFINITY, 0);
  const ledger = await open(dataDir);
  const { data } = await entryAt(ledger, 0);
  expect(data).not.toHaveProperty('continues_from');
  expect((await ledger.status()).health).toEqual({ state: 'ok' });
});

test('a life that starts on a full volume gets its entry first, once there is room', async () => {
  const dataDir = await logOf(3);
  await begin(dataDir);
  let free = 0;
  const ledger = await open(dataDir, { freeBytes: () => free });
  expect(await ledger.status()).toMatchObject({ health: { state: 'ok' }, size: 3, life_pending: true });
  await expect(ledger.append(entries(3, 4))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await ledger.tick();
  expect((await ledger.status()).size).toBe(3);
  free = 2 ** 40;
  await ledger.tick();
  expect(await ledger.status()).toMatchObject({ size: 4, life: { id: expect.any(String) } });
  await ledger.append(entries(3, 4));
  await ledger.close();
  expect((await entryAt(await open(dataDir), 3)).kind).toBe('log.life_started');
});

/** Restores, copies and rollbacks: conflicting heads are never signed under the same origin. */
import { appendFileSync, cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { AuditFault } from '../../src/client/fault.ts';
import { parseKeySet } from '../../src/client/key-set.ts';
import { parseTreeHead } from '../../src/client/tree-head.ts';
import { judge } from '../../src/client/verdict.ts';
import { writeTreeHead } from '../../src/contract/write-tree-head.ts';
import { beginNewLog } from '../../src/ledger/check/begin-new-log.ts';
import { fsck } from '../../src/ledger/check/fsck.ts';
import { rebuild } from '../../src/ledger/check/rebuild.ts';
import { continueCopy, recordMove } from '../../src/ledger/lives/continue-copy.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { readLogPositions } from '../../src/store/log-positions.ts';
import { principal, system } from '../identities/store/identity-records.ts';
import { entries } from '../ledger/fixture.ts';
import { backUp, newFolder, openParts, type Parts, restore } from './fixture.ts';
import { checkAlerts } from './logged-alerts.ts';
import { alertsOf } from './writers.ts';

async function addAlerts(parts: Parts, from: number, count: number): Promise<void> {
  await parts.store.commit(alertsOf(from, count));
  parts.pump.wake();
  await parts.pump.idle();
}

/** Returns the public view of a log. */
async function publicOf({ ledger }: Pick<Parts, 'ledger'>) {
  const { heads } = await ledger.heads({ page: 1, per_page: 1000 });
  const keys = parseKeySet(JSON.stringify({ keys: await ledger.keys() }));
  if (keys instanceof AuditFault) throw new Error(keys.message);
  const checkpoint = await ledger.checkpoint();
  return { heads, keys, checkpoint, origin: checkpoint.split('\n')[0]! };
}

type Public = Awaited<ReturnType<typeof publicOf>>;

/** Checks that heads of the two logs do not contradict each other, with the key set of either log. */
function expectNoContradiction(one: Public, other: Public): void {
  for (const a of one.heads)
    for (const b of other.heads) {
      if (a.signer_key_id !== b.signer_key_id) continue;
      const [pinnedHead, head] = [parseTreeHead(writeTreeHead(a)), parseTreeHead(writeTreeHead(b))];
      if (pinnedHead instanceof AuditFault || head instanceof AuditFault) throw new Error('no tree head');
      const evidence = { code: '', message: '', log: '', foundAt: '', pinnedHead, head, keys: one.keys };
      expect(judge(evidence)).toMatchObject({ convicts: false });
    }
  expect(one.origin).not.toBe(other.origin);
}

test('two restores of one backup and the original sign different entries without a contradiction', async () => {
  const original = await openParts(newFolder());
  await addAlerts(original, 0, 3);
  const { attributes } = await backUp(original);
  const folders = [newFolder(), newFolder()];
  for (const folder of folders) await restore(attributes.path!, folder);
  const logs = [original, await openParts(folders[0]!), await openParts(folders[1]!)];
  for (const [i, parts] of logs.entries()) await addAlerts(parts, 10 * (i + 1), 2 + i);
  const seen = await Promise.all(logs.map(publicOf));
  expectNoContradiction(seen[0]!, seen[1]!);
  expectNoContradiction(seen[0]!, seen[2]!);
  expectNoContradiction(seen[1]!, seen[2]!);
  const base = seen[0]!.origin;
  for (const { origin } of seen.slice(1)) expect(origin).toMatch(new RegExp(`^${base}/life-[0-9a-f]{8}$`));
  for (const { close, dataDir } of logs) {
    await close();
    expect(await fsck({ dataDir })).toMatchObject({ ok: true });
  }
});

test('a restore does not need the private keys of the log in the backup', async () => {
  const parts = await openParts(newFolder());
  await addAlerts(parts, 0, 3);
  const { attributes } = await backUp(parts);
  await parts.close();
  const again = newFolder();
  await restore(attributes.path!, again);
  const restored = await openParts(again);
  const old = new Set((await publicOf(await openParts(parts.dataDir))).keys.keys());
  for (const { kid, state } of await restored.ledger.keyRecords())
    expect(state).toBe(old.has(kid) ? 'retired' : 'active');
});

describe('a copied data folder', () => {
  async function copied() {
    const original = newFolder();
    const parts = await openParts(original);
    await addAlerts(parts, 0, 3);
    await parts.close();
    const copy = join(newFolder(), 'copy');
    cpSync(original, copy, { recursive: true, preserveTimestamps: true });
    return { original, copy };
  }

  test('signs nothing, but serves readable data', async () => {
    const { copy } = await copied();
    const before = readFileSync(join(copy, 'ledger.mdb'));
    const parts = await openParts(copy);
    const { health, size } = await parts.ledger.status();
    expect({ health, size }).toMatchObject({ health: { state: 'degraded', fault: 'copied' }, size: 3 });
    await expect(parts.ledger.append(entries(0, 1))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await parts.ledger.leaf({ leaf_index: 2 })).toMatchObject({ leaf_index: 2 });
    await parts.close();
    expect(readFileSync(join(copy, 'ledger.mdb')).equals(before)).toBe(true);
  });

  test('continues as a separate life, in parallel with the original', async () => {
    const { original, copy } = await copied();
    const status = await continueCopy({ dataDir: copy, logPositions: () => readLogPositions(copy) });
    expect(status).toMatchObject({ health: { state: 'ok' }, regression: { event: 'copied', to_size: 3 } });
    const [one, other] = [await openParts(original), await openParts(copy)];
    await addAlerts(one, 10, 2);
    await addAlerts(other, 20, 3);
    expectNoContradiction(await publicOf(one), await publicOf(other));
    expect(await checkAlerts(other)).toBe(6);
  });

  test('continues the same life, with its keys, once the operator confirms that the folder was moved', async () => {
    const { original, copy } = await copied();
    await recordMove({ dataDir: copy });
    const parts = await openParts(copy);
    expect((await parts.ledger.status()).health).toEqual({ state: 'ok' });
    expect((await parts.ledger.status()).regression).toBeUndefined();
    expect(readFileSync(join(copy, 'journal.ndjson'), 'utf8')).toContain('"event":"moved"');
    await addAlerts(parts, 10, 1);
    const [before, after] = [await publicOf(await openParts(original)), await publicOf(parts)];
    expect([after.origin, [...after.keys.keys()]]).toEqual([before.origin, [...before.keys.keys()]]);
    expect(after.heads.length).toBeGreaterThan(before.heads.length);
  });

  test.each([
    ['a moved folder', (copy: string) => recordMove({ dataDir: copy })],
    ['a new life', (copy: string) => continueCopy({ dataDir: copy })],
  ])('signs nothing without instance.json until the operator accepts the copy as %s', async (_how, accept) => {
    const { copy } = await copied();
    rmSync(join(copy, 'instance.json'));
    const parts = await openParts(copy);
    expect((await parts.ledger.status()).health).toMatchObject({ state: 'degraded', fault: 'copied' });
    await expect(parts.ledger.append(entries(0, 1))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await parts.close();
    await accept(copy);
    const accepted = await openParts(copy);
    expect((await accepted.ledger.status()).health).toEqual({ state: 'ok' });
  });

  test('is not reported when the original is renamed on the same volume', async () => {
    const { original } = await copied();
    const renamed = `${original}-renamed`;
    renameSync(original, renamed);
    const parts = await openParts(renamed);
    expect((await parts.ledger.status()).health).toEqual({ state: 'ok' });
    await parts.close();
    renameSync(renamed, original);
  });

  test('is not detected if the setting disables detection', async () => {
    const { copy } = await copied();
    const parts = await openParts(copy, { ledger: { detectCopies: false } });
    expect((await parts.ledger.status()).health).toEqual({ state: 'ok' });
  });
});

describe('an older ledger.mdb with a newer siem.mdb', () => {
  /**
   * Prepares a folder with eight alerts in siem.mdb, a log copied when there were five, and neither anchor
   * nor journal.
   */
  async function rolledBack(prepare?: (dataDir: string) => Promise<unknown>) {
    const dataDir = newFolder();
    const older = join(newFolder(), 'older.mdb');
    await (await openParts(dataDir)).close();
    await prepare?.(dataDir);
    const first = await openParts(dataDir);
    await addAlerts(first, 0, 5);
    await first.close();
    cpSync(join(dataDir, 'ledger.mdb'), older);
    const second = await openParts(dataDir);
    await addAlerts(second, 5, 3);
    const seen = await publicOf(second);
    await second.close();
    const journal = readFileSync(join(dataDir, 'journal.ndjson'), 'utf8');
    cpSync(older, join(dataDir, 'ledger.mdb'));
    for (const name of ['anchor.json', 'journal.ndjson', 'ledger.mdb-lock'])
      rmSync(join(dataDir, name), { force: true });
    return { dataDir, seen, journal };
  }

  async function expectRollback(dataDir: string): Promise<void> {
    const parts = await openParts(dataDir);
    const { health, size } = await parts.ledger.status();
    expect(health).toMatchObject({ state: 'degraded', fault: 'rollback' });
    await parts.pump.idle();
    expect((await parts.store.status()).outbox).toBe(0);
    expect((await parts.ledger.status()).size).toBe(size);
    await parts.close();
  }

  test('is a rollback at every start, and nothing is signed', async () => {
    const { dataDir } = await rolledBack();
    await expectRollback(dataDir);
    await expectRollback(dataDir);
  });

  test('continues as a new life after the loss is accepted, and logs each missing alert exactly once', async () => {
    const { dataDir, seen } = await rolledBack();
    const places = { logPositions: () => readLogPositions(dataDir) };
    expect(await rebuild({ dataDir, ...places })).toMatchObject({
      outcome: 'refused',
      lost: { from: 5, to: 8 },
    });
    expect(await rebuild({ dataDir, ...places, acceptLoss: true })).toMatchObject({ outcome: 'accepted' });
    for (let start = 0; start < 2; start++) {
      const parts = await openParts(dataDir);
      await parts.pump.idle();
      expect((await parts.ledger.status()).health).toEqual({ state: 'ok' });
      expect(await checkAlerts(parts)).toBe(8);
      expectNoContradiction(seen, await publicOf(parts));
      await parts.close();
    }
    expect(await rebuild({ dataDir, ...places })).toMatchObject({ outcome: 'whole' });
  });

  test('is also a rollback in a later life, because the start of a life justifies only losses before it', async () => {
    const { dataDir, journal } = await rolledBack(async (folder) => {
      await continueCopy({ dataDir: folder });
    });
    await expectRollback(dataDir);
    // The genuine line of this life, restored without later lines.
    const line = journal.split('\n').find((text) => text.includes('"event":"copied"'))!;
    appendFileSync(join(dataDir, 'journal.ndjson'), `${line}\n`);
    await expectRollback(dataDir);
  });

  test('is a rollback with keys of an earlier life', async () => {
    const dataDir = newFolder();
    const kept = newFolder();
    const first = await openParts(dataDir);
    await addAlerts(first, 0, 5);
    await first.close();
    for (const name of ['ledger.mdb', 'keys']) cpSync(join(dataDir, name), join(kept, name), { recursive: true });
    await continueCopy({ dataDir });
    const second = await openParts(dataDir);
    await second.pump.idle();
    await second.close();
    for (const name of ['ledger.mdb', 'keys', 'anchor.json', 'journal.ndjson'])
      rmSync(join(dataDir, name), { recursive: true });
    for (const name of ['ledger.mdb', 'keys']) cpSync(join(kept, name), join(dataDir, name), { recursive: true });
    await expectRollback(dataDir);
  });

  test.each<[string, (head: string) => string]>([
    ['an unsigned restore', (head) => `{"at":"AT","event":"restored","health":"ok","head":${head}}`],
    ['an unsigned rebuild', (head) => `{"at":"AT","event":"rebuilt","health":"ok","head":${head}}`],
    ['a rebuild without a head', () => '{"at":"AT","event":"rebuilt","health":"ok"}'],
    [
      'the start of a life with a forged entry',
      (head) => `{"at":"AT","event":"rebuilt","health":"ok","entry":"e30=","head":${head}}`,
    ],
  ])('is a rollback even if the journal has a line about %s', async (_, line) => {
    const { dataDir, journal, seen } = await rolledBack();
    const small = writeTreeHead(seen.heads[0]!);
    for (const at of ['2020-01-01T00:00:00.000Z', new Date().toISOString()]) {
      const forged = `${line(small).replace('AT', at)}\n`;
      appendFileSync(join(dataDir, 'journal.ndjson'), forged);
      await expectRollback(dataDir);
    }
    // Only the newer journal shows the rollback here, because the log is opened without siem.mdb.
    rmSync(join(dataDir, 'journal.ndjson'));
    const last = `{"at":"2020-01-01T00:00:00.000Z","event":"day","health":"ok","head":${writeTreeHead(seen.heads.at(-1)!)}}\n`;
    appendFileSync(join(dataDir, 'journal.ndjson'), `${journal}${last}`);
    for (const at of ['2020-01-01T00:00:00.000Z', new Date().toISOString()]) {
      appendFileSync(join(dataDir, 'journal.ndjson'), `${line(small).replace('AT', at)}\n`);
      const ledger = await openLedger({ dataDir });
      expect((await ledger.status()).health).toMatchObject({ fault: 'rollback' });
      await ledger.close();
    }
  });

  test('is a rollback even without alerts and receipts as evidence, until the operator accepts the loss', async () => {
    const dataDir = newFolder();
    const [kept, names] = [join(newFolder(), 'older.mdb'), ['first', 'second', 'third', 'fourth']];
    for (const name of names) {
      if (name === 'fourth') cpSync(join(dataDir, 'ledger.mdb'), kept);
      const parts = await openParts(dataDir);
      await parts.store.createPrincipal(principal(name), system);
      parts.pump.wake();
      await parts.close();
    }
    for (const name of ['anchor.json', 'journal.ndjson', 'ledger.mdb-lock']) rmSync(join(dataDir, name));
    cpSync(kept, join(dataDir, 'ledger.mdb'));
    await expectRollback(dataDir);
    const options = { dataDir, logPositions: () => readLogPositions(dataDir) };
    expect(await rebuild(options)).toMatchObject({ outcome: 'refused', lost: { from: 2, to: 3 } });
    expect(await rebuild({ ...options, acceptLoss: true })).toMatchObject({ outcome: 'accepted' });
    for (let start = 0; start < 2; start++) {
      const parts = await openParts(dataDir);
      expect((await parts.ledger.status()).health).toEqual({ state: 'ok' });
      await parts.close();
    }
  });

  test.each<[string, (path: string) => void]>([
    ['is missing', (path) => rmSync(path)],
    ['is empty', (path) => writeFileSync(path, '')],
    ['is not a database', (path) => writeFileSync(path, Buffer.alloc(5000, 'x'))],
  ])('cannot be detected if siem.mdb %s: a finding reports that siem.mdb cannot be compared', async (_, damage) => {
    const { dataDir } = await rolledBack();
    damage(join(dataDir, 'siem.mdb'));
    const ledger = await openLedger({ dataDir, logPositions: () => readLogPositions(dataDir) });
    const { health, findings } = await ledger.status();
    expect(health).toEqual({ state: 'ok' });
    const found = findings.find(({ code }) => code === 'places_unreadable');
    expect(found?.message).toContain('siem.mdb');
    await ledger.close();
  });

  test('is a rollback if it has the same size and different entries', async () => {
    const dataDir = newFolder();
    const other = newFolder();
    const [one, two] = [await openParts(dataDir), await openParts(other)];
    await addAlerts(one, 0, 4);
    await addAlerts(two, 50, 4);
    await one.close();
    await two.close();
    for (const name of ['ledger.mdb', 'keys']) {
      rmSync(join(dataDir, name), { recursive: true });
      cpSync(join(other, name), join(dataDir, name), { recursive: true });
    }
    for (const name of ['anchor.json', 'journal.ndjson']) rmSync(join(dataDir, name));
    await expectRollback(dataDir);
  });
});

describe('lives are distinguished by their ids, independent of clocks', () => {
  const dayMs = 86_400_000;
  const behind = (ms: number) => () => BigInt(Date.now() - ms) * 1_000_000n;

  /** Prepares a folder whose log and siem.mdb are in a later life, with three alerts. */
  async function inLaterLife(): Promise<string> {
    const dataDir = newFolder();
    await (await openParts(dataDir)).close();
    await continueCopy({ dataDir });
    await openedOnce(dataDir, 0);
    return dataDir;
  }

  /** Adds three alerts, and checks that all alerts are in the log. */
  async function openedOnce(dataDir: string, from: number): Promise<void> {
    const parts = await openParts(dataDir);
    expect((await parts.ledger.status()).health).toEqual({ state: 'ok' });
    await addAlerts(parts, from, 3);
    expect(await checkAlerts(parts)).toBe(from + 3);
    await parts.close();
  }

  const put = (from: string, to: string, names: readonly string[]) => {
    for (const name of names) {
      rmSync(join(to, name), { recursive: true });
      rmSync(join(to, `${name}-lock`), { force: true });
      cpSync(join(from, name), join(to, name), { recursive: true });
    }
  };

  test('a log restored on a machine whose clock is behind accepts entries', async () => {
    const dataDir = await inLaterLife();
    const parts = await openParts(dataDir);
    const { attributes } = await backUp(parts);
    await parts.close();
    const again = newFolder();
    await restore(attributes.path!, again, { now: () => Date.now() - dayMs });
    await openedOnce(again, 3);
  });

  test('a copied log that begins a new life under a clock that is behind accepts entries', async () => {
    const dataDir = await inLaterLife();
    await continueCopy({ dataDir, clock: behind(dayMs), logPositions: () => readLogPositions(dataDir) });
    await openedOnce(dataDir, 3);
  });

  test('the last of several new logs accepts entries, even if the service was not started between them', async () => {
    const dataDir = await inLaterLife();
    const places = { dataDir, evenIfThere: true, logPositions: () => readLogPositions(dataDir) };
    await beginNewLog(places);
    await beginNewLog({ ...places, clock: behind(dayMs) });
    await beginNewLog({ ...places, clock: behind(2 * dayMs) });
    await openedOnce(dataDir, 3);
  });

  test('a log accepts entries after losses were accepted twice, even if the service was not started in between', async () => {
    const [dataDir, kept] = [newFolder(), newFolder()];
    await openedOnce(dataDir, 0);
    cpSync(join(dataDir, 'ledger.mdb'), join(kept, 'ledger.mdb'));
    await continueCopy({ dataDir });
    await openedOnce(dataDir, 3);
    const options = { dataDir, acceptLoss: true, logPositions: () => readLogPositions(dataDir) };
    for (const ms of [0, dayMs]) {
      put(kept, dataDir, ['ledger.mdb']);
      expect(await rebuild({ ...options, clock: behind(ms) })).toMatchObject({ outcome: 'accepted' });
    }
    await openedOnce(dataDir, 6);
  });

  test('lost entries are logged again if siem.mdb is put back to its state before the restore', async () => {
    const dataDir = await inLaterLife();
    const parts = await openParts(dataDir);
    const { attributes } = await backUp(parts);
    await parts.close();
    await openedOnce(dataDir, 3);
    const kept = newFolder();
    cpSync(join(dataDir, 'siem.mdb'), join(kept, 'siem.mdb'));
    const backup = join(newFolder(), 'backup');
    cpSync(attributes.path!, backup, { recursive: true });
    await restore(backup, dataDir, { replace: true });
    put(kept, dataDir, ['siem.mdb']);
    await openedOnce(dataDir, 6);
  });

  test("a copy's siem.mdb with the original's log is a rollback, even if the original's life began later", async () => {
    const dataDir = await inLaterLife();
    const copy = newFolder();
    cpSync(dataDir, copy, { recursive: true });
    await continueCopy({ dataDir: copy });
    await openedOnce(copy, 3);
    await continueCopy({ dataDir });
    put(copy, dataDir, ['siem.mdb']);
    const { health } = await (await openParts(dataDir)).ledger.status();
    expect(health).toMatchObject({ state: 'degraded', fault: 'rollback' });
  });
});

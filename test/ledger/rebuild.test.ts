import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sha256 } from '../../src/crypto/sha256.ts';
import { banner } from '../../src/ledger/banner.ts';
import { beginNewLog, LogThereError } from '../../src/ledger/check/begin-new-log.ts';
import { DatabaseFile } from '../../src/ledger/check/database-file.ts';
import { branchPage, childOf } from '../../src/ledger/check/database-page.ts';
import { fsck } from '../../src/ledger/check/fsck.ts';
import { HeadVerdicts } from '../../src/ledger/check/judged-heads.ts';
import { KnownHeads } from '../../src/ledger/check/known-heads.ts';
import { type RebuildOptions, type RebuildStep, rebuild } from '../../src/ledger/check/rebuild.ts';
import { toJson } from '../../src/ledger/heads.ts';
import { KeyRing } from '../../src/ledger/keys/key-ring.ts';
import { headKey } from '../../src/ledger/storage/head-history.ts';
import { GrowingTree } from '../../src/tlog/growing-tree.ts';
import { leafHash } from '../../src/tlog/tree.ts';
import {
  copyOf,
  fileOf,
  flipIn,
  hashOf,
  headRow,
  type KnownLog,
  logIn,
  logOf,
  pageBytes,
  recoverable,
  scribble,
  tamper,
} from './damaged-log.ts';
import { entries, entry, folder, open } from './fixture.ts';
import { checkAll, checkConsistency } from './outside.ts';

const seed = 20_251_122;
const sizes = [1, 2, 100, 255, 256, 300, 600, 700];
let whole: KnownLog;
beforeAll(async () => {
  whole = await logIn(mkdtempSync(join(tmpdir(), 'candor-rebuild-')), ...sizes);
});
afterAll(() => rmSync(whole.dataDir, { recursive: true, force: true }));

const run = (log: Pick<KnownLog, 'dataDir'>, options: Partial<RebuildOptions> = {}) =>
  rebuild({ dataDir: log.dataDir, ...options });

/** Checks a log that lost its end: entry `kept` starts a new life, all entries are provable, and the log grows. */
async function checkNewLife(log: KnownLog, kept: number): Promise<void> {
  const ledger = await open(log.dataDir);
  const canonical = Buffer.from((await ledger.leaf({ leaf_index: kept })).canonical);
  expect(JSON.parse(canonical.toString())).toMatchObject({
    kind: 'log.life_started',
    data: { reason: 'loss_accepted', continues_from: { tree_size: kept } },
  });
  await ledger.close();
  await checkService({ ...log, canonical: [...log.canonical.slice(0, kept), canonical] }, kept + 1);
}

/** Checks that the service starts, all entries are provable, and the log grows. */
async function checkService(log: KnownLog, size: number): Promise<void> {
  const ledger = await open(log.dataDir);
  const status = await ledger.status();
  expect(status.health).toEqual({ state: 'ok' });
  expect(status.size).toBe(size);
  const head = size > 0 ? await checkAll(ledger) : undefined;
  for (let i = 0; i < size; i++)
    expect(Buffer.from((await ledger.leaf({ leaf_index: i })).canonical)).toEqual(log.canonical[i]);
  expect((await ledger.append([entry(9000)]))[0]).toMatchObject({ leaf_index: size });
  if (head !== undefined) await checkConsistency(ledger, head, await ledger.head());
  await ledger.close();
  expect(await fsck({ dataDir: log.dataDir })).toMatchObject({ ok: true, size: size + 1 });
}

test('an intact log is not changed', async () => {
  const before = hashOf(fileOf(whole));
  expect(await run(whole)).toMatchObject({ outcome: 'whole', head: { size: 700 }, kept: undefined });
  expect(hashOf(fileOf(whole))).toBe(before);
});

describe('after damage of derived data only, the log is complete and continues its life', () => {
  test.each<[string, (log: KnownLog) => unknown]>([
    ['pages of nodes', (log) => tamper(log, 'pages', (rows) => rows.clearSync())],
    ['the index by id', (log) => tamper(log, 'ids', (rows) => rows.clearSync())],
    ['the index by kind', (log) => tamper(log, 'kinds', (rows) => rows.clearSync())],
    ['numbers of heads', (log) => tamper(log, 'history', (rows) => rows.putSync(2, Buffer.alloc(16)))],
    ['an entry beyond the end', (log) => tamper(log, 'entries', (rows) => rows.putSync(700, log.canonical[3]!))],
    ['one meta page', (log) => scribble(log, (bytes) => bytes.fill(0, 0, pageBytes))],
    ['both meta pages', (log) => scribble(log, (bytes) => bytes.fill(0, 0, 2 * pageBytes))],
    ['all heads, because the anchor has the last', (log) => tamper(log, 'heads', (rows) => rows.clearSync())],
    ['old heads', (log) => flipIn(log, headRow(log.heads[3]!).subarray(48), 5)],
  ])('%s', async (_, damage) => {
    const log = copyOf(whole);
    await damage(log);
    const damaged = hashOf(fileOf(log));
    const report = await run(log);
    if (report.outcome === 'whole') expect(report.found.isDamaged).toBe(false);
    else {
      expect(report).toMatchObject({ outcome: 'rebuilt', head: { size: 700 }, lost: { from: 700 } });
      expect(hashOf(report.kept!)).toBe(damaged);
    }
    expect(readFileSync(join(log.dataDir, 'journal.ndjson'), 'utf8')).not.toContain('rebuilt');
    await checkService(log, 700);
  });
});

describe('heads that exist only in pages outside the table', () => {
  /** Creates a log with a head for each leaf, whose table of heads has several pages. */
  async function withHeads(size: number): Promise<KnownLog> {
    return logOf(...Array.from({ length: size }, (_, i) => i + 1));
  }

  const historyOf = async (log: KnownLog): Promise<number[]> => {
    const ledger = await open(log.dataDir);
    const { heads } = await ledger.heads({ page: 1, per_page: 1000 });
    await ledger.close();
    return heads.map(({ tree_size }) => tree_size);
  };

  /** Returns the page above all leaves of the table, and the leaves. */
  function headPages(log: KnownLog): { root: number; bytes: Buffer; leaves: number[] } {
    const file = new DatabaseFile(fileOf(log));
    const { root, depth } = file.tables(() => {}).get('heads')!;
    const bytes = Buffer.alloc(pageBytes);
    expect({ depth, wrong: file.loadPage(root!, branchPage, bytes) }).toEqual({ depth: 2 });
    file.close();
    const nodes = bytes.readUInt16LE(20) >> 1;
    return { root: root!, bytes, leaves: Array.from({ length: nodes }, (_, i) => childOf(bytes, i)) };
  }

  const hexOf = (row: Buffer): string => row.toString('hex');

  /** Returns all rows that are as long as a head's row, from any page. */
  function rowsInPages(log: KnownLog): Set<string> {
    const file = new DatabaseFile(fileOf(log), { isRescue: true });
    const rows = [...file.strayRows()].filter(({ bytes }) => bytes === headRow(log.heads[0]!).length);
    const found = new Set(rows.map(({ page, node }) => hexOf(file.strayValue(page, node)!)));
    file.close();
    return found;
  }

  test('are merged with the heads of the table into the history', async () => {
    const log = await withHeads(120);
    const gone = [1, 40, 41, 77];
    const rows = gone.map((size) => headRow(log.heads[size - 1]!));
    await tamper(log, 'heads', (table) => {
      for (const size of gone) table.removeSync(headKey(log.heads[size - 1]!));
    });
    const bytes = readFileSync(fileOf(log));
    for (const row of rows) expect(bytes.includes(row)).toBe(true); // in pages that the table no longer uses
    await tamper(log, 'kinds', (table) => table.clearSync());
    expect(await run(log)).toMatchObject({
      ...{ outcome: 'rebuilt', head: { size: 120 } },
      lost: { from: 120, headCount: 0, overlookedHeads: 0 },
    });
    expect(await historyOf(log)).toEqual(log.heads.map(({ size }) => size));
    await checkService(log, 120);
  });

  test('replace altered rows', async () => {
    const log = await withHeads(120);
    const [head, unsigned] = [log.heads[59]!, headRow(log.heads[59]!)];
    unsigned[60]! ^= 1;
    await tamper(log, 'heads', (table) => table.putSync(headKey(head), unsigned));
    expect(await run(log)).toMatchObject({ outcome: 'rebuilt', lost: { headCount: 0 } });
    expect(await historyOf(log)).toEqual(log.heads.map(({ size }) => size));
    await checkService(log, 120);
  });

  test('are found if a leaf page or the root page of the table is missing', async () => {
    const log = await withHeads(120);
    const { leaves, root } = headPages(log);
    for (const zeroed of [...leaves, root]) {
      const damaged = copyOf(log);
      scribble(damaged, (bytes) => bytes.fill(0, zeroed * pageBytes, (zeroed + 1) * pageBytes));
      const inPages = rowsInPages(damaged);
      const readable = log.heads.filter((head) => head.size === 120 || inPages.has(hexOf(headRow(head)))); // the anchor has the last head
      expect(readable.length).toBeGreaterThan(20);
      expect(await run(damaged)).toMatchObject({ outcome: 'rebuilt', head: { size: 120 } });
      expect(await historyOf(damaged)).toEqual(readable.map(({ size }) => size));
    }
  });

  test('are not hidden by a page that is reached twice', async () => {
    const log = await withHeads(120);
    const { leaves, root, bytes } = headPages(log);
    expect(leaves.length).toBeGreaterThan(4);
    bytes.writeUIntLE(leaves[3]!, bytes.readUInt16LE(24 + 2) + 24, 6); // replaces the second page number
    scribble(log, (file) => bytes.copy(file, root * pageBytes));
    expect(await run(log)).toMatchObject({ outcome: 'rebuilt', lost: { headCount: 0 } });
    expect(await historyOf(log)).toEqual(log.heads.map(({ size }) => size));
  });

  test('are limited in number: the largest are kept, and the report counts the others', async () => {
    const log = await withHeads(120);
    await tamper(log, 'heads', (table) => table.clearSync());
    const { outcome, head, lost } = await run(log, { maxStrayHeads: 10 });
    expect({ outcome, size: head?.size }).toEqual({ outcome: 'rebuilt', size: 120 });
    expect(lost.overlookedHeads).toBeGreaterThan(0);
    const history = await historyOf(log);
    expect(history.length).toBeGreaterThanOrEqual(10);
    expect(history.slice(-10)).toEqual(log.heads.slice(-10).map(({ size }) => size));
    await checkService(log, 120);
  });
});

test('a second pass over the heads yields those that match the entries', async () => {
  const log = await logOf(...Array.from({ length: 12 }, (_, i) => i + 1));
  const unsigned = [2, 3, 5, 9, 11];
  for (const size of unsigned) flipIn(log, headRow(log.heads[size - 1]!).subarray(48), 3);
  const file = new DatabaseFile(fileOf(log), { isRescue: true });
  const keys = KeyRing.load(join(log.dataDir, 'keys'));
  const table = file.tables(() => {}).get('heads');
  const judged = new HeadVerdicts(new KnownHeads({ file, table, keys, elsewhere: log.heads.slice(0, 8) }), keys);
  const grow = (take: (size: number, root: () => Uint8Array) => void): void => {
    const tree = GrowingTree.load(sha256, 0, () => undefined)!;
    for (const [index, canonical] of log.canonical.entries()) {
      tree.append(leafHash(sha256, index < 9 ? canonical : Buffer.alloc(1)));
      take(tree.size, () => tree.root());
    }
  };
  grow((size, root) => judged.compare(size, root));
  judged.end();
  const kept: number[] = [];
  const next = judged.kept();
  grow((size, root) => kept.push(...Array.from(next(size, root), (head) => head.size)));
  file.close();
  expect(kept).toEqual([1, 2, 3, 4, 5, 6, 7, 8]); // heads 2, 3 and 5 are known from elsewhere
  expect(judged.last?.size).toBe(8);
  expect(judged.dropped.first.map(({ size }) => size)).toEqual([10, 12]);
});

/** Returns a log in which no copy of this entry is readable. */
function withoutEntry(index: number): KnownLog {
  const log = copyOf(whole);
  scribble(log, (bytes) => {
    const wanted = log.canonical[index]!;
    for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted, at + 1)) bytes.fill(7, at, at + 20);
  });
  return log;
}

describe('if signed entries are lost', () => {
  test('the rebuild requires the consent of the operator, and the report lists the entries that would be missing', async () => {
    const log = withoutEntry(450);
    const before = hashOf(fileOf(log));
    const names = readdirSync(log.dataDir).sort();
    for (const options of [{}, { dryRun: true }, { dryRun: true, acceptLoss: true }]) {
      const report = await run(log, options);
      expect(report.outcome).toBe('dryRun' in options ? 'planned' : 'refused');
      expect(report).toMatchObject({
        head: { size: 300 },
        previous: { size: 700 },
        lost: { from: 300, to: 700 },
      });
      expect(report.lost.ids.size).toBe(400); // the id of the unreadable entry is known from the index by id
      expect(report.lost.ids.get(450)).toBe(entry(450).id);
      expect(report.lost.heads.map(({ size }) => size)).toEqual([600, 700]);
    }
    expect(hashOf(fileOf(log))).toBe(before);
    expect(readdirSync(log.dataDir).sort()).toEqual(names);
    expect((await (await open(log.dataDir)).status()).size).toBe(700);
  });

  test('with consent the log continues from the last intact head, and shows the loss at each start', async () => {
    const log = withoutEntry(450);
    const anchor = readFileSync(join(log.dataDir, 'anchor.json'), 'utf8');
    const report = await run(log, { acceptLoss: true });
    expect(report).toMatchObject({ outcome: 'rebuilt', head: { size: 300 } });
    const regression = { event: 'rebuilt', from_size: 700, to_size: 300 };
    for (let starts = 0; starts < 2; starts++) {
      const ledger = await open(log.dataDir);
      const status = await ledger.status();
      expect(status).toMatchObject({ health: { state: 'ok' }, regression });
      expect(banner(status)).toContain('the log went back from 700 to 300 leaves; auditors see a new log');
      await ledger.close();
    }
    const kept = readdirSync(log.dataDir).find((name) => name.startsWith('anchor.json.replaced-'));
    expect(readFileSync(join(log.dataDir, kept!), 'utf8')).toBe(anchor);
    await checkNewLife(log, 300);
    expect(await run(log)).toMatchObject({ outcome: 'whole' });
  });

  test('the head of an auditor’s pin is used if the folder lacks that head', async () => {
    const log = withoutEntry(699);
    await tamper(log, 'heads', (rows) => rows.clearSync());
    for (const head of log.heads) {
      scribble(log, (bytes) => {
        const row = headRow(head);
        for (let at = bytes.indexOf(row); at >= 0; at = bytes.indexOf(row, at + 1)) bytes.fill(0, at, at + row.length);
      });
    }
    expect(await run(log, { acceptLoss: true })).toMatchObject({ outcome: 'hopeless' });
    const pin = log.heads.find(({ size }) => size === 600)!;
    expect(await run(log, { acceptLoss: true, heads: [pin] })).toMatchObject({
      outcome: 'rebuilt',
      head: { size: 600 },
    });
    await checkNewLife(log, 600);
  });

  test('a key whose rotation was lost signs from the recovered end onwards', async () => {
    const dataDir = folder();
    const before = await open(dataDir);
    await before.append(entries(0, 10));
    await before.rotateKey('transparency-sth', 'admin');
    await before.rotateKey('event-signing', 'admin');
    await before.append(entries(10, 20));
    const canonical = Buffer.from((await before.leaf({ leaf_index: 10 })).canonical);
    await before.close();
    const log = { dataDir, canonical: [canonical], heads: [] };
    flipIn(log, canonical, 12);
    expect(await run(log, { acceptLoss: true })).toMatchObject({
      ...{
        outcome: 'rebuilt',
        head: { size: 10 },
        lost: { why: 'entry 10 does not match its leaf hash' },
      },
    });
    const after = await open(dataDir);
    await after.append(entries(30, 35));
    expect((await checkAll(after)).tree_size).toBeGreaterThanOrEqual(15);
    await after.close();
    expect(await fsck({ dataDir, signatures: true })).toMatchObject({ ok: true, findings: [] });
  });

  test('records of more entries prevent a start with an old file until the loss is accepted', async () => {
    const log = copyOf(whole);
    const newer = await open(log.dataDir);
    await newer.append(entries(700, 720));
    await newer.close();
    copyFileSync(fileOf(whole), fileOf(log));
    expect((await (await open(log.dataDir)).status()).health).toMatchObject({ fault: 'rollback' });
    expect(await run(log)).toMatchObject({ outcome: 'refused', lost: { from: 700, to: 720 } });
    expect(await run(log, { acceptLoss: true })).toMatchObject({ outcome: 'accepted', kept: undefined });
    await checkNewLife(log, 700);
  });
});

describe('after a crash at any step the old or the new file is intact, and another run completes the rebuild', () => {
  const steps: RebuildStep[] = ['life-begun', 'written', 'verified', 'old-kept', 'swapped', 'life-logged'];
  test.each(steps)('%s', async (step) => {
    const log = withoutEntry(450);
    const stop = new Error('stop');
    const onStep = (at: RebuildStep) => {
      if (at === step) throw stop;
    };
    await expect(run(log, { acceptLoss: true, onStep })).rejects.toBe(stop);
    expect(existsSync(fileOf(log))).toBe(true);
    expect((await fsck({ dataDir: log.dataDir })).isDamaged).toBe(steps.indexOf(step) < steps.indexOf('swapped'));
    await run(log, { acceptLoss: true });
    await checkNewLife(log, 300);
  });
});

test('a rebuild recovers all entries that are recoverable according to the known entries', async () => {
  const pages = readFileSync(fileOf(whole)).length / pageBytes;
  const places = fc.array(fc.integer({ min: 0, max: pages - 1 }), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(places, async (zeroed) => {
      const log = copyOf(whole);
      scribble(log, (bytes) => {
        for (const page of zeroed) bytes.fill(0, page * pageBytes, (page + 1) * pageBytes);
      });
      const wanted = recoverable(log, [log.heads.at(-1)!]);
      const report = await run(log, { acceptLoss: true });
      expect(report.head?.size ?? 0).toBe(wanted);
      if (wanted === 0) expect(report.outcome).toBe('hopeless');
      else {
        const after = await fsck({ dataDir: log.dataDir });
        expect(after).toMatchObject({ ok: true, size: wanted + Number(wanted < 700) });
        const ledger = await open(log.dataDir);
        expect((await ledger.status()).health).toEqual({ state: 'ok' });
        expect(Buffer.from((await ledger.leaf({ leaf_index: wanted - 1 })).canonical)).toEqual(
          log.canonical[wanted - 1],
        );
        await ledger.close();
      }
    }),
    { seed, numRuns: 12 },
  );
});

describe('a lost log', () => {
  test('is replaced only with the consent of the operator, with new keys, and the remains of the old log are kept', async () => {
    const log = copyOf(whole);
    writeFileSync(join(log.dataDir, 'siem.mdb'), 'events');
    await expect(beginNewLog({ dataDir: log.dataDir })).rejects.toThrow(LogThereError);
    scribble(log, (bytes) => bytes.fill(0, 0, 2 * pageBytes));
    await expect(beginNewLog({ dataDir: log.dataDir })).rejects.toThrow(LogThereError); // a rebuild would recover the whole log
    rmSync(fileOf(log));
    expect((await (await open(log.dataDir)).status()).health).toMatchObject({ fault: 'lost' });
    const oldKeys = readdirSync(join(log.dataDir, 'keys'));
    const { kept, moved, replaced } = await beginNewLog({ dataDir: log.dataDir });
    expect(replaced?.size).toBe(700);
    expect(moved).toEqual(expect.arrayContaining(['journal.ndjson', 'keys', 'anchor.json']));
    expect(readdirSync(join(kept, 'keys')).sort()).toEqual(oldKeys.sort());
    expect(readdirSync(join(log.dataDir, 'keys')).filter((name) => oldKeys.includes(name))).toEqual([]);
    const ledger = await open(log.dataDir);
    expect(await ledger.status()).toMatchObject({
      ...{ size: 1, health: { state: 'ok' } },
      regression: { event: 'begun_anew', from_size: 700, to_size: 0 },
    });
    await ledger.append(entries(0, 3));
    await ledger.close();
    expect(await fsck({ dataDir: log.dataDir })).toMatchObject({ ok: true, size: 4 });
    expect((await (await open(log.dataDir)).status()).health).toEqual({ state: 'ok' });
  });

  test('is replaced as well if its file is empty', async () => {
    const log = copyOf(whole);
    truncateSync(fileOf(log), 0);
    await beginNewLog({ dataDir: log.dataDir });
    expect((await (await open(log.dataDir)).status()).health).toEqual({ state: 'ok' });
  });
});

test('a forged line in the journal does not hide a rollback', async () => {
  const log = copyOf(whole);
  const old = folder();
  const small = await logIn(old, 3);
  const newer = await open(log.dataDir);
  await newer.append(entries(700, 720));
  await newer.close();
  await (await open(log.dataDir)).close(); // the journal now has a head of 720 leaves
  copyFileSync(fileOf(whole), fileOf(log));
  rmSync(join(log.dataDir, 'anchor.json'));
  const head = JSON.stringify({ ...toJson(small.heads[0]!), timestamp_ns: 0 });
  const line = `{"at":"2025-11-21T00:00:00.000Z","event":"rebuilt","health":"ok","head":${head}}\n`;
  const nothing = '{"at":"2025-11-21T00:00:00.000Z","event":"rebuilt","health":"ok"}\n';
  appendFileSync(join(log.dataDir, 'journal.ndjson'), line + nothing);
  const status = await (await open(log.dataDir)).status();
  expect(status.health).toMatchObject({ state: 'degraded', fault: 'rollback' });
  expect(status.warnings.join()).toContain('candor fsck');
});

import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sha256 } from '../../src/crypto/sha256.ts';
import { openDatabase } from '../../src/database/lmdb.ts';
import { DatabaseFile } from '../../src/ledger/check/database-file.ts';
import { type FindingCode, findingCodes } from '../../src/ledger/check/findings.ts';
import { type FsckReport, fsck } from '../../src/ledger/check/fsck.ts';
import { rebuild } from '../../src/ledger/check/rebuild.ts';
import { RowCursor } from '../../src/ledger/check/row-cursor.ts';
import { signHead } from '../../src/ledger/heads.ts';
import { KeyRing } from '../../src/ledger/keys/key-ring.ts';
import { LeafIndex } from '../../src/ledger/storage/leaf-index.ts';
import { LmdbStorage } from '../../src/ledger/storage/lmdb-store.ts';
import type { LeafBucket } from '../../src/ledger/storage/storage.ts';
import { GrowingTree } from '../../src/tlog/growing-tree.ts';
import { leafHash } from '../../src/tlog/tree.ts';
import { uuidToBytes } from '../../src/uuid.ts';
import {
  copyOf,
  cut,
  fileOf,
  flipIn,
  hashOf,
  headRow,
  type KnownLog,
  logIn,
  logOf,
  pageBytes,
  scribble,
  tamper,
} from './damaged-log.ts';
import { entries, entry, folder, open } from './fixture.ts';
import { checkAll } from './outside.ts';

const seed = 20_251_121;
let whole: KnownLog;
beforeAll(async () => {
  whole = await logIn(mkdtempSync(join(tmpdir(), 'candor-fsck-')), 1, 2, 100, 255, 256, 300, 600, 700);
});
afterAll(() => rmSync(whole.dataDir, { recursive: true, force: true }));

const codes = ({ counts }: FsckReport): FindingCode[] => Object.keys(counts).sort() as FindingCode[];

test('an intact log with valid signatures has no findings, and the check changes no byte', async () => {
  const before = hashOf(fileOf(whole));
  const names = readdirSync(whole.dataDir).sort();
  const report = await fsck({ dataDir: whole.dataDir, signatures: true });
  expect(report).toMatchObject({ ok: true, size: 700, findings: [], isDamaged: false, isRolledBack: false });
  expect(report.head?.root).toEqual(whole.heads.at(-1)?.root);
  expect(hashOf(fileOf(whole))).toBe(before);
  expect(readdirSync(whole.dataDir).sort()).toEqual(names);
});

test.each([0, 1, 256, 257])('a log of %i entries has no findings', async (size) => {
  const log = await (size === 0 ? logOf() : logOf(size));
  expect(await fsck({ dataDir: log.dataDir, signatures: true })).toMatchObject({ ok: true, size });
});

test('a copy without anchor and journal, as in a backup, has no findings', async () => {
  const log = copyOf(whole);
  rmSync(join(log.dataDir, 'anchor.json'));
  rmSync(join(log.dataDir, 'journal.ndjson'));
  expect(await fsck({ dataDir: log.dataDir })).toMatchObject({ ok: true, size: 700 });
});

/** Creates a log with only these heads, as a rebuild writes it. The signatures of its entries are invalid. */
async function bulkLog(size: number, headsAt: readonly number[]): Promise<KnownLog> {
  const small = await logOf(1);
  rmSync(join(small.dataDir, 'anchor.json'));
  const key = KeyRing.load(join(small.dataDir, 'keys')).active('transparency-sth')!;
  rmSync(fileOf(small));
  const storage = new LmdbStorage(fileOf(small));
  const tree = GrowingTree.load(sha256, 0, () => undefined)!;
  const leaves = new LeafIndex();
  const { id: firstId } = entry(0);
  for (let first = 0; first < size; ) {
    const next = headsAt.find((at) => at > first) ?? size;
    const buckets: LeafBucket[] = [];
    const batch = Array.from({ length: next - first }, (_, i) => {
      const { id } = entry(first + i);
      const canonical = Buffer.from(String(small.canonical[0]).replace(firstId, id));
      const hash = leafHash(sha256, canonical);
      tree.append(hash);
      buckets.push(...leaves.add(hash));
      return { id, kind: 'alert.raised', canonical };
    });
    const head = signHead(next, tree.root(), BigInt(next) * 1024n, key);
    storage.load({ first, entries: batch, pages: tree.takePages(), buckets, heads: [head] });
    first = next;
  }
  storage.complete();
  storage.setState('ready');
  await storage.close();
  return small;
}

test('a log of several segments is checked with the same result in one and in two threads', async () => {
  const size = 2 * 65_536 + 300;
  const log = await bulkLog(size, [5, 65_535, 65_536, 65_537, 100_000, 131_072, 131_073, size]);
  const { dataDir } = log;
  expect(await fsck({ dataDir, threads: 1 })).toMatchObject({ ok: true, size });
  // An older version may leave such a file: start-up adds the missing index entries.
  const lastChunk = ['alert.raised', Math.floor((size - 1) / 256)] as never;
  await tamper(log, 'kinds', (rows) => rows.removeSync(lastChunk));
  expect(await fsck({ dataDir, threads: 2 })).toMatchObject({ ok: true, size });
  const { id } = JSON.parse(String(log.canonical[0]));
  await tamper(log, 'ids', (rows) => rows.removeSync(uuidToBytes(id)));
  expect((await fsck({ dataDir, threads: 2 })).counts).toEqual({ id_index: 1 });
  await tamper(log, 'entries', (rows) => rows.removeSync(131_072));
  await tamper(log, 'leaves', (rows) => rows.removeSync([0, 7]));
  await tamper(log, 'leaves', (rows) => void rows.putSync([3, 7], Buffer.alloc(6)));
  await flipRow('entries', 70_000, 60)(log);
  await flipRow('pages', [2, 0], 40)(log);
  await flipRow('pages', [0, 500], 40)(log);
  const expected = { leaf_index: 2, entry_altered: 1, entry_missing: 1, node_altered: 2 };
  for (const threads of [1, 2]) expect((await fsck({ dataDir, threads })).counts).toMatchObject(expected);
});

test('each of several successive keys covers the entries that it signed', async () => {
  const dataDir = folder();
  const ledger = await open(dataDir);
  await ledger.append(entries(0, 10));
  for (const purpose of ['transparency-sth', 'event-signing'] as const) {
    await ledger.rotateKey(purpose, 'admin');
    await ledger.append([entry(purpose.length)]);
  }
  const signer = (await ledger.status()).sth_key_id;
  await ledger.revokeKey(signer, 'stolen', 'admin');
  await ledger.append(entries(20, 30));
  await ledger.close();
  expect(await fsck({ dataDir, signatures: true })).toMatchObject({ ok: true, findings: [] });
  const path = join(dataDir, 'keys', `${signer}.json`);
  writeFileSync(path, readFileSync(path, 'utf8').replace(/"svc_to_size":\d+/, '"svc_to_size":11'));
  expect((await fsck({ dataDir })).counts.head_range).toBeGreaterThan(0);
});

test.each([
  ['event-signing', 'entry_key'],
  ['transparency-sth', 'head_range'],
] as const)(
  'signatures of a %s key are reported if its file is older than its first signature',
  async (purpose, code) => {
    const dataDir = folder();
    const ledger = await open(dataDir);
    await ledger.append(entries(0, 10));
    const { kid } = await ledger.rotateKey(purpose, 'admin');
    await ledger.append([entry(10)]);
    await ledger.close();
    const path = join(dataDir, 'keys', `${kid}.json`);
    const { svc_from_size: _from, svc_not_before: _since, ...file } = JSON.parse(readFileSync(path, 'utf8'));
    const succession = { replaces: kid, entry_id: kid, actor: 'system' };
    writeFileSync(path, JSON.stringify({ ...file, svc_state: 'pending', svc_succession: succession }));
    expect((await fsck({ dataDir })).counts[code]).toBeGreaterThan(0);
  },
);

interface Damage {
  readonly name: string;
  readonly expected: readonly FindingCode[];
  readonly position?: number;
  damage(log: KnownLog): unknown;
}

const lastHead = (log: KnownLog) => log.heads.at(-1)!;
const flipped = (bytes: Uint8Array | undefined, at: number) => {
  const copy = Buffer.from(bytes!);
  copy[at]! ^= 4;
  return copy;
};
const flipRow = (table: string, key: number | number[], at: number) => (log: KnownLog) =>
  tamper(log, table, (rows) => void rows.putSync(key, flipped(rows.getBinary(key), at)));
const journal = (log: KnownLog, change: (text: string) => string) => {
  const path = join(log.dataDir, 'journal.ndjson');
  writeFileSync(path, change(readFileSync(path, 'utf8')));
};

const damages: readonly Damage[] = [
  {
    name: 'a letter of an entry',
    expected: ['entry_altered'],
    position: 300,
    damage: flipRow('entries', 300, 30),
  },
  {
    name: 'the bytes of an entry, in the file',
    expected: ['entry_altered'],
    position: 77,
    damage: (log) => flipIn(log, log.canonical[77]!, 12),
  },
  {
    name: 'a missing entry',
    expected: ['entry_missing'],
    position: 5,
    damage: (log) => tamper(log, 'entries', (rows) => rows.removeSync(5)),
  },
  {
    name: 'an entry beyond the end',
    expected: ['entry_beyond'],
    position: 700,
    damage: (log) => tamper(log, 'entries', (rows) => rows.putSync(700, log.canonical[0]!)),
  },
  { name: 'a leaf in a page of nodes', expected: ['node_altered'], damage: flipRow('pages', [0, 1], 40) },
  { name: 'a node above the leaves', expected: ['node_altered'], damage: flipRow('pages', [0, 0], 16_000) },
  { name: 'a node in the page above', expected: ['node_altered'], damage: flipRow('pages', [1, 0], 3) },
  {
    name: 'a missing page of nodes',
    expected: ['node_missing'],
    damage: (log) => tamper(log, 'pages', (rows) => rows.removeSync([0, 1])),
  },
  {
    name: 'a page of nodes beyond the end',
    expected: ['node_beyond'],
    damage: (log) => tamper(log, 'pages', (rows) => rows.putSync([0, 3], Buffer.alloc(32))),
  },
  {
    name: 'the signature of an old head',
    expected: ['head_signature'],
    position: 256,
    damage: (log) => flipIn(log, headRow(log.heads[4]!).subarray(48), 3),
  },
  {
    name: 'the root of an old head',
    expected: ['head_root', 'head_signature'],
    position: 100,
    damage: (log) => flipIn(log, headRow(log.heads[2]!), 20),
  },
  {
    name: 'a malformed row of the heads',
    expected: ['head_malformed'],
    damage: (log) => tamper(log, 'heads', (rows) => rows.putSync([650, 1], Buffer.alloc(17))),
  },
  {
    name: 'a missing old head',
    expected: ['head_missing'],
    damage: (log) =>
      tamper(log, 'heads', (rows) => rows.removeSync([...rows.getKeys({ start: [255, 0], limit: 1 })][0]!)),
  },
  {
    name: 'a signed head with a root that differs from the entries',
    expected: ['head_numbers', 'head_root'],
    position: 650,
    damage: forgeHead,
  },
  {
    name: 'a missing row in the index by id',
    expected: ['id_index'],
    position: 0,
    damage: (log) => tamper(log, 'ids', (rows) => rows.removeSync([...rows.getKeys({ limit: 1 })][0]!)),
  },
  {
    name: 'an id that leads to the wrong entry',
    expected: ['id_index'],
    damage: (log) =>
      tamper(log, 'ids', (rows) => {
        const [one, two] = [...rows.getKeys({ limit: 2 })];
        rows.putSync(one!, rows.getBinary(two!)!);
      }),
  },
  {
    name: 'an entry in the index by kind',
    expected: ['kind_index'],
    damage: flipRow('kinds', ['alert.raised', 0] as never, 5),
  },
  { name: 'the number of a head', expected: ['head_numbers'], damage: flipRow('history', 3, 7) },
  {
    name: 'the state of the file',
    expected: ['format_unknown'],
    damage: (log) => tamper(log, 'meta', (rows) => rows.removeSync('format')),
  },
  {
    name: 'an empty anchor',
    expected: ['anchor_unreadable'],
    damage: (log) => writeFileSync(join(log.dataDir, 'anchor.json'), ''),
  },
  {
    name: 'a folder in place of the anchor',
    expected: ['anchor_unreadable'],
    damage: (log) => {
      rmSync(join(log.dataDir, 'anchor.json'));
      mkdirSync(join(log.dataDir, 'anchor.json'));
    },
  },
  {
    name: 'a folder in place of the journal',
    expected: ['journal_unreadable'],
    damage: (log) => {
      rmSync(join(log.dataDir, 'journal.ndjson'));
      mkdirSync(join(log.dataDir, 'journal.ndjson'));
    },
  },
  {
    name: 'an unsigned line in the journal',
    expected: ['journal_signature'],
    damage: (log) => {
      const head = readFileSync(join(log.dataDir, 'anchor.json'), 'utf8')
        .trim()
        .replace('"tree_size":700', '"tree_size":9999');
      journal(log, (text) => `${text}{"at":"2025-11-21T00:00:00.000Z","event":"day","health":"ok","head":${head}}\n`);
    },
  },
  {
    name: 'a damaged key file',
    expected: ['anchor_signature', 'head_key', 'key_damaged'],
    damage: (log) => writeFileSync(keyFile(log, 'transparency-sth'), '{'),
  },
  {
    name: 'a missing event key',
    expected: ['entry_key', 'key_missing'],
    damage: (log) => rmSync(keyFile(log, 'event-signing')),
  },
  {
    name: 'no keys',
    expected: ['entry_key', 'head_key', 'keys_missing', 'anchor_signature'].sort() as FindingCode[],
    damage: (log) => rmSync(join(log.dataDir, 'keys'), { recursive: true }),
  },
  {
    name: 'a torn meta page',
    expected: ['meta_torn'],
    damage: (log) => scribble(log, (bytes) => bytes.fill(0, olderMeta(bytes), olderMeta(bytes) + pageBytes)),
  },
  {
    name: 'both meta pages missing',
    expected: ['no_database'],
    damage: (log) => scribble(log, (bytes) => bytes.fill(0, 0, 2 * pageBytes)),
  },
];

function keyFile(log: KnownLog, purpose: string): string {
  const keys = join(log.dataDir, 'keys');
  const name = readdirSync(keys).find((one) =>
    readFileSync(join(keys, one), 'utf8').includes(`"svc_purpose":"${purpose}"`),
  );
  return join(keys, name!);
}

function olderMeta(bytes: Buffer): number {
  return bytes.readBigUInt64LE(152) < bytes.readBigUInt64LE(pageBytes + 152) ? 0 : pageBytes;
}

/** Signs a root that the log never had. */
async function forgeHead(log: KnownLog): Promise<void> {
  const key = KeyRing.load(join(log.dataDir, 'keys')).active('transparency-sth')!;
  const [before, after] = [log.heads[6]!, lastHead(log)];
  const timestampNs = ((before.timestampNs + after.timestampNs) / 2048n) * 1024n;
  const forged = signHead(650, new Uint8Array(32).fill(9), timestampNs, key);
  await tamper(log, 'heads', (rows) => rows.putSync([650, Number(timestampNs / 1024n)], headRow(forged)));
}

describe('damage is reported', () => {
  test.each(damages)('$name', async ({ expected, position, damage }) => {
    const log = copyOf(whole);
    await damage(log);
    const before = hashOf(fileOf(log));
    const report = await fsck({ dataDir: log.dataDir });
    expect(codes(report)).toEqual(expected);
    expect(report.ok).toBe(false);
    if (position !== undefined) expect(report.findings.map((finding) => finding.position)).toContain(position);
    for (const { code, advice } of report.findings) expect(advice).toBe(findingCodes[code].advice);
    expect(hashOf(fileOf(log))).toBe(before);
  });

  test('for a head that claims more leaves than a file can hold, without a search of its range', async () => {
    const log = copyOf(whole);
    const claimed = { ...lastHead(log), size: 2 ** 50, timestampNs: lastHead(log).timestampNs + 1024n };
    const key = [claimed.size, Number(claimed.timestampNs / 1024n)];
    await tamper(log, 'heads', (rows) => void rows.putSync(key, headRow(claimed)));
    const { counts } = await fsck({ dataDir: log.dataDir });
    expect(counts.entry_missing).toBe(2 ** 50 - 700);
  });

  test('with the number of findings of each code and a list of the first hundred', async () => {
    const log = copyOf(whole);
    await tamper(log, 'entries', (rows) => {
      for (let i = 0; i < 250; i++) rows.putSync(i, flipped(rows.getBinary(i), 30));
      rows.removeSync(500);
    });
    const report = await fsck({ dataDir: log.dataDir });
    expect(report.counts).toMatchObject({ entry_altered: 250, entry_missing: 1 });
    expect(report.findings.filter(({ code }) => code === 'entry_altered')).toHaveLength(100);
  });

  test.each([
    ['1 entry', 1],
    ['2 entries', 2],
  ])('for a log of %s whose heads were removed', async (all, size) => {
    const log = await logOf(size);
    await tamper(log, 'heads', (rows) => void rows.clearSync());
    const { findings } = await fsck({ dataDir: log.dataDir });
    const messages = new Map(findings.map(({ code, message }) => [code, message]));
    expect(messages.get('head_missing')).toBe(`the log has ${all}, but no signed head`);
    expect(messages.get('entry_beyond')).toBe(
      `the log has ${all}, up to index ${size - 1}, beyond the last head of 0 leaves`,
    );
  });

  test('for an entry with an invalid signature, only if signatures are checked', async () => {
    const forged = await forgedEntry();
    expect(await fsck({ dataDir: forged })).toMatchObject({ ok: true });
    const report = await fsck({ dataDir: forged, signatures: true });
    expect(report.counts).toEqual({ entry_signature: 1 });
    expect(report.findings[0]?.position).toBe(1);
  });

  test('for bytes that are not a canonical entry, although they match their leaf hash', async () => {
    const dataDir = await logWith((canonical) => canonical.replace('"actor":"system"', '"actor": "system"'));
    expect((await fsck({ dataDir })).counts).toMatchObject({ entry_malformed: 1 });
  });

  test('for an older file under a newer anchor, as a rollback', async () => {
    const log = copyOf(whole);
    const ledger = await open(log.dataDir);
    await ledger.append(entries(700, 710));
    await ledger.close();
    copyFileSync(fileOf(whole), fileOf(log));
    const report = await fsck({ dataDir: log.dataDir });
    expect(report).toMatchObject({ isRolledBack: true, isDamaged: false, counts: { anchor_ahead: 1 } });
  });

  test('for another log under the same anchor, as a rollback', async () => {
    const [log, other] = [copyOf(whole), await logOf(800)];
    copyFileSync(fileOf(other), fileOf(log));
    for (const name of readdirSync(join(other.dataDir, 'keys')))
      copyFileSync(join(other.dataDir, 'keys', name), join(log.dataDir, 'keys', name));
    expect(await fsck({ dataDir: log.dataDir })).toMatchObject({
      isRolledBack: true,
      counts: { anchor_root: 1 },
    });
  });
});

/** Creates a log of three entries, of which the second was changed before it was logged. */
async function logWith(change: (canonical: string) => string): Promise<string> {
  const log = await logOf(3);
  const dataDir = folder();
  mkdirSync(join(dataDir, 'keys'));
  for (const name of readdirSync(join(log.dataDir, 'keys')))
    copyFileSync(join(log.dataDir, 'keys', name), join(dataDir, 'keys', name));
  const texts = log.canonical.map(String);
  texts[1] = change(texts[1]!);
  const tree = GrowingTree.load(sha256, 0, () => undefined)!;
  const batch = texts.map((text) => {
    tree.append(leafHash(sha256, Buffer.from(text)));
    const { id, kind } = JSON.parse(text);
    return { id, kind, canonical: Buffer.from(text) };
  });
  const key = KeyRing.load(join(dataDir, 'keys')).active('transparency-sth')!;
  const storage = new LmdbStorage(join(dataDir, 'ledger.mdb'));
  const head = signHead(3, tree.root(), 1024n, key);
  storage.commit({ first: 0, entries: batch, pages: tree.takePages(), buckets: [], head }, () => {});
  storage.setState('ready');
  await storage.close();
  return dataDir;
}

function forgedEntry(): Promise<string> {
  return logWith((text) => text.replace('"n":1', '"n":8'));
}

test.each([0.2, 0.5, 0.8, 0.95])('a file truncated to %f of its pages is reported as truncated', async (part) => {
  const log = copyOf(whole);
  cut(log, Math.floor((readFileSync(fileOf(log)).length / pageBytes) * part));
  const report = await fsck({ dataDir: log.dataDir });
  expect(codes(report)).toContain('file_cut');
  expect(report.isDamaged).toBe(true);
});

/** Checks that the log starts healthy and every leaf is provable. */
async function checkWhole(log: KnownLog): Promise<void> {
  const ledger = await open(log.dataDir);
  expect((await ledger.status()).health).toEqual({ state: 'ok' });
  expect((await checkAll(ledger)).tree_size).toBe(log.canonical.length);
  await ledger.close();
}

test('thousands of consecutive unreadable pages of a table are skipped, and each is reported', async () => {
  const path = join(folder(), 'large.mdb');
  const root = openDatabase(path);
  const table = root.openDB({ name: 'entries', encoding: 'binary' });
  const rows = 20_000;
  root.transactionSync(() => {
    for (let n = 0; n < rows; n++) table.putSync(n, Buffer.alloc(1900, 1)); // two rows per page
  });
  await root.close();
  const bytes = readFileSync(path);
  for (let at = 0; at < bytes.length; at += pageBytes) {
    const isEntries = bytes.readUInt16LE(at + 18) === 2 && bytes[at + pageBytes - 1] === 1;
    if (isEntries) bytes.writeUInt16LE(0, at + 18);
  }
  writeFileSync(path, bytes);
  const file = new DatabaseFile(path);
  const told = new Set<number>();
  const cursor = new RowCursor(file, file.tables(() => {}).get('entries')!, ({ page }) => told.add(page));
  expect(cursor.next()).toBe(false);
  expect(told.size).toBeGreaterThan(rows / 2 - 10);
  file.close();
});

test('zeros anywhere in the file are harmless or reported, and never cause a crash', async () => {
  const { length } = readFileSync(fileOf(whole));
  const places = fc.integer({ min: 0, max: length - pageBytes });
  await fc.assert(
    fc.asyncProperty(places, fc.boolean(), async (place, aligned) => {
      const log = copyOf(whole);
      const at = aligned ? place - (place % pageBytes) : place;
      scribble(log, (bytes) => bytes.fill(0, at, at + pageBytes));
      const report = await fsck({ dataDir: log.dataDir });
      if (report.ok) await checkWhole(log);
      else expect(report.findings.length).toBeGreaterThan(0);
    }),
    { seed, numRuns: 15 },
  );
});

test('invalid numbers at the start of pages are harmless or reported', async () => {
  const pages = readFileSync(fileOf(whole)).length / pageBytes;
  const place = fc.tuple(fc.nat(pages - 1), fc.integer({ min: 8, max: 160 }), fc.nat(255));
  await fc.assert(
    fc.asyncProperty(fc.array(place, { minLength: 1, maxLength: 30 }), async (places) => {
      const log = copyOf(whole);
      scribble(log, (bytes) => {
        for (const [page, at, byte] of places) bytes[page * pageBytes + at] = byte;
      });
      const report = await fsck({ dataDir: log.dataDir });
      if (report.ok) await checkWhole(log);
      else
        expect(['planned', 'whole', 'hopeless']).toContain(
          (await rebuild({ dataDir: log.dataDir, dryRun: true })).outcome,
        );
    }),
    { seed, numRuns: 15 },
  );
});

test('flipped bits are harmless or reported', async () => {
  const { length } = readFileSync(fileOf(whole));
  const places = fc.array(fc.integer({ min: 0, max: 8 * length - 1 }), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(places, async (bits) => {
      const log = copyOf(whole);
      scribble(log, (bytes) => {
        for (const bit of bits) bytes[bit >> 3]! ^= 1 << (bit & 7);
      });
      const report = await fsck({ dataDir: log.dataDir });
      if (report.ok) await checkWhole(log);
      else expect(report.findings.length).toBeGreaterThan(0);
    }),
    { seed, numRuns: 15 },
  );
});

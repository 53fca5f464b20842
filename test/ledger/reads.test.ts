import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifyEd25519 } from '../../src/client/ed25519.ts';
import { AuditFault } from '../../src/client/fault.ts';
import { parseBundle, verifyBundle } from '../../src/client/verify.ts';
import { writeTreeHead } from '../../src/contract/write-tree-head.ts';
import { sha256 } from '../../src/crypto/sha256.ts';
import { openDatabase } from '../../src/database/lmdb.ts';
import { type DurableLedger, openLedger } from '../../src/ledger/open.ts';
import { limits } from '../../src/limits.ts';
import { parseCheckpoint } from '../../src/tlog/checkpoint.ts';
import { decodeEntryBundle } from '../../src/tlog/entry-bundle.ts';
import { bytesToHex, hexToBytes } from '../../src/tlog/hex.ts';
import { formatNote, noteSignatureBy, parseNote, parseVerifierKey } from '../../src/tlog/note.ts';
import { type Hash, leafHash, nodeHash } from '../../src/tlog/tree.ts';
import { codeOf, entries, entry, fieldOf, folder, open } from './fixture.ts';
import { canonicalOf, makeLog } from './large-log.ts';

describe('a log of 70,000 leaves', () => {
  const size = 70_000;
  const kindOf = (n: number) => (n % 1000 === 7 ? 'key.rotated' : n % 3 === 0 ? 'token.issued' : 'alert.raised');
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-reads-'));
  /** Hashes of complete nodes: levels 0, 8 and 16. */
  const levels: Hash[][] = [];
  let ledger: DurableLedger;

  beforeAll(async () => {
    await makeLog(dataDir, size, kindOf);
    ledger = await openLedger({ dataDir });
    levels.push(Array.from({ length: size }, (_, n) => leafHash(sha256, canonicalOf(n, kindOf(n)))));
    levels.push(columnsAbove(levels[0]!), columnsAbove(columnsAbove(levels[0]!)));
  });
  afterAll(async () => {
    await ledger.close();
    rmSync(dataDir, { recursive: true });
  });

  test('tiles of all levels and widths contain the hashes of their nodes, and other tiles do not exist', async () => {
    expect(levels.map((level) => level.length)).toEqual([70_000, 273, 1]);
    for (const [level, hashes] of levels.entries()) {
      const last = Math.floor((hashes.length - 1) / 256);
      for (const index of new Set([0, Math.floor(last / 2), last])) {
        const columns = hashes.slice(256 * index, 256 * index + 256);
        for (let width = 1; width <= 256; width++) {
          const tile = ledger.tile({ level, index, width });
          if (width > columns.length) expect(await codeOf(tile)).toBe('NOT_FOUND');
          else expect(Buffer.compare(await tile, Buffer.concat(columns.slice(0, width)))).toBe(0);
        }
      }
      expect(await codeOf(ledger.tile({ level, index: last + 1, width: 1 }))).toBe('NOT_FOUND');
    }
    for (const level of [3, 6, 7, 63]) {
      expect(await codeOf(ledger.tile({ level, index: 0, width: 1 }))).toBe('NOT_FOUND');
    }
    expect(await codeOf(ledger.tile({ level: 0, index: Number.MAX_SAFE_INTEGER, width: 1 }))).toBe('NOT_FOUND');
  });

  test('bundles of entries contain their canonical bytes', async () => {
    for (const [index, width] of [
      [0, 256],
      [100, 1],
      [272, 256],
      [273, 112],
    ] as const) {
      const read = decodeEntryBundle(await ledger.entryBundle(index, width), width);
      const wanted = Array.from({ length: width }, (_, i) => {
        const n = 256 * index + i;
        return canonicalOf(n, kindOf(n));
      });
      expect(read.map((bytes) => Buffer.from(bytes))).toEqual(wanted.map((bytes) => Buffer.from(bytes)));
    }
    for (const [index, width] of [
      [273, 113],
      [273, 256],
      [274, 1],
    ] as const)
      expect(await codeOf(ledger.entryBundle(index, width))).toBe('NOT_FOUND');
  });

  test('entries are listed by range and kind, with an exact total', async () => {
    const all = await ledger.entries({ from: 69_000, page: 2, per_page: 300 });
    expect(all.total).toBe(1000);
    expect(all.leaves.map((leaf) => leaf.leaf_index)).toEqual(Array.from({ length: 300 }, (_, i) => 69_300 + i));
    expect(Buffer.from(all.leaves[5]!.canonical)).toEqual(Buffer.from(canonicalOf(69_305, kindOf(69_305))));
    expect(all.leaves[5]!.leaf_hash).toBe(bytesToHex(levels[0]![69_305]!));
    const some = await ledger.entries({
      kinds: ['key.rotated', 'none.such'],
      from: 8,
      to: 5007,
      page: 1,
      per_page: 10,
    });
    expect([some.total, some.leaves.map((leaf) => leaf.leaf_index)]).toEqual([4, [1007, 2007, 3007, 4007]]);
    const deep = await ledger.entries({ kinds: ['token.issued', 'alert.raised'], page: 700, per_page: 100 });
    expect([deep.total, deep.leaves.length, deep.leaves.at(-1)?.leaf_index]).toEqual([69_930, 30, 69_999]);
    expect(await ledger.entries({ from: size, page: 1, per_page: 10 })).toEqual({ leaves: [], total: 0 });
    for (const [query, field] of [
      [{ from: size + 1 }, 'from'],
      [{ to: 0 }, 'to'],
      [{ to: size + 1 }, 'to'],
      [{ from: 5, to: 5 }, 'to'],
      [{ from: 5, to: 4 }, 'to'],
      [{ from: size, to: size + 1 }, 'to'],
    ] as const)
      expect([query, await fieldOf(ledger.entries({ ...query, page: 1, per_page: 10 }))]).toEqual([query, field]);
  });
});

test('a tile is available at every width that the tree ever had, while it grows', async () => {
  const ledger = await open(folder());
  for (let size = 0; size < 600; size += 37) {
    await ledger.append(entries(size, size + 37));
    const leaves = await Promise.all(
      Array.from({ length: size + 37 }, async (_, index) =>
        hexToBytes((await ledger.leaf({ leaf_index: index })).leaf_hash, 32),
      ),
    );
    for (let index = 0; index <= (size + 36) / 256; index++) {
      const columns = leaves.slice(256 * index, 256 * index + 256);
      for (const width of [1, columns.length >> 1, columns.length].filter((one) => one > 0)) {
        const tile = await ledger.tile({ level: 0, index, width });
        expect(Buffer.compare(tile, Buffer.concat(columns.slice(0, width)))).toBe(0);
      }
    }
  }
});

test('a bundle verifies offline, for any identifier used in the query', async () => {
  const ledger = await open(folder());
  expect(await codeOf(ledger.bundle({ leaf_index: 0 }))).toBe('LOG_EMPTY');
  const appended = (await ledger.append(entries(0, 20)))[7]!;
  for (const query of [{ leaf_index: 7 }, { entry_id: appended.id }, { leaf_hash: appended.leaf_hash }] as const) {
    const { leaf, head, audit_path, keys } = await ledger.bundle(query);
    const text = JSON.stringify({
      leaf_index: leaf.leaf_index,
      canonical: Buffer.from(leaf.canonical).toString('base64'),
      audit_path,
      keys,
    });
    const bundle = parseBundle(`${text.slice(0, -1)},"head":${writeTreeHead(head)}}`);
    if (bundle instanceof AuditFault) throw new Error(bundle.message);
    const verified = verifyBundle(bundle);
    if (verified instanceof AuditFault) throw new Error(verified.message);
    expect([verified.entry.id, verified.leafIndex, verified.head.size]).toEqual([appended.id, 7, 20]);
  }
  expect(await fieldOf(ledger.bundle({ leaf_index: 20 }))).toBe('leaf_index');
  expect(await codeOf(ledger.bundle({ entry_id: entry(99).id }))).toBe('NOT_FOUND');
});

test('a page of entries above the size limit is rejected, and the error names the parameter to lower', async () => {
  const ledger = await open(folder());
  const long = (n: number) => entry(n, { text: 'x'.repeat(50_000) });
  const count = Math.ceil(limits.maxEntriesPageBytes / 50_000);
  for (let n = 0; n < count; n += 10) await ledger.append(Array.from({ length: 10 }, (_, i) => long(n + i)));
  expect(await fieldOf(ledger.entries({ page: 1, per_page: 1000 }))).toBe('per_page');
  expect((await ledger.entries({ page: 2, per_page: 40 })).leaves).toHaveLength(40);
});

describe('checkpoints', () => {
  test('contain the latest head as a note under the stable key, signed once for each tree', async () => {
    const ledger = await open(folder(), { origin: 'example.org/log' });
    expect(await codeOf(ledger.checkpoint())).toBe('LOG_EMPTY');
    await ledger.append(entries(0, 5));
    const note = await ledger.checkpoint();
    const head = await ledger.head();
    expect(await ledger.checkpoint()).toBe(note);
    const { checkpoint_vkey } = await ledger.status();
    const key = parseVerifierKey(sha256, checkpoint_vkey);
    expect(key.name).toBe('example.org/log');
    const parsed = parseNote(note);
    expect(noteSignatureBy(parsed, key, verifyEd25519)).toBeDefined();
    const { origin, size, root, extensions } = parseCheckpoint(parsed.text);
    expect([origin, size, bytesToHex(root), extensions]).toEqual(['example.org/log', 5, head.root_hash, []]);
    await ledger.append(entries(5, 6));
    expect(parseCheckpoint(parseNote(await ledger.checkpoint()).text).size).toBe(6);
  });

  test('a revoked key does not sign further checkpoints, even of a tree that it has signed', async () => {
    const ledger = await open(folder());
    await ledger.append(entries(0, 5));
    const before = parseVerifierKey(sha256, (await ledger.status()).checkpoint_vkey);
    const note = parseNote(await ledger.checkpoint());
    const key = (await ledger.keyRecords()).find(({ purpose }) => purpose === 'checkpoint')!;
    await ledger.revokeKey(key.kid, 'stolen', 'system');
    const after = parseVerifierKey(sha256, (await ledger.status()).checkpoint_vkey);
    expect([after.name, after.keyId === before.keyId]).toEqual([before.name, false]);
    const again = parseNote(await ledger.checkpoint());
    expect(noteSignatureBy(note, before, verifyEd25519)).toBeDefined();
    expect(noteSignatureBy(again, after, verifyEd25519)).toBeDefined();
    expect(noteSignatureBy(again, before, verifyEd25519)).toBeUndefined();
  });

  test('a checkpoint with cosignatures is kept across a restart, and never replaced by a checkpoint of a smaller tree', async () => {
    const dataDir = folder();
    const ledger = await open(dataDir);
    expect(await ledger.keptCheckpoint()).toBeUndefined();
    await ledger.append(entries(0, 5));
    const small = cosigned(await ledger.checkpoint(), 'w1');
    await ledger.append(entries(5, 8));
    const large = cosigned(await ledger.checkpoint(), 'w1');
    await ledger.keepCheckpoint(small);
    expect(await ledger.keptCheckpoint()).toBe(small);
    await ledger.keepCheckpoint(large);
    await ledger.keepCheckpoint(small);
    expect(await ledger.keptCheckpoint()).toBe(large);
    const better = cosigned(large, 'w2');
    await ledger.keepCheckpoint(better);
    await ledger.close();
    const again = await open(dataDir);
    expect(await again.keptCheckpoint()).toBe(better);
  });

  test('a note that does not match the log is rejected', async () => {
    const ledger = await open(folder(), { origin: 'example.org/log' });
    await ledger.append(entries(0, 5));
    const note = await ledger.checkpoint();
    const [origin = '', size = '', root = ''] = note.split('\n');
    for (const wrong of [
      note.replace(origin, 'example.org/other'),
      note.replace(`\n${size}\n`, '\n6\n'),
      note.replace(`\n${size}\n`, '\n4\n'),
      note.replace(`\n${size}\n`, '\n0\n'),
      note.replace(root, Buffer.alloc(32).toString('base64')),
      note.replace(`${root}\n`, `${root}\nextension\n`),
      note.trimEnd(),
      '',
    ]) {
      expect([wrong, await fieldOf(ledger.keepCheckpoint(wrong))]).toEqual([wrong, 'note']);
    }
    expect(await ledger.keptCheckpoint()).toBeUndefined();
  });

  test('a checkpoint stored under a previous origin is not served', async () => {
    const dataDir = folder();
    const ledger = await open(dataDir, { origin: 'example.org/log' });
    await ledger.append(entries(0, 5));
    await ledger.keepCheckpoint(await ledger.checkpoint());
    await ledger.close();
    const renamed = await open(dataDir, { origin: 'example.org/renamed' });
    expect(await renamed.keptCheckpoint()).toBeUndefined();
    await renamed.append(entries(5, 6));
    const note = await renamed.checkpoint();
    await renamed.keepCheckpoint(note);
    expect(await renamed.keptCheckpoint()).toBe(note);
  });
});

test('a rolled-back log serves its data, but does not sign checkpoints', async () => {
  const dataDir = folder();
  const ledger = await open(dataDir);
  await ledger.append(entries(0, 5));
  await ledger.keepCheckpoint(await ledger.checkpoint());
  await ledger.close();
  copyFileSync(join(dataDir, 'ledger.mdb'), join(dataDir, 'old.mdb'));
  const newer = await open(dataDir);
  await newer.append(entries(5, 9));
  await newer.close();
  copyFileSync(join(dataDir, 'old.mdb'), join(dataDir, 'ledger.mdb'));

  const degraded = await open(dataDir);
  expect((await degraded.status()).health.state).toBe('degraded');
  expect(await codeOf(degraded.checkpoint())).toBe('UNAVAILABLE');
  const kept = await degraded.keptCheckpoint();
  expect(kept).toContain('\n5\n');
  expect(await codeOf(degraded.keepCheckpoint(kept!))).toBe('UNAVAILABLE');
  expect((await degraded.entries({ kinds: ['alert.raised'], page: 1, per_page: 10 })).total).toBe(5);
  expect((await degraded.heads({ page: 1, per_page: 10 })).total).toBe(1);
  expect(await degraded.tile({ level: 0, index: 0, width: 5 })).toHaveLength(160);
  const unsigned = await degraded.bundle({ leaf_index: 2 });
  expect([unsigned.head.tree_size, unsigned.checkpoint]).toEqual([5, undefined]);
  // A degraded log does not sign a checkpoint for a bundle either; a published checkpoint is still included.
  expect((await degraded.bundle({ leaf_index: 2 }, kept)).checkpoint).toMatchObject({ published: true });
});

test('a ledger.mdb of an earlier version is completed when it is opened, and accepts entries', async () => {
  const dataDir = folder();
  const ledger = await open(dataDir);
  await ledger.append(entries(0, 300));
  await ledger.append(entries(300, 305));
  await ledger.close();
  const raw = openDatabase(join(dataDir, 'ledger.mdb'), { maxDbs: 16 });
  for (const name of ['kinds', 'history']) await raw.openDB({ name, encoding: 'binary' }).drop();
  await raw.close();
  const newer = await open(dataDir);
  expect((await newer.status()).health.state).toBe('ok');
  await newer.append(entries(305, 306));
  expect((await newer.entries({ kinds: ['alert.raised'], page: 1, per_page: 1 })).total).toBe(306);
  const { heads } = await newer.heads({ page: 1, per_page: 10 });
  expect(heads.map((head) => head.tree_size)).toEqual([300, 305, 306]);
});

test('a read of damaged data fails with INTERNAL and raises a finding, while the log stays healthy and accepts entries', async () => {
  const dataDir = folder();
  const ledger = await open(dataDir);
  await ledger.append(entries(0, 300));
  await ledger.close();
  const raw = openDatabase(join(dataDir, 'ledger.mdb'), { maxDbs: 16 });
  const kinds = raw.openDB({ name: 'kinds', encoding: 'binary' });
  await kinds.remove(['alert.raised', 0]);
  await raw.close();
  const damaged = await open(dataDir);
  expect((await damaged.status()).health.state).toBe('ok');
  const query = { kinds: ['alert.raised'], page: 1, per_page: 10 };
  expect(await codeOf(damaged.entries(query))).toBe('INTERNAL');
  expect(await damaged.status()).toMatchObject({
    health: { state: 'ok' },
    findings: [{ code: 'data_damaged', message: expect.stringContaining('candor fsck') }],
  });
  await damaged.append(entries(300, 301));
  expect((await damaged.status()).health.state).toBe('ok');
  expect((await damaged.entries({ page: 1, per_page: 10 })).total).toBe(301);
});

test('the error for an impossible consistency proof names the invalid size', async () => {
  const ledger = await open(folder());
  expect(await fieldOf(ledger.consistency(1, 2))).toBe('first');
  await ledger.append(entries(0, 1));
  expect(await fieldOf(ledger.consistency(1, 1))).toBe('second');
  await ledger.append(entries(1, 10));
  for (const [first, second, field] of [
    [0, 10, 'first'],
    [11, 10, 'first'],
    [11, 1, 'first'],
    [5, 0, 'second'],
    [5, 11, 'second'],
    [5, 5, 'second'],
    [10, 10, 'second'],
    [10, 1, 'second'],
    [5, 1, 'second'],
  ] as const) {
    expect([first, second, await fieldOf(ledger.consistency(first, second))]).toEqual([first, second, field]);
  }
});

/** Computes the roots of complete subtrees of 256 columns. */
function columnsAbove(hashes: readonly Hash[]): Hash[] {
  let row = [...hashes];
  for (let level = 0; level < 8; level++) {
    row = Array.from({ length: Math.floor(row.length / 2) }, (_, i) => nodeHash(sha256, row[2 * i]!, row[2 * i + 1]!));
  }
  return row;
}

/** Adds a placeholder signature to the note, because these tests do not verify it. */
function cosigned(note: string, name: string): string {
  const { text, signatures } = parseNote(note);
  return formatNote({ text, signatures: [...signatures, { name, keyId: 1, signature: new Uint8Array(72) }] });
}

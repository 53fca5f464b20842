import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/database/lmdb.ts';
import { listEntries } from '../../src/ledger/reads/entry-list.ts';
import { listHeads } from '../../src/ledger/reads/head-view.ts';
import { LmdbStorage } from '../../src/ledger/storage/lmdb-store.ts';
import type { LedgerStorage } from '../../src/ledger/storage/storage.ts';
import { entries, fieldOf, folder, open } from './fixture.ts';
import { canonicalOf, idOf } from './large-log.ts';

const kinds: readonly string[] = ['alert.raised', 'key.rotated', 'token.issued', 'token'];

/** Committed batches, as the kinds of their entries. An empty batch signs the head again. */
const batches = fc.array(
  fc.oneof(
    fc.array(fc.constantFrom(...kinds), { maxLength: 40 }),
    fc.integer({ min: 200, max: 600 }).map((length) => Array<string>(length).fill('alert.raised')),
  ),
  { minLength: 1, maxLength: 6 },
);
const queries = fc.array(
  fc.record({
    range: fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true })),
    kinds: fc.option(fc.array(fc.constantFrom(...kinds, 'none.such'), { minLength: 1, maxLength: 5 }), {
      nil: undefined,
    }),
    page: fc.integer({ min: 1, max: 6 }),
    per_page: fc.constantFrom(1, 2, 7, 50, 300),
  }),
  { minLength: 1, maxLength: 20 },
);

type Queries = typeof queries extends fc.Arbitrary<infer Q> ? Q : never;

function commit(storage: LedgerStorage, batch: readonly string[], timestampNs: bigint): void {
  const first = storage.latestHead()?.size ?? 0;
  const entriesOfBatch = batch.map((kind, i) => ({
    id: idOf(first + i),
    kind,
    canonical: canonicalOf(first + i, kind),
  }));
  storage.commit(
    {
      first,
      entries: entriesOfBatch,
      pages: [],
      buckets: [],
      head: {
        size: first + batch.length,
        root: new Uint8Array(32),
        timestampNs,
        signature: new Uint8Array(64),
        keyId: idOf(0),
      },
    },
    () => undefined,
  );
}

/** Compares every result with a filter over all committed data. */
function check(storage: LedgerStorage, all: readonly string[], sizes: readonly number[], asked: Queries) {
  const size = all.length;
  for (const { range, kinds: wanted, page, per_page } of asked) {
    const ends = range.map((part) => Math.floor(part * (size + 1))).sort((a, b) => a - b);
    const [from, to] = [ends[0]!, Math.max(ends[1]!, ends[0]! + 1)];
    const slice = <T>(items: readonly T[]) => items.slice((page - 1) * per_page, page * per_page);
    const paging = { page, per_page, ...(wanted === undefined ? {} : { kinds: wanted }) };
    const matching = all
      .map((kind, index) => ({ kind, index }))
      .filter(({ kind, index }) => index >= from && index < to && (wanted?.includes(kind) ?? true))
      .map(({ index }) => index);
    const listed = listEntries(
      storage,
      size,
      from === size ? { from, ...paging } : { from, to: Math.min(to, size), ...paging },
    );
    expect(listed).toEqual({ indices: slice(matching), total: matching.length });

    const heads = listHeads(storage, size, {
      from_size: from + 1,
      ...(to + 1 > size + 1 ? {} : { to_size: to + 1 }),
      page,
      per_page,
    });
    const signed = sizes.filter((one) => one > from && one < to + 1);
    expect([heads.heads.map((head) => head.size), heads.total]).toEqual([slice(signed), signed.length]);
  }
}

test('pages of entries by kind and range, and of heads, match a filter over all data, including for an older file', async () => {
  await fc.assert(
    fc.asyncProperty(batches, queries, fc.nat(3), async (committed, asked, old) => {
      const path = join(folder(), 'ledger.mdb');
      let storage = new LmdbStorage(path);
      const all: string[] = [];
      const sizes: number[] = [];
      let time = 1024n;
      const add = (batch: readonly string[]) => {
        if (all.length === 0 && batch.length === 0) return; // an empty log has no head
        time += 1024n;
        commit(storage, batch, time);
        all.push(...batch);
        sizes.push(all.length);
      };
      for (const batch of committed) add(batch);
      if (all.length === 0) {
        await storage.close();
        return;
      }
      check(storage, all, sizes, asked);
      await storage.close();

      // Simulates the file of an earlier version: `history` lacks the last heads, and `kinds` may be empty.
      const raw = openDatabase(path, { maxDbs: 16 });
      const history = raw.openDB({ name: 'history', encoding: 'binary' });
      raw.transactionSync(() => {
        for (const key of [...history.getKeys()].slice(old)) history.removeSync(key);
      });
      if (old === 0) raw.openDB({ name: 'kinds', encoding: 'binary' }).clearSync();
      await raw.close();
      storage = new LmdbStorage(path);
      if (old < sizes.length) expect(() => storage.history.count).toThrow('history');
      storage.complete();
      check(storage, all, sizes, asked);
      add(['key.rotated', 'alert.raised']);
      check(storage, all, sizes, asked);
      await storage.close();
    }),
    { numRuns: 25 },
  );
});

test('a commit to a file without its indexes is rejected', async () => {
  const path = join(folder(), 'ledger.mdb');
  const storage = new LmdbStorage(path);
  commit(storage, ['alert.raised'], 2048n);
  await storage.close();
  const raw = openDatabase(path, { maxDbs: 16 });
  raw.openDB({ name: 'kinds', encoding: 'binary' }).clearSync();
  await raw.close();
  const again = new LmdbStorage(path);
  expect(() => commit(again, ['alert.raised'], 4096n)).toThrow('0 of 1 entries');
  expect(again.latestHead()?.size).toBe(1);
  await again.close();
});

test('every signed head is in the history, including the heads of an idle log', async () => {
  let now = BigInt(Date.now()) * 1_000_000n;
  const ledger = await open(folder(), { clock: () => now });
  expect(await ledger.heads({ page: 1, per_page: 10 })).toEqual({ heads: [], total: 0 });
  const signed = [];
  for (const [from, to] of [
    [0, 3],
    [3, 4],
    [4, 9],
  ] as const) {
    await ledger.append(entries(from, to));
    signed.push(await ledger.head());
    now += 3601n * 1_000_000_000n;
    await ledger.tick();
    signed.push(await ledger.head());
  }
  expect(signed.map((head) => head.tree_size)).toEqual([3, 3, 4, 4, 9, 9]);
  expect(await ledger.heads({ page: 1, per_page: 10 })).toEqual({ heads: signed, total: 6 });
  expect(await ledger.heads({ page: 2, per_page: 4 })).toEqual({ heads: signed.slice(4), total: 6 });
  expect(await ledger.heads({ from_size: 4, to_size: 9, page: 1, per_page: 10 })).toEqual({
    heads: signed.slice(2, 4),
    total: 2,
  });
  expect(await ledger.heads({ from_size: 10, page: 1, per_page: 10 })).toEqual({ heads: [], total: 0 });
  const wrong = [
    [{ from_size: 0 }, 'from_size'],
    [{ from_size: 11 }, 'from_size'],
    [{ to_size: 0 }, 'to_size'],
    [{ to_size: 1 }, 'to_size'],
    [{ to_size: 11 }, 'to_size'],
    [{ from_size: 4, to_size: 4 }, 'to_size'],
    [{ from_size: 4, to_size: 3 }, 'to_size'],
  ] as const;
  for (const [query, field] of wrong)
    expect([query, await fieldOf(ledger.heads({ ...query, page: 1, per_page: 10 }))]).toEqual([query, field]);
});

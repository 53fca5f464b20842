import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { ABORT } from 'lmdb';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase, type RootDatabase } from '../../../src/database/lmdb.ts';
import { BlockBuilder } from '../../../src/events/format/block-builder.ts';
import { BlockDirectory } from '../../../src/events/store/block-directory.ts';
import { type BlockStore, firstSeqOf, type Replaced } from '../../../src/events/store/block-store.ts';
import { EventStore } from '../../../src/events/store/event-store.ts';
import { limits } from '../../../src/limits.ts';
import { networkRecord } from '../../store/records.ts';
import { mergeSmall } from './merge-small.ts';

const start = Date.UTC(2026, 10, 20);
const dayMs = 24 * 3_600_000;

function blockOf(rows: number, receivedAt = start): ArrayBuffer {
  const builder = new BlockBuilder('network', receivedAt);
  for (let row = 0; row < rows; row++) builder.add(networkRecord({ timestamp: receivedAt + 7 * row }));
  return builder.finish();
}

/** Network blocks in a store, which are changed as the store thread changes them. */
class Blocks {
  readonly root: RootDatabase;
  readonly events: EventStore;
  readonly store: BlockStore;
  #received = start;

  constructor(root: RootDatabase) {
    this.root = root;
    this.events = new EventStore(root);
    this.store = this.events.blockStore;
  }

  get state() {
    this.store.refresh();
    return this.store.state('network');
  }

  append(...rows: readonly number[]): void {
    this.root.transactionSync(() => {
      for (const count of rows) this.events.append(blockOf(count, ++this.#received));
    });
  }

  /** Replaces up to `count` adjacent blocks with blocks of `rows` rows. */
  replace(from: number, count: number, rows: number): void {
    const stored = [...this.store.headers('network', firstSeqOf(this.state))].slice(from, from + count);
    const end = stored.findIndex(
      ({ firstSeq, header }, i) => i + 1 < stored.length && firstSeq + header.rows !== stored[i + 1]!.firstSeq,
    );
    const run = end < 0 ? stored : stored.slice(0, end + 1);
    const total = run.reduce((sum, { header }) => sum + header.rows, 0);
    if (total === 0) return;
    const old = run.map(({ firstSeq, header }) => this.store.open('network', firstSeq, header.rows));
    const blocks: ArrayBuffer[] = [];
    for (let left = total; left > 0; left -= rows) blocks.push(blockOf(Math.min(left, rows), ++this.#received));
    this.root.transactionSync(() => this.store.replace(old, blocks));
  }

  setAside(block: number): void {
    const [found] = [...this.store.headers('network', firstSeqOf(this.state))].slice(block);
    if (found) this.root.transactionSync(() => this.store.setAside('network', found.firstSeq, 'for a test'));
    this.events.reload();
  }

  drop(count: number): void {
    this.root.transactionSync(() => {
      for (let i = 0; i < count; i++)
        if (this.events.oldest('network', start) !== undefined) this.events.dropOldest('network');
    });
  }

  /** Stores the list of replaced rows in the form of an earlier version. */
  age(form: 'numbers' | 'absent'): void {
    const { replaced = [], ...state } = this.state;
    const numbers = replaced.map((range: Replaced) => (typeof range === 'number' ? range : range[0]));
    this.root.transactionSync(() =>
      this.store.putState('network', form === 'absent' ? state : { ...state, replaced: numbers }),
    );
  }
}

function opened(): Blocks {
  const folder = mkdtempSync(join(tmpdir(), 'candor-directory-'));
  const root = openDatabase(join(folder, 'siem.mdb'));
  onTestFinished(async () => {
    await root.close();
    rmSync(folder, { recursive: true });
  });
  return new Blocks(root);
}

const columns = ['firstSeq', 'rows', 'minTime', 'maxTime', 'received'] as const;
const entriesOf = (directory: BlockDirectory) =>
  Object.fromEntries(columns.map((column) => [column, [...directory[column].subarray(0, directory.count)]]));

function newDirectory({ store, state }: Pick<Blocks, 'store' | 'state'>): BlockDirectory {
  const directory = new BlockDirectory('network');
  directory.update(store, state);
  return directory;
}

/** Counts the headers that are read from a store. */
function counted(store: BlockStore): { readonly headers: BlockStore['headers']; read: number } {
  const headers = store.headers.bind(store);
  return {
    read: 0,
    *headers(...range) {
      for (const header of headers(...range)) {
        this.read++;
        yield header;
      }
    },
  };
}

test('after any changes of blocks, an updated directory equals a new directory', () => {
  const replacement = fc.tuple(fc.nat(20), fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 12 }));
  const step = fc.record({
    append: fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 9 }),
    replaced: fc.oneof(
      { weight: 9, arbitrary: fc.array(replacement, { maxLength: 5 }) },
      {
        weight: 1,
        arbitrary: fc.array(replacement, { minLength: limits.toldMerges, maxLength: limits.toldMerges + 8 }),
      },
    ),
    aside: fc.option(fc.nat(20), { freq: 8 }),
    drop: fc.oneof(fc.constant(0), fc.nat(3)),
    age: fc.option(fc.constantFrom('numbers' as const, 'absent' as const), { freq: 6 }),
    isAborted: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
    isRead: fc.boolean(),
  });
  const { root } = opened();
  const change = (steps: readonly (typeof step extends fc.Arbitrary<infer T> ? T : never)[]) => {
    const blocks = new Blocks(root);
    const directory = new BlockDirectory('network');
    for (const { append, replaced, aside, drop, age, isAborted, isRead } of steps) {
      blocks.append(...append);
      for (const [from, count, rows] of replaced) blocks.replace(from, count, rows);
      if (aside !== null) blocks.setAside(aside);
      blocks.drop(drop);
      if (age !== null) blocks.age(age);
      if (isAborted) {
        root.transactionSync(() => {
          blocks.append(3);
          blocks.replace(0, 3, 5);
          directory.update(blocks.store, blocks.state);
          return ABORT;
        });
        blocks.events.reload();
      }
      if (!isRead && !isAborted) continue;
      directory.update(blocks.store, blocks.state);
      expect(entriesOf(directory)).toEqual(entriesOf(newDirectory(blocks)));
      expect(directory.rows.subarray(0, directory.count).reduce((a, b) => a + b, 0)).toBe(blocks.state.rows);
    }
    return ABORT;
  };
  fc.assert(fc.property(fc.array(step, { maxLength: 15 }), (steps) => void root.transactionSync(() => change(steps))));
});

test('an update reads only the headers of new blocks and of replacement blocks', () => {
  const blocks = opened();
  const store = counted(blocks.store);
  const directory = new BlockDirectory('network');
  const update = () => {
    store.read = 0;
    directory.update(store, blocks.state);
    return store.read;
  };
  blocks.append(...new Array<number>(1000).fill(8));
  expect(update()).toBe(1000);
  blocks.append(8);
  expect(update()).toBe(1);
  blocks.replace(0, 8, 64);
  expect(update()).toBe(1);
  blocks.replace(100, 3, 23);
  blocks.replace(300, 2, 16);
  blocks.append(8);
  expect(update()).toBe(2 + 1 + 1);
  expect(update()).toBe(0);
  blocks.setAside(500);
  expect(update()).toBe(0);
  blocks.drop(1);
  expect(update()).toBe(0);
  blocks.replace(600, 2, 16);
  blocks.age('numbers');
  expect(update()).toBe(directory.count - 600);
  for (let i = 0; i <= limits.toldMerges; i++) blocks.replace(900, 1, 8);
  expect(update()).toBe(directory.count);
  expect(entriesOf(directory)).toEqual(entriesOf(newDirectory(blocks)));
});

test('merging many small blocks reads each header once', () => {
  const { root, events } = opened();
  root.transactionSync(() => {
    // Four blocks of each day can be merged.
    for (let block = 0; block < 400; block++) events.append(blockOf(2, start + dayMs * (block >> 2)));
  });
  const store = counted(events.blockStore);
  events.blockStore.headers = store.headers.bind(store);
  let merges = 0;
  while (mergeSmall(events, 'network')) merges++;
  expect({ merges, read: store.read }).toEqual({ merges: 99, read: 400 + 99 });
});

test('a damaged header leaves the directory unchanged until the block is set aside', () => {
  const blocks = opened();
  const reader = new EventStore(blocks.root).blockStore;
  blocks.append(3, 3);
  const directory = newDirectory(blocks);
  const before = entriesOf(directory);
  blocks.append(3, 3, 3);
  const headers = blocks.root.openDB<Buffer, number[]>({ name: 'event-headers', encoding: 'binary' });
  const header = headers.get([0, 10])!;
  headers.putSync([0, 10], Buffer.from(header.map((byte, i) => (i === 20 ? byte ^ 1 : byte))));
  for (let i = 0; i < 2; i++) {
    reader.refresh();
    expect(() => directory.update(reader, reader.state('network'))).toThrow(/is damaged/);
    expect(entriesOf(directory)).toEqual(before);
  }
  blocks.root.transactionSync(() => blocks.store.setAside('network', 10, 'for a test'));
  reader.refresh();
  directory.update(reader, reader.state('network'));
  expect(entriesOf(directory).firstSeq).toEqual([1, 4, 7, 13]);
});

test('a block with the rows of an earlier block, but other bytes, is read with its own header', () => {
  const blocks = opened();
  const directory = new BlockDirectory('network');
  const times = () => {
    directory.update(blocks.store, blocks.state);
    const place = directory.find(5);
    const block = blocks.store.openBorrowed('network', directory.firstSeq[place]!, directory.rows[place]!);
    return Array.from({ length: block.rows }, (_, row) => block.numbers('timestamp').at(row) - start);
  };
  blocks.append(4, 4);
  expect(times()).toEqual([2, 9, 16, 23]);
  blocks.replace(0, 2, 8);
  blocks.replace(0, 1, 4);
  expect(times()).toEqual([5, 12, 19, 26]);
});

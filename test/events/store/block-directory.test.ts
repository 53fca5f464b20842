import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { BlockHeader } from '../../../src/events/format/block-format.ts';
import { BlockDirectory } from '../../../src/events/store/block-directory.ts';
import type { TableState } from '../../../src/events/store/block-store.ts';
import { limits } from '../../../src/limits.ts';

/** Blocks as in the store, and how many of their headers were read. */
class Blocks {
  readonly #blocks: { firstSeq: number; rows: number }[] = [];
  state: TableState = { next_seq: 1, rows: 0, blocks: 0, bytes: 0, generation: 0 };
  read = 0;

  *headers(_table: 'network', from: number) {
    for (const { firstSeq, rows } of this.#blocks.filter((block) => block.firstSeq >= from)) {
      this.read++;
      const header = { rows, minTime: firstSeq, maxTime: firstSeq + rows, max: () => firstSeq };
      yield { firstSeq, header: header as unknown as BlockHeader };
    }
  }

  append(rows: number): void {
    this.#blocks.push({ firstSeq: this.state.next_seq, rows });
    this.state = { ...this.state, next_seq: this.state.next_seq + rows };
  }

  merge(from: number, count: number): void {
    const run = this.#blocks.slice(from, from + count);
    const [first] = run;
    if (first === undefined) return;
    const rows = run.reduce((sum, block) => sum + block.rows, 0);
    this.#blocks.splice(from, run.length, { firstSeq: first.firstSeq, rows });
    const replaced = [...(this.state.replaced ?? []), first.firstSeq].slice(-limits.toldMerges);
    this.state = { ...this.state, generation: this.state.generation + 1, replaced };
  }

  drop(count: number): void {
    this.#blocks.splice(0, count);
    this.state = { ...this.state, first_seq: this.#blocks[0]?.firstSeq ?? this.state.next_seq };
  }

  get places() {
    return this.#blocks.map(({ firstSeq, rows }) => [firstSeq, rows]);
  }

  /** Removes the list of merges, which files of earlier versions lack. */
  forgetReplaced(): void {
    const { replaced: _, ...state } = this.state;
    this.state = state;
  }
}

const placesIn = ({ count, firstSeq, rows }: BlockDirectory) =>
  Array.from({ length: count }, (_, i) => [firstSeq[i], rows[i]]);

test('after any changes of blocks, an updated directory equals a new directory', () => {
  const step = fc.record({
    append: fc.array(fc.integer({ min: 1, max: 9 })),
    merges: fc.array(fc.tuple(fc.nat(20), fc.integer({ min: 1, max: 4 })), { maxLength: 40 }),
    drop: fc.nat(3),
    told: fc.integer({ min: 0, max: 9 }).map((n) => n > 0),
    isRead: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const blocks = new Blocks();
      const directory = new BlockDirectory('network');
      for (const { append, merges, drop, told, isRead } of steps) {
        for (const rows of append) blocks.append(rows);
        for (const [from, count] of merges) blocks.merge(from, count);
        blocks.drop(drop);
        if (!told) blocks.forgetReplaced();
        if (!isRead) continue;
        directory.update(blocks as never, blocks.state);
        expect(placesIn(directory)).toEqual(blocks.places);
      }
    }),
  );
});

test('only replaced and newer blocks are read again after merges', () => {
  const blocks = new Blocks();
  const directory = new BlockDirectory('network');
  const update = () => {
    blocks.read = 0;
    directory.update(blocks as never, blocks.state);
    return blocks.read;
  };
  for (let i = 0; i < 1000; i++) blocks.append(8);
  expect(update()).toBe(1000);
  blocks.append(8);
  expect(update()).toBe(1);
  blocks.merge(990, 4);
  blocks.merge(993, 2);
  blocks.append(8);
  expect(update()).toBe(998 - 990);
  expect(update()).toBe(0);
  // More merges than the state lists.
  for (let i = 0; i <= limits.toldMerges; i++) blocks.merge(900, 2);
  expect(update()).toBe(directory.count);
  // A commit was aborted: the sequences now belong to other rows.
  blocks.state = { ...blocks.state, next_seq: blocks.state.next_seq - 1 };
  expect(update()).toBe(directory.count);
});

/**
 * Random batches, times, merges, steps, aborted transactions and starts, compared with a plain list of stored
 * events.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mulberry32 } from '../../../bench/conn-records.ts';
import { openDatabase, type RootDatabase } from '../../../src/database/lmdb.ts';
import { parseEventId } from '../../../src/events/event-id.ts';
import { BlockBuilder } from '../../../src/events/format/block-builder.ts';
import type { Table } from '../../../src/events/records.ts';
import { EventStore } from '../../../src/events/store/event-store.ts';
import type { Bounds } from '../../../src/events/store/expiry.ts';
import { Retention } from '../../../src/events/store/retention.ts';
import { inspectStore } from '../../../src/store/inspect.ts';
import { Outbox } from '../../../src/store/outbox.ts';
import { databaseFile, openTables, type Tables } from '../../../src/store/tables.ts';
import { dnsRecord } from '../../rollups/store/dns-records.ts';
import { networkRecord } from '../../store/records.ts';
import { mergeSmall } from './merge-small.ts';

const start = Date.UTC(2026, 10, 20);
const hour = 3_600_000;
const day = 24 * hour;
const maxAgeMs = 3 * day;
const bothTables = ['network', 'dns'] as const;

type Command =
  | { readonly kind: 'append'; readonly table: Table; readonly rows: number; readonly ids: number }
  | { readonly kind: 'undone'; readonly table: Table; readonly rows: number; readonly step: boolean }
  | { readonly kind: 'wait'; readonly hours: number }
  | { readonly kind: 'count' | 'drop' | 'merge' | 'step' | 'settle' | 'open' };

const table = fc.constantFrom(...bothTables);
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      table,
      rows: fc.integer({ min: 1, max: 60 }),
      ids: fc.constantFrom(0, 0, 0.3, 1),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('undone' as const),
      table,
      rows: fc.integer({ min: 1, max: 9 }),
      step: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), hours: fc.constantFrom(1, 20, 50, 80) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'count' as const,
        'drop' as const,
        'merge' as const,
        'step' as const,
        'settle' as const,
        'open' as const,
      ),
    }),
  },
);

interface Kept {
  readonly seq: number;
  readonly received: number;
  /** The explicit id. */
  readonly id: string | undefined;
}

class Undone extends Error {}

/** The parts of a store that retention needs, and a list of all events that were ever stored. */
class Model {
  readonly folder = mkdtempSync(join(tmpdir(), 'candor-retention-'));
  readonly all: Record<Table, Kept[]> = { network: [], dns: [] };
  readonly counted: Record<Table, number> = { network: 1, dns: 1 };
  readonly #bounds: Bounds;
  readonly #random: () => number;
  now = start;
  root!: RootDatabase;
  tables!: Tables;
  events!: EventStore;
  reader!: EventStore;
  retention!: Retention;
  /** As `retention`, but a step has time only for one block, and not for its ids. */
  hasty!: Retention;

  constructor(bounds: Bounds, seed: number) {
    this.#bounds = bounds;
    this.#random = mulberry32(seed);
    this.open();
  }

  open(): void {
    this.root = openDatabase(join(this.folder, databaseFile));
    this.tables = openTables(this.root);
    this.events = new EventStore(this.root);
    this.reader = new EventStore(this.root);
    const options = {
      events: this.events,
      tables: this.tables,
      outbox: new Outbox(this.tables, 100_000),
      bounds: this.#bounds,
      now: () => this.now,
      // The monotonic clock is fast enough that any time of the wall clock is accepted.
      steadyMs: () => performance.now() * 1e12,
      hasRoom: () => true,
      transaction: (write: () => void) => this.root.transactionSync(write),
    };
    this.retention = new Retention(options);
    this.hasty = new Retention({ ...options, stepMs: 0 });
  }

  async do(command: Command): Promise<void> {
    switch (command.kind) {
      case 'append':
        return this.#append(command);
      case 'undone':
        return this.#undone(command);
      case 'wait':
        this.now += command.hours * hour;
        return;
      case 'count':
        return this.#count();
      case 'merge':
        bothTables.some((one) => mergeSmall(this.events, one));
        return;
      case 'drop':
        this.#count();
        this.hasty.step();
        return;
      case 'step':
        this.retention.step();
        return;
      case 'settle':
        return this.settle();
      case 'open':
        await this.root.close();
        this.open();
    }
  }

  settle(): void {
    for (let steps = 0; this.retention.step(); steps++) expect(steps).toBeLessThan(1000);
  }

  #count(): void {
    this.root.transactionSync(() => {
      for (const table of bothTables) {
        this.counted[table] = this.events.next(table);
        this.tables.inventoryState.putSync(table, { next_seq: this.counted[table] });
      }
    });
  }

  #block(table: Table, rows: number, ids: number): { buffer: ArrayBuffer; ids: (string | undefined)[] } {
    const builder = new BlockBuilder(table, this.now);
    const chosen: (string | undefined)[] = [];
    for (let row = 0; row < rows; row++) {
      // Few ids, so that some repeat, in upper and lower case.
      const id = `0190a7b0-0000-4000-8000-${String(Math.floor(this.#random() * 150)).padStart(12, 'a')}`;
      const given = this.#random() < ids ? (this.#random() < 0.5 ? id : id.toUpperCase()) : undefined;
      chosen.push(given?.toLowerCase());
      const more = { id: given, timestamp: Math.floor(this.#random() * 4e12) };
      if (table === 'network') (builder as BlockBuilder<'network'>).add(networkRecord(more));
      else (builder as BlockBuilder<'dns'>).add(dnsRecord(more));
    }
    return { buffer: builder.finish(), ids: chosen };
  }

  #append({ table, rows, ids }: Extract<Command, { kind: 'append' }>): void {
    const block = this.#block(table, rows, ids);
    const known = new Set(this.stored(table).map(({ id }) => id));
    const fresh = block.ids.filter((id) => {
      const isNew = id === undefined || !known.has(id);
      known.add(id);
      return isNew;
    });
    const next = this.all[table].length + 1;
    const { committed, duplicates } = this.root.transactionSync(() => this.events.append(block.buffer));
    expect({ first: committed.first_seq, rows: committed.rows, duplicates }).toEqual({
      first: next,
      rows: fresh.length,
      duplicates: rows - fresh.length,
    });
    for (const [i, id] of fresh.entries()) this.all[table].push({ seq: next + i, received: this.now, id });
  }

  #undone({ table, rows, step }: Extract<Command, { kind: 'undone' }>): void {
    const block = this.#block(table, rows, 0.5);
    expect(() =>
      this.root.transactionSync(() => {
        this.events.append(block.buffer);
        if (step && this.events.oldest(table, this.now) !== undefined) this.events.dropOldest(table);
        throw new Undone();
      }),
    ).toThrow(Undone);
    this.events.reload();
  }

  /** Returns the stored part of the list: all events from the first stored sequence. */
  stored(table: Table): Kept[] {
    const { lost } = this.reader.replay(table, 0, { terms: [] }, 1);
    return this.all[table].slice(lost);
  }

  check(): void {
    for (const table of bothTables) {
      const stored = this.stored(table);
      const gone = this.all[table].slice(0, this.all[table].length - stored.length);
      const { events } = this.reader.replay(table, 0, { terms: [] }, 10_000);
      expect(events.map(({ seq, id }) => (parseEventId(id) === undefined ? [seq, id] : [seq]))).toEqual(
        stored.map(({ seq, id }) => (id === undefined ? [seq] : [seq, id])),
      );
      for (const { id, data } of events.slice(0, 20)) expect(this.reader.get(table, id)).toEqual(data);
      const there = new Set(stored.map(({ id }) => id));
      for (const { id } of gone.slice(-30))
        if (id !== undefined && !there.has(id)) expect(this.reader.get(table, id)).toBeUndefined();
      expect(gone.length).toBeLessThan(this.counted[table]);
      expect(this.reader.counts()[table]).toBe(stored.length);
    }
  }

  /**
   * Checks that all removed events are counted, that reported events are in the outbox, and that the numbers
   * add up.
   */
  async end(): Promise<void> {
    this.events.refresh();
    const gone = bothTables.map((table) => this.all[table].length - this.stored(table).length);
    const totals = this.retention.totals;
    expect(totals.reduce((sum, { events }) => sum + events, 0)).toBe(gone[0]! + gone[1]!);
    const told = new Outbox(this.tables).oldest(10_000).reduce((sum, { data }) => sum + Number(data.count), 0);
    const untold = [...this.tables.expired.getRange()].reduce((sum, { value }) => sum + (value.untold?.count ?? 0), 0);
    expect(told + untold).toBe(gone[0]! + gone[1]!);
    await this.root.close();
    const { events } = await inspectStore(this.folder, () => undefined);
    expect([events.network, events.dns]).toEqual(bothTables.map((table, i) => this.all[table].length - gone[i]!));
    rmSync(this.folder, { recursive: true });
  }
}

test.for([
  ['age', { maxAgeMs, maxBytes: 2 ** 37 }],
  ['bytes', { maxAgeMs: 0, maxBytes: 160 * 1024 }],
  ['both', { maxAgeMs, maxBytes: 160 * 1024 }],
] as const)('bounded by %s, retention removes whole old blocks, and reads match a plain list', async ([, bounds]) => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 60, maxLength: 90 }), fc.nat(), async (commands, seed) => {
      const model = new Model(bounds, seed);
      for (const one of commands) {
        const before = model.now;
        await model.do(one);
        expect(model.now).toBeGreaterThanOrEqual(before);
        model.check();
      }
      await model.do({ kind: 'count' });
      model.settle();
      model.check();
      const oldest = model.now - bounds.maxAgeMs;
      if (bounds.maxAgeMs > 0)
        for (const table of bothTables) {
          // A block has events of one day, and is removed when the last of these events is too old.
          expect(model.stored(table).filter(({ received }) => received < oldest - day)).toEqual([]);
          if (bounds.maxBytes === 2 ** 37) {
            const gone = model.all[table].length - model.stored(table).length;
            expect(model.all[table].slice(0, gone).filter(({ received }) => received >= oldest)).toEqual([]);
          }
        }
      model.events.refresh();
      const left = bothTables.some((table) => model.stored(table).length > 0);
      if (left) expect(model.events.diskBytes()).toBeLessThanOrEqual(bounds.maxBytes);
      await model.end();
    }),
    { numRuns: 3 },
  );
});

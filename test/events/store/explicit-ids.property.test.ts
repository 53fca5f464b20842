/**
 * Random blocks with new, repeated, foreign and renamed ids, with removals, merges and aborted transactions between
 * them, compared with a plain list of stored events.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openDatabase, type RootDatabase } from '../../../src/database/lmdb.ts';
import { eventId, parseEventId } from '../../../src/events/event-id.ts';
import { openBlock } from '../../../src/events/format/block.ts';
import { BlockBuilder } from '../../../src/events/format/block-builder.ts';
import type { Table } from '../../../src/events/records.ts';
import { rowId } from '../../../src/events/resource.ts';
import { scopedId } from '../../../src/events/scoped-id.ts';
import { EventStore } from '../../../src/events/store/event-store.ts';
import { dnsRecord } from '../../rollups/store/dns-records.ts';
import { networkRecord } from '../../store/records.ts';
import { mergeSmall } from './merge-small.ts';

const timestamp = 1_790_000_000_000;
const bothTables = ['network', 'dns'] as const;
const sensors = ['00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-00000000000b', undefined];

/** A row as sent. */
interface Sent {
  readonly id: string | undefined;
  readonly sensor: string | undefined;
}

/** A row as stored. */
interface Stored extends Sent {
  readonly table: Table;
  readonly seq: number;
  readonly isExplicit: boolean;
}

/** A plain list of stored events, with the documented rules for explicit ids. */
class Model {
  rows: Stored[] = [];
  readonly next = { network: 1, dns: 1 };
  readonly first = { network: 1, dns: 1 };

  append(table: Table, sent: readonly Sent[]): { kept: number[]; added: Stored[] } {
    const kept: number[] = [];
    const added: Stored[] = [];
    sent.forEach(({ id, sensor }, row) => {
      const own = id === undefined ? undefined : this.#ownId(table, added, id.toLowerCase(), sensor);
      if (own === 'repeated') return;
      const seq = this.next[table] + kept.length;
      added.push({ table, seq, sensor, id: own ?? eventId(table, timestamp, seq), isExplicit: own !== undefined });
      kept.push(row);
    });
    this.rows.push(...added);
    this.next[table] += added.length;
    return { kept, added };
  }

  #ownId(table: Table, added: readonly Stored[], given: string, sensor: string | undefined): string | undefined {
    let id = given;
    for (let attempt = 0; attempt < 8; attempt++) {
      const standing = this.#standing(table, added, id, sensor);
      if (standing === 'free') return id;
      if (standing === 'repeated') return 'repeated';
      if (sensor === undefined) return undefined;
      id = scopedId(sensor, id);
    }
    return undefined;
  }

  #standing(table: Table, added: readonly Stored[], id: string, sensor: string | undefined) {
    const beside = (row: Stored) =>
      row.sensor === undefined || sensor === undefined || row.sensor === sensor ? 'repeated' : 'foreign';
    const inBlock = added.find((row) => row.isExplicit && row.id === id);
    if (inBlock !== undefined) return beside(inBlock);
    const made = parseEventId(id);
    if (made?.table === table && made.seq > 0 && made.seq < this.first[table]) return 'repeated';
    const own = this.rows.find((row) => row.table === table && row.id === id);
    if (own !== undefined) return beside(own);
    if (made !== undefined) return 'foreign';
    const other = this.rows.find((row) => row.table !== table && row.id === id);
    return other !== undefined && beside(other) === 'foreign' ? 'foreign' : 'free';
  }

  drop(table: Table, before: number): void {
    this.first[table] = before;
    this.rows = this.rows.filter((row) => row.table !== table || row.seq >= before);
  }
}

type IdChoice =
  | { readonly kind: 'none' }
  /** An id of a small pool; after `hops` hops, the id under which a foreign event of a sensor is stored. */
  | {
      readonly kind: 'pool';
      readonly n: number;
      readonly sensor: number;
      readonly hops: number;
      readonly upper: boolean;
    }
  /** A new id. */
  | { readonly kind: 'new'; readonly id: string }
  /** An id that the service made or would make for a sequence. */
  | { readonly kind: 'made'; readonly table: Table; readonly seq: number };

type Command =
  | { readonly kind: 'append'; readonly table: Table; readonly rows: readonly { id: IdChoice; sensor: number }[] }
  | { readonly kind: 'drop' | 'merge'; readonly table: Table }
  | { readonly kind: 'forget'; readonly steps: number }
  | { readonly kind: 'abort' };

const table = fc.constantFrom(...bothTables);
const sensor = fc.nat({ max: 2 });
const seq = fc.integer({ min: 1, max: 60 });
const idChoice: fc.Arbitrary<IdChoice> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('none' as const) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('pool' as const),
      n: fc.nat({ max: 5 }),
      sensor: fc.nat({ max: 1 }),
      hops: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat({ max: 9 }) }),
      upper: fc.boolean(),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('new' as const), id: fc.uuid() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('made' as const), table, seq }) },
);
const rows = (id: fc.Arbitrary<IdChoice>, maxLength: number) =>
  fc.array(fc.record({ id, sensor }), { minLength: 1, maxLength });
const append = (kind: fc.Arbitrary<readonly { id: IdChoice; sensor: number }[]>) =>
  fc.record({ kind: fc.constant('append' as const), table, rows: kind });
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 6, arbitrary: append(rows(idChoice, 12)) },
  // Blocks whose ids are all new, and all of the same UUID version.
  {
    weight: 3,
    arbitrary: append(
      fc.oneof(
        ...[fc.uuid({ version: 4 }), fc.uuid({ version: 7 })].map((uuid) =>
          rows(
            uuid.map((id) => ({ kind: 'new', id })),
            12,
          ),
        ),
      ),
    ),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('drop' as const, 'merge' as const), table }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('forget' as const), steps: fc.nat({ max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('abort' as const) }) },
);

/** Returns a pool id. Without hops, ids of one version differ only in the last byte, which the index compares last. */
function poolId(n: number, sensor: number, hops: number): string {
  let id = `0190a7b0-0000-${n % 2 === 0 ? 4 : 7}000-8000-00000000000${n}`;
  for (let hop = 0; hop < hops; hop++) id = scopedId(sensors[sensor]!, id);
  return id;
}

function idOf(choice: IdChoice): string | undefined {
  switch (choice.kind) {
    case 'none':
      return undefined;
    case 'pool': {
      const id = poolId(choice.n, choice.sensor, choice.hops);
      return choice.upper ? id.toUpperCase() : id;
    }
    case 'new':
      return choice.id;
    case 'made':
      return eventId(choice.table, timestamp, choice.seq);
  }
}

const sentBy = (rows: readonly { id: IdChoice; sensor: number }[]): Sent[] =>
  rows.map(({ id, sensor }) => ({ id: idOf(id), sensor: sensors[sensor] }));

function blockOf(table: Table, sent: readonly Sent[]): ArrayBuffer {
  const builder = new BlockBuilder(table, timestamp);
  for (const { id, sensor } of sent) {
    builder.sensorId = sensor;
    builder.add((table === 'network' ? networkRecord : dnsRecord)({ id, timestamp } as never) as never);
  }
  return builder.finish();
}

/** An event store and its model. */
class Pair {
  readonly model = new Model();
  readonly #env: RootDatabase;
  readonly #store: EventStore;

  constructor(env: RootDatabase) {
    this.#env = env;
    this.#store = new EventStore(env);
  }

  append(table: Table, sent: readonly Sent[]): void {
    const appended = this.#env.transactionSync(() => this.#store.append(blockOf(table, sent)));
    const { kept, added } = this.model.append(table, sent);
    const { committed } = appended;
    expect(appended.kept === undefined ? [...sent.keys()] : [...appended.kept]).toEqual(kept);
    expect(appended.duplicates).toBe(sent.length - kept.length);
    expect(committed.rows).toBe(kept.length);
    const block = openBlock(committed.buffer, committed.first_seq);
    const stored = added.map((_, row) => ({
      seq: committed.first_seq + row,
      id: rowId(block, row),
      isExplicit: block.texts('id').text(row) !== undefined,
      sensor: block.texts('sensor_id').text(row),
    }));
    expect(stored).toEqual(added.map(({ table: _, ...row }) => row));
  }

  run(command: Command): void {
    switch (command.kind) {
      case 'append':
        this.append(command.table, sentBy(command.rows));
        break;
      case 'drop': {
        if (this.#store.oldest(command.table, timestamp) === undefined) break;
        this.#env.transactionSync(() => this.#store.dropOldest(command.table));
        this.model.drop(command.table, this.#store.firstStored(command.table));
        break;
      }
      case 'merge':
        mergeSmall(this.#store, command.table);
        break;
      case 'forget': {
        let { steps } = command;
        this.#env.transactionSync(() => this.#store.forgetIds(() => steps-- <= 0));
        break;
      }
      case 'abort':
        expect(() =>
          this.#env.transactionSync(() => {
            this.#store.append(
              blockOf('network', [
                { id: poolId(0, 0, 0), sensor: sensors[0] },
                { id: undefined, sensor: undefined },
              ]),
            );
            throw new Error('aborted');
          }),
        ).toThrow('aborted');
        this.#store.reload();
        break;
    }
  }

  check(): void {
    for (const { table, id, seq } of this.model.rows) expect(this.#store.find(table, id!)?.seq).toBe(seq);
    for (const table of bothTables)
      for (const id of poolIds)
        expect(this.#store.find(table, id)?.seq).toBe(
          this.model.rows.find((row) => row.table === table && row.id === id)?.seq,
        );
    this.#env.transactionSync(() => this.#store.forgetIds(() => false));
    expect(this.#store.retiredBlockCount).toBe(0);
    expect(this.#store.blockStore.counts().ids).toBe(this.model.rows.filter(({ isExplicit }) => isExplicit).length);
  }
}

const poolIds = [0, 1, 2, 3, 4, 5].flatMap((n) =>
  [0, 1].flatMap((sensor) => Array.from({ length: 10 }, (_, hops) => poolId(n, sensor, hops))),
);

async function withPair(use: (pair: Pair) => void): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'explicit-ids-'));
  const env = openDatabase(join(dir, 'siem.mdb'));
  try {
    use(new Pair(env));
  } finally {
    await env.close();
    rmSync(dir, { recursive: true });
  }
}

test('the store has the same rows and ids as a plain list of events, for random blocks', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 25 }), (commands) =>
      withPair((pair) => {
        for (const each of commands) pair.run(each);
        pair.check();
      }),
    ),
    { numRuns: 30 },
  );
}, 120_000);

test('the store has the same rows and ids as a plain list of events, for large blocks', async () => {
  // The ids are in no order, and a quarter of them share their first six bytes, as ids of the same millisecond do.
  const ids = (seed: number): (string | undefined)[] =>
    Array.from({ length: 2000 }, (_, n) => {
      const id = scopedId(`${seed}`, `${n}`);
      return n % 4 === 0 ? `0190a7b0-0000-7${id.slice(15)}` : id;
    });
  await withPair((pair) => {
    const sent = (list: readonly (string | undefined)[], sensor: number) =>
      list.map((id) => ({ id, sensor: sensors[sensor] }));
    const [first, second] = [ids(1), ids(2)];
    pair.append('network', sent(first, 0));
    pair.append('network', sent(second.with(7, first[8]!), 0));
    pair.append('network', sent(first.toReversed(), 0));
    pair.append('dns', sent(first.with(500, undefined), 1));
    pair.append('network', sent([...ids(3).slice(0, 100), ...ids(3).slice(50, 150), ...second.slice(0, 3)], 1));
    pair.check();
  });
}, 120_000);

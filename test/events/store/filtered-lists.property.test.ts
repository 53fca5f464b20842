import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { connRecords } from '../../../bench/conn-records.ts';
import { openDatabase } from '../../../src/database/lmdb.ts';
import { openBlock } from '../../../src/events/format/block.ts';
import { BlockBuilder } from '../../../src/events/format/block-builder.ts';
import type { EventFilter } from '../../../src/events/query/filter.ts';
import type { NetworkRecord } from '../../../src/events/records.ts';
import { EventStore } from '../../../src/events/store/event-store.ts';
import { olderBlock } from '../older-block.ts';
import { canonical, matches, maybeNegated } from '../oracle.ts';
import { mergeSmall } from './merge-small.ts';

const [plain] = [...connRecords(1)];
const start = 1_700_000_000_000;

const hosts = ['10.0.0.1', '10.0.0.2', '10.0.1.1', '192.0.2.7', '::1', '2001:db8::1', '2001:db8::2'];
const host = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...hosts) }, { weight: 1, arbitrary: fc.ipV4() });

interface Event {
  readonly src_ip: string;
  readonly dst_ip: string;
  readonly connection_id: string | undefined;
  readonly timestamp: number;
}

const event: fc.Arbitrary<Event> = fc.record({
  src_ip: host,
  dst_ip: host,
  connection_id: fc.option(
    fc.nat(60).map((n) => `C${n}`),
    { nil: undefined },
  ),
  timestamp: fc.integer({ min: start, max: start + 2000 }),
});

interface Append {
  readonly kind: 'append' | 'append as before';
  readonly events: readonly Event[];
  readonly times: number;
}
type Step = Append | { readonly kind: 'merge' } | { readonly kind: 'drop' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom<Append['kind'][]>('append', 'append as before'),
      events: fc.array(event, { minLength: 1, maxLength: 25 }),
      // Repetitions result in many rows with one address, as in a scan.
      times: fc.constantFrom(1, 1, 1, 40),
    }),
  },
  { weight: 2, arbitrary: fc.constant<Step>({ kind: 'merge' }) },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'drop' }) },
);

const plainTerm = fc.oneof(
  fc.record({ field: fc.constant('ip'), values: fc.tuple(fc.constantFrom(...hosts)) }),
  fc.record({
    field: fc.constantFrom('ip', 'src_ip', 'dst_ip'),
    values: fc.array(
      fc.oneof(host, fc.constantFrom('10.0.0.0/24', '10.0.0.0/8', '2001:db8::/64', '::/0', '0.0.0.0/0')),
      { minLength: 1, maxLength: 2 },
    ),
  }),
  fc.record({
    field: fc.constant('connection_id'),
    values: fc.array(
      fc.nat(60).map((n) => `C${n}`),
      { minLength: 1, maxLength: 3 },
    ),
  }),
);

const term = fc.tuple(plainTerm, fc.boolean()).map(([one, negated]) => maybeNegated(one, negated));

const filter: fc.Arbitrary<EventFilter> = fc.record(
  {
    from: fc.integer({ min: start - 1, max: start + 1000 }),
    terms: fc.array(term, { minLength: 1, maxLength: 2 }),
  },
  { requiredKeys: ['terms'] },
);

const shown = ({ src_ip, dst_ip, connection_id, timestamp }: Event) => ({
  src_ip: canonical(src_ip),
  dst_ip: canonical(dst_ip),
  ...(connection_id === undefined ? {} : { connection_id }),
  timestamp: new Date(timestamp).toISOString(),
});

it('filtered lists have the same events as a scan of all events, after any appends, merges and removals, including blocks of earlier versions', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 14 }),
      fc.array(filter, { minLength: 1, maxLength: 6 }),
      fc.constantFrom('asc', 'desc'),
      async (steps, filters, order) => {
        const folder = mkdtempSync(join(tmpdir(), 'candor-filtered-'));
        const env = openDatabase(join(folder, 'siem.mdb'));
        const writer = new EventStore(env);
        const reader = new EventStore(env);
        const stored = new Map<number, Event>();
        const check = (wanted: EventFilter) => {
          const found = [...stored]
            .filter(([, one]) => matches(wanted, shown(one)))
            .sort(([a, x], [b, y]) => x.timestamp - y.timestamp || a - b);
          if (order === 'desc') found.reverse();
          for (const page of [1, 2]) {
            const list = reader.list({ table: 'network', filter: wanted, order, per_page: 9, page });
            expect(list.total).toBe(found.length);
            const items = JSON.parse(new TextDecoder().decode(list.json)) as { attributes: Event }[];
            const attributes = found.slice(9 * (page - 1), 9 * page).map(([, one]) => shown(one));
            expect(items.map((item) => item.attributes)).toMatchObject(attributes);
          }
        };
        try {
          for (const one of steps) {
            if (one.kind === 'merge') mergeSmall(writer, 'network');
            else if (one.kind === 'drop') {
              const oldest = writer.oldest('network', start);
              if (oldest === undefined) continue;
              env.transactionSync(() => writer.dropOldest('network'));
              for (let seq = oldest.from; seq < oldest.to; seq++) stored.delete(seq);
            } else {
              const builder = new BlockBuilder('network', start);
              const events = Array.from({ length: one.times }, () => one.events).flat();
              for (const each of events) builder.add({ ...plain!, ...each } satisfies NetworkRecord);
              const made = builder.finish();
              const buffer = one.kind === 'append' ? made : olderBlock(made);
              expect(openBlock(buffer, 1).rows).toBe(events.length);
              const { committed } = env.transactionSync(() => writer.append(buffer));
              events.forEach((each, row) => void stored.set(committed.first_seq + row, each));
            }
            // The first filter is checked after every step, because the counts of blocks are cached.
            check(filters[0]!);
          }
          for (const wanted of filters) check(wanted);
        } finally {
          await env.close();
          rmSync(folder, { recursive: true });
        }
      },
    ),
    { numRuns: 25 },
  );
});

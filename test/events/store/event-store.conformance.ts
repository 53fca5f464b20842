import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connRecords, mulberry32 } from '../../../bench/conn-records.ts';
import { severities } from '../../../src/contract/vocabulary.ts';
import { parseEventId } from '../../../src/events/event-id.ts';
import type { EventFilter } from '../../../src/events/query/filter.ts';
import type { DnsRecord, NetworkRecord, Table } from '../../../src/events/records.ts';
import type { SortOrder, StoreReader } from '../../../src/store/store.ts';
import { attributesOf, dnsRecord, matches, networkRecord, recordOf, termOf } from '../oracle.ts';

type AnyRecord = NetworkRecord | DnsRecord;

/** The parts of an event store that these tests use. */
export interface EventStoreUnderTest {
  readonly reader: Pick<StoreReader, 'listEvents' | 'eventHistogram' | 'getEvent' | 'replayEvents' | 'head'>;
  /** Stores one block of events. */
  append(table: Table, records: readonly AnyRecord[]): Promise<{ firstSeq: number; rows: number; duplicates: number }>;
  /** Completes the background work of the store. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/** `receivedAt` of every event that `append` stores. */
export const receivedAt = 1_700_000_000_999;

interface Resource {
  readonly id: string;
  readonly type: string;
  readonly attributes: Record<string, unknown>;
}

/** An event, as the oracle stores it. */
interface Kept {
  readonly seq: number;
  readonly timestamp: number;
  readonly event: Record<string, unknown>;
}

/** Tests requirements that every implementation of an event store must meet. */
export function eventStoreConformance(name: string, create: () => Promise<EventStoreUnderTest>): void {
  // Properties over many queries, and lists of 160,000 events: slow machines need longer than the default.
  describe(name, { timeout: 60_000 }, () => {
    let store: EventStoreUnderTest;
    beforeEach(async () => {
      store = await create();
    });
    afterEach(() => store.close());

    const parse = (json: Uint8Array): Resource[] => JSON.parse(new TextDecoder().decode(json)) as Resource[];
    const page = (table: Table, filter: EventFilter, order: SortOrder, per_page: number, at: number | string) => {
      const where = typeof at === 'number' ? { page: at } : { page: 1, cursor: at };
      const { json, ...rest } = store.reader.listEvents({ table, filter, order, per_page, ...where });
      return { ...rest, resources: parse(json) };
    };
    const everything: EventFilter = { terms: [] };
    const seqs = (resources: readonly Resource[]) => resources.map(({ id }) => parseEventId(id)?.seq);
    const inOrder = (kept: readonly Kept[], order: SortOrder) =>
      [...kept]
        .sort((a, b) => (order === 'desc' ? -1 : 1) * (a.timestamp - b.timestamp || a.seq - b.seq))
        .map(({ seq }) => seq);

    /**
     * Appends events and returns their records for the oracle; the community id is the one that the store
     * computed.
     */
    async function keep(table: Table, records: readonly AnyRecord[]): Promise<Kept[]> {
      const { firstSeq } = await store.append(table, records);
      const replayed = store.reader.replayEvents(table, firstSeq - 1, everything, records.length).events;
      return records.map((record, row) => {
        const { community_id } = replayed[row]!.data;
        const event = {
          ...attributesOf(record, receivedAt),
          ...(community_id === undefined ? {} : { community_id }),
        };
        expect(replayed[row]).toEqual({ seq: firstSeq + row, id: replayed[row]!.id, data: event });
        return { seq: firstSeq + row, timestamp: record.timestamp, event };
      });
    }

    it('is empty before the first event', () => {
      expect(page('network', everything, 'desc', 50, 1)).toEqual({ resources: [], total: 0, page: 1 });
      expect(store.reader.head('events.network')).toBe(0);
      expect(store.reader.replayEvents('dns', 0, everything, 10)).toEqual({
        events: [],
        next: 0,
        head: 0,
        lost: 0,
      });
    });

    it('numbers events of each table from 1, without gaps', async () => {
      const [network, dns] = [fc.sample(networkRecord, 5), fc.sample(dnsRecord, 3)];
      expect(await store.append('network', network)).toEqual({ firstSeq: 1, rows: 5, duplicates: 0 });
      expect(await store.append('dns', dns)).toEqual({ firstSeq: 1, rows: 3, duplicates: 0 });
      expect(await store.append('network', network)).toEqual({ firstSeq: 6, rows: 5, duplicates: 0 });
      expect(store.reader.head('events.network')).toBe(10);
      expect(store.reader.head('events.dns')).toBe(3);
    });

    describe.each(['network', 'dns'] as const)('lists of %s events', (table) => {
      it('agree with a plain filter and sort, on every page, before and after merges', async () => {
        const kept: Kept[] = [];
        const check = () => {
          const events = kept.map(({ event }) => event);
          const queries = fc.record({
            filter: fc.record(
              {
                from: fc.constantFrom(1, 1_700_000_000_001, 1_700_000_050_000),
                to: fc.constantFrom(1, 1_700_000_060_000),
                min_severity: fc.constantFrom(...severities),
                terms: fc.array(termOf(events), { maxLength: 2 }),
              },
              { requiredKeys: ['terms'] },
            ),
            order: fc.constantFrom('asc' as const, 'desc' as const),
            perPage: fc.constantFrom(1, 7, 50, 1000),
          });
          fc.assert(
            fc.property(queries, ({ filter, order, perPage }) => {
              const wanted = inOrder(
                kept.filter(({ event }) => matches(filter, event)),
                order,
              );
              const pages = Math.min(4, Math.ceil(wanted.length / perPage));
              for (const at of [1, pages, pages + 1]) {
                if (at === 0) continue;
                const got = page(table, filter, order, perPage, at);
                expect(got.total).toBe(wanted.length);
                expect(got.page).toBe(at);
                expect(seqs(got.resources)).toEqual(wanted.slice((at - 1) * perPage, at * perPage));
                expect(got.next_cursor === undefined).toBe(at * perPage >= wanted.length);
              }
            }),
            { numRuns: 40 },
          );
        };
        for (let block = 0; block < 12; block++) {
          kept.push(
            ...(await keep(table, fc.sample<AnyRecord>(recordOf(table), { numRuns: 1 + block * 3, seed: block }))),
          );
        }
        check();
        await store.settle();
        check();
        kept.push(...(await keep(table, fc.sample<AnyRecord>(recordOf(table), { numRuns: 20, seed: 99 }))));
        check();
      });

      it('continue by cursor to the end, stable while events arrive and blocks merge', async () => {
        for (const order of ['asc', 'desc'] as const) {
          const kept: Kept[] = [];
          const before = store.reader.head(table === 'network' ? 'events.network' : 'events.dns');
          for (let block = 0; block < 20; block++) {
            kept.push(...(await keep(table, fc.sample<AnyRecord>(recordOf(table), { numRuns: 9, seed: block }))));
          }
          const filter: EventFilter = { min_severity: 'low', terms: [] };
          const first = page(table, filter, order, 7, 1);
          const seen = [...seqs(first.resources)];
          let cursor = first.next_cursor;
          for (let at = 2; cursor !== undefined; at++) {
            await store.append(table, fc.sample<AnyRecord>(recordOf(table), { numRuns: 5, seed: 1000 + at }));
            if (at % 3 === 0) await store.settle();
            const next = page(table, filter, order, 7, cursor);
            expect(next.page).toBe(at);
            expect(next.total).toBe(first.total);
            seen.push(...seqs(next.resources));
            cursor = next.next_cursor;
          }
          const old = (await earlier(table, before)).filter(({ event }) => matches(filter, event));
          const wanted = [...old, ...kept.filter(({ event }) => matches(filter, event))];
          expect(seen).toEqual(inOrder(wanted, order));
        }
      });

      /** Returns the events up to a sequence, from a replay. */
      async function earlier(table: Table, last: number): Promise<Kept[]> {
        return store.reader
          .replayEvents(table, 0, everything, last)
          .events.slice(0, last)
          .map(({ seq, data }) => {
            const event = data as unknown as Record<string, unknown>;
            return { seq, timestamp: Date.parse(event.timestamp as string), event };
          });
      }
    });

    it('rejects a cursor that is damaged, or of another query', async () => {
      await store.append('network', [...connRecords(30)]);
      const cursor = page('network', everything, 'desc', 10, 1).next_cursor!;
      const refused = expect.objectContaining({
        code: 'INVALID_REQUEST',
        details: expect.objectContaining({ field: 'cursor' }),
      });
      for (let i = 0; i < cursor.length; i++) {
        const other = cursor[i] === 'A' ? 'B' : 'A';
        expect(() => page('network', everything, 'desc', 10, cursor.slice(0, i) + other + cursor.slice(i + 1))).toThrow(
          refused,
        );
      }
      for (const text of ['', 'x', `${cursor}A`, `${cursor}=`, cursor.slice(1), ` ${cursor}`]) {
        expect(() => page('network', everything, 'desc', 10, text)).toThrow(refused);
      }
      expect(() => page('network', everything, 'asc', 10, cursor)).toThrow(refused);
      expect(() => page('dns', everything, 'desc', 10, cursor)).toThrow(refused);
      expect(() => page('network', { from: 1, terms: [] }, 'desc', 10, cursor)).toThrow(refused);
      expect(() => page('network', { terms: [{ field: 'dst_port', values: [22] }] }, 'desc', 10, cursor)).toThrow(
        refused,
      );
      const negated = { terms: [{ field: 'dst_port', values: [22], negated: true }] } as const;
      const { next_cursor } = page('network', negated, 'desc', 1, 1);
      expect(page('network', negated, 'desc', 1, next_cursor!).page).toBe(2);
      const plain = { terms: [{ field: 'dst_port', values: [22] }] };
      expect(() => page('network', plain, 'desc', 1, next_cursor!)).toThrow(refused);
    });

    describe.each(['network', 'dns'] as const)('histograms of %s events', (table) => {
      it('agree with a plain count, before and after merges', async () => {
        const kept: Kept[] = [];
        const check = () => {
          const events = kept.map(({ event }) => event);
          const queries = fc.record({
            filter: fc.record(
              {
                from: fc.constantFrom(-1, 0, 1, 1_700_000_000_001, 1_700_000_050_000),
                to: fc.constantFrom(1_700_000_000_002, 1_700_000_060_000, 8.64e15),
                min_severity: fc.constantFrom(...severities),
                terms: fc.array(termOf(events), { maxLength: 2 }),
              },
              { requiredKeys: ['terms'] },
            ),
            buckets: fc.constantFrom(1, 2, 60, 500),
          });
          const property = fc.property(queries, ({ filter, buckets }) => {
            const made = store.reader.eventHistogram({ table, filter, buckets, now: 0 });
            const wanted = kept.filter(({ event }) => matches(filter, event));
            expect(made.of).toBe(table === 'network' ? 'network_event' : 'dns_event');
            expect(made.total).toBe(wanted.length);
            expect(made.buckets.length).toBeLessThanOrEqual(buckets);
            expect(wanted.map(({ timestamp }) => timestamp >= Date.parse(made.from))).not.toContain(false);
            expect(made.buckets.filter(({ count }) => count > 0)).toEqual(
              bucketsOf(wanted, made.buckets, made.bucket_ms),
            );
          });
          fc.assert(property, { numRuns: 50 });
        };
        for (let block = 0; block < 10; block++) {
          const records = fc.sample<AnyRecord>(recordOf(table), { numRuns: 1 + block * 3, seed: block });
          // Every third block has events of one time and one severity. The header may suffice to count them.
          const same = { timestamp: 1_700_000_000_000 + block, severity: severities[block % 5]! };
          kept.push(...(await keep(table, block % 3 === 0 ? records.map((one) => ({ ...one, ...same })) : records)));
        }
        check();
        await store.settle();
        check();
      });

      /** Counts the non-empty buckets naively. */
      function bucketsOf(wanted: readonly Kept[], buckets: readonly { at: string }[], widthMs: number) {
        return buckets.flatMap(({ at }) => {
          const start = Date.parse(at);
          const inside = wanted.filter(({ timestamp }) => timestamp >= start && timestamp < start + widthMs);
          const by_severity: Record<string, number> = {};
          for (const { event } of inside) {
            const severity = String(event.severity);
            by_severity[severity] = (by_severity[severity] ?? 0) + 1;
          }
          return inside.length === 0 ? [] : [{ at, count: inside.length, by_severity }];
        });
      }
    });

    it('returns no buckets if the store is empty and no range is given', async () => {
      const histogram = (filter: EventFilter, now = 1000) => {
        const made = store.reader.eventHistogram({ table: 'dns', filter, buckets: 3, now });
        return [Date.parse(made.from), Date.parse(made.to), made.bucket_ms, made.buckets.length];
      };
      expect(histogram(everything)).toEqual([1000, 1000, 1000, 0]);
      expect(histogram({ from: 5, terms: [] })).toEqual([5, 5, 1000, 0]);
      expect(histogram({ from: 0, to: 3_600_000, terms: [] })).toEqual([0, 3_600_000, 1_800_000, 2]);
    });

    it('identifies a query by its terms, in any order', async () => {
      await store.append('network', [...connRecords(200)]);
      const one = { field: 'dst_port', values: [443, 53] };
      const two = { field: 'direction', values: ['outbound'] };
      const { next_cursor } = page('network', { terms: [one, two] }, 'desc', 10, 1);
      const turned = { terms: [two, { field: 'dst_port', values: [53, 443] }] };
      expect(page('network', turned, 'desc', 10, next_cursor!).page).toBe(2);
    });

    it('rejects filters of other tables', async () => {
      expect(() => page('dns', { terms: [{ field: 'vlan', values: [1] }] }, 'desc', 10, 1)).toThrow(
        expect.objectContaining({
          code: 'INVALID_REQUEST',
          details: expect.objectContaining({ field: 'vlan' }),
        }),
      );
    });

    it.each([
      ['times spread over a second', (random: () => number) => Math.floor(random() * 1000)],
      ['nearly all in one millisecond', (random: () => number) => (random() < 0.9 ? 500 : Math.floor(random() * 1000))],
      ['all in one millisecond', () => 500],
    ])('finds deep pages of many events, %s', async (_, offsetOf) => {
      const random = mulberry32(3);
      const [plain] = [...connRecords(1)];
      const kept: { timestamp: number; seq: number }[] = [];
      for (let block = 0; block < 20; block++) {
        const records = Array.from({ length: 8000 }, () => ({
          ...plain!,
          timestamp: 1_700_000_000_000 + offsetOf(random),
        }));
        await store.append('network', records);
        for (const { timestamp } of records) kept.push({ timestamp, seq: kept.length + 1 });
      }
      for (const order of ['asc', 'desc'] as const) {
        const sign = order === 'asc' ? 1 : -1;
        const wanted = kept
          .toSorted((a, b) => sign * (a.timestamp - b.timestamp || a.seq - b.seq))
          .map(({ seq }) => seq);
        for (const at of [1, 2, 17, 80, 100, 149, 159, 160, 161]) {
          expect(seqs(page('network', everything, order, 1000, at).resources)).toEqual(
            wanted.slice((at - 1) * 1000, at * 1000),
          );
        }
        const cursor = page('network', everything, order, 1000, 80).next_cursor!;
        expect(seqs(page('network', everything, order, 1000, cursor).resources)).toEqual(wanted.slice(80_000, 81_000));
      }
    });

    it('finds each event by its id, before and after merges', async () => {
      const records = fc.sample(networkRecord, 100);
      for (let i = 0; i < 100; i += 5) await store.append('network', records.slice(i, i + 5));
      const { resources } = page('network', everything, 'asc', 1000, 1);
      expect(resources).toHaveLength(100);
      for (let round = 0; round < 2; round++) {
        for (const { id, attributes } of resources) {
          expect(store.reader.getEvent('network', id)).toEqual(attributes);
          expect(store.reader.getEvent('network', id.toUpperCase())).toEqual(attributes);
          expect(store.reader.getEvent('dns', id)).toBeUndefined();
        }
        await store.settle();
      }
    });

    it('does not find an event by an id with another time, sequence or form', async () => {
      await store.append('network', [...connRecords(10)]);
      const [{ id }] = page('network', everything, 'asc', 1, 1).resources as [Resource];
      for (let i = 0; i < id.length; i++) {
        const other = id[i] === '1' ? '2' : '1';
        if (id[i] !== '-')
          expect(store.reader.getEvent('network', id.slice(0, i) + other + id.slice(i + 1))).toBeUndefined();
      }
      for (const text of ['', 'x', '0190a7b0-0000-7000-8000-000000000000']) {
        expect(store.reader.getEvent('network', text)).toBeUndefined();
      }
    });

    describe('explicit ids', () => {
      const [plain] = [...connRecords(1)];
      const id = (n: number) => `0190a7b0-0000-7000-8000-${String(n).padStart(12, '0')}`;
      const withId = (n: number, sensor: string) => ({ ...plain!, id: id(n), sensor });

      it('are the ids of their events', async () => {
        await store.append('network', [
          withId(1, 'a'),
          plain!,
          { ...plain!, id: 'ABCDEF00-0000-4000-8000-00000000000A' },
        ]);
        for (let round = 0; round < 2; round++) {
          expect(store.reader.getEvent('network', id(1))).toMatchObject({ sensor: 'a' });
          expect(page('network', everything, 'asc', 10, 1).resources.map((resource) => resource.id)).toEqual([
            id(1),
            expect.any(String),
            'abcdef00-0000-4000-8000-00000000000a',
          ]);
          await store.settle();
        }
      });

      it('are unique: only the first event with an id is stored, within a block and across blocks', async () => {
        await store.append('network', [withId(1, 'first'), withId(2, 'first')]);
        const second = await store.append('network', [
          withId(3, 'second'),
          withId(1, 'second'),
          plain!,
          withId(3, 'third'),
          { ...withId(2, 'second'), id: id(2).toUpperCase() },
        ]);
        expect(second).toEqual({ firstSeq: 3, rows: 2, duplicates: 3 });
        expect([1, 2, 3].map((n) => store.reader.getEvent('network', id(n))?.sensor)).toEqual([
          'first',
          'first',
          'second',
        ]);
        expect(page('network', everything, 'asc', 10, 1).total).toBe(4);
        expect(await store.append('network', [withId(1, 'x')])).toEqual({
          firstSeq: 5,
          rows: 0,
          duplicates: 1,
        });
        expect(await store.append('network', [plain!])).toEqual({ firstSeq: 5, rows: 1, duplicates: 0 });
      });

      it('of one table do not collide with ids of the other table', async () => {
        const [dns] = fc.sample(dnsRecord, 1);
        await store.append('network', [withId(1, 'a')]);
        expect(await store.append('dns', [{ ...dns!, id: id(1) }])).toMatchObject({ duplicates: 0 });
      });

      it('are duplicates if the store assigned the id to another event', async () => {
        await store.append('network', [plain!]);
        const [given] = page('network', everything, 'asc', 1, 1).resources;
        expect(await store.append('network', [{ ...plain!, id: given!.id }])).toMatchObject({
          duplicates: 1,
        });
      });
    });

    it('replays the events after a sequence, in order, up to a limit', async () => {
      const records = [...connRecords(90)];
      for (let i = 0; i < 90; i += 9) await store.append('network', records.slice(i, i + 9));
      for (let round = 0; round < 2; round++) {
        const filter: EventFilter = { terms: [{ field: 'direction', values: ['inbound'] }] };
        const wanted = records.flatMap(({ direction }, row) => (direction === 'inbound' && row >= 20 ? [row + 1] : []));
        const seen: number[] = [];
        for (let since = 20; since < 90; ) {
          const { events, next, head, lost } = store.reader.replayEvents('network', since, filter, 3);
          expect({ head, lost }).toEqual({ head: 90, lost: 0 });
          expect(events.length).toBeLessThanOrEqual(3);
          expect(next).toBeGreaterThan(since);
          for (const { seq, id, data } of events) {
            seen.push(seq);
            expect(store.reader.getEvent('network', id)).toEqual(data);
          }
          since = next;
        }
        expect(seen).toEqual(wanted);
        await store.settle();
      }
      expect(store.reader.replayEvents('network', 90, everything, 10)).toMatchObject({
        events: [],
        next: 90,
        head: 90,
      });
    });
  });
}

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { severities } from '../../../src/contract/vocabulary.ts';
import { address, members, number, oneOf, text, time } from '../../../src/database/lists/filter.ts';
import { type ListSpec, type PositionsPage, pageOf } from '../../../src/database/lists/list.ts';
import { addressOrder, rank, timeOrder } from '../../../src/database/lists/order.ts';
import type { ListQuery } from '../../../src/store/store.ts';

interface Thing {
  readonly name?: string;
  readonly severity: (typeof severities)[number];
  readonly size?: number;
  readonly seen: string;
  readonly addresses: readonly string[];
  readonly tags: readonly string[];
}

const things: ListSpec<Thing> = {
  type: 'asset',
  terms: {
    name: text((thing) => thing.name),
    severity: oneOf(severities, (thing) => thing.severity),
    size: number((thing) => thing.size),
    seen: time((thing) => thing.seen),
    ip: address((thing) => thing.addresses),
    tag: members((thing) => thing.tags),
  },
  sorts: {
    name: (thing) => thing.name,
    severity: (thing) => rank(severities, thing.severity),
    size: (thing) => thing.size,
    seen: (thing) => timeOrder(thing.seen),
    ip: (thing) => addressOrder(thing.addresses[0]),
  },
  time: (thing) => thing.seen,
  names: (thing) => [thing.name, ...thing.tags],
  severity: (thing) => thing.severity,
};

const start = Date.UTC(2026, 10, 20);
const query: ListQuery = { terms: [], sort: 'seen', order: 'desc', per_page: 10, page: 1 };
const ids = ({ shown }: PositionsPage) => shown.map(({ id }) => id);
const rowsOf = (items: readonly Thing[]) => items.map((item, n) => ({ id: `id-${String(n).padStart(4, '0')}`, item }));

const thing: fc.Arbitrary<Thing> = fc.record(
  {
    name: fc.constantFrom('a', 'b', 'ä', 'B', '', '\ud800', '😀'),
    severity: fc.constantFrom(...severities),
    size: fc.constantFrom(0, -1, 2.5, 10),
    seen: fc.integer({ min: 0, max: 20 }).map((n) => new Date(start + n).toISOString()),
    addresses: fc.subarray(['10.0.0.9', '10.0.0.10', '2001:db8::1']),
    tags: fc.subarray(['x', 'y', 'Zed']),
  },
  { requiredKeys: ['severity', 'seen', 'addresses', 'tags'] },
);

const some = <T>(...values: T[]) => fc.subarray(values, { minLength: 1 });
const wantedParts = fc.record(
  {
    from: fc.integer({ min: start - 1, max: start + 21 }),
    to: fc.integer({ min: start - 1, max: start + 21 }),
    q: fc.constantFrom('', 'a', 'Ä', 'z', 'none'),
    min_severity: fc.constantFrom(...severities),
    name: some('a', 'b', 'c'),
    size: some(0, 10, 11),
    seen: some(start, start + 3),
    ip: some('10.0.0.9', '10.0.0.10'),
    tag: some('x', 'y'),
  },
  { requiredKeys: [] },
);
type Parts = typeof wantedParts extends fc.Arbitrary<infer P> ? P : never;

/** Evaluates filters naively. */
function matches(item: Thing, { from, to, q, min_severity, name, size, seen, ip, tag }: Parts): boolean {
  const at = Date.parse(item.seen);
  const has = <T>(values: readonly T[] | undefined, ...own: (T | undefined)[]) =>
    values === undefined || own.some((value) => value !== undefined && values.includes(value));
  return (
    (from === undefined || at >= from) &&
    (to === undefined || at < to) &&
    (min_severity === undefined || severities.indexOf(item.severity) >= severities.indexOf(min_severity)) &&
    (q === undefined ||
      q === '' ||
      [item.name ?? '', ...item.tags].some((each) => each.toLowerCase().includes(q.toLowerCase()))) &&
    has(name, item.name) &&
    has(size, item.size) &&
    has(seen, at) &&
    has(ip, ...item.addresses) &&
    has(tag, ...item.tags)
  );
}

/** Sorts naively: absent values last, ids in the same direction. */
function sorted(rows: ReturnType<typeof rowsOf>, sort: string, order: 'asc' | 'desc') {
  const sign = order === 'asc' ? 1 : -1;
  return rows.toSorted((a, b) => {
    const [x, y] = [things.sorts[sort]!(a.item), things.sorts[sort]!(b.item)];
    if (x !== y && x === undefined) return 1;
    if (x !== y && y === undefined) return -1;
    if (x! < y!) return -sign;
    if (x! > y!) return sign;
    return a.id < b.id ? -sign : sign;
  });
}

/** Reads all pages, by number and by cursor, which must agree. */
function pages(rows: ReturnType<typeof rowsOf>, wanted: ListQuery): string[] {
  const all: string[] = [];
  let page = pageOf(things, rows, wanted);
  for (let number = 1; ; number++) {
    expect(page).toEqual(pageOf(things, rows, { ...wanted, page: number }));
    expect(page.page).toBe(number);
    all.push(...ids(page));
    if (page.next_cursor === undefined) break;
    page = pageOf(things, rows, { ...wanted, cursor: page.next_cursor });
  }
  expect(page.total).toBe(all.length);
  return all;
}

describe('a list', () => {
  test('has the same pages, by number and by cursor, as filtering and sorting all items', () => {
    fc.assert(
      fc.property(
        fc.array(thing, { maxLength: 60 }),
        wantedParts,
        fc.constantFrom(...Object.keys(things.sorts)),
        fc.constantFrom('asc' as const, 'desc' as const),
        fc.integer({ min: 1, max: 20 }),
        (items, parts, sort, order, per_page) => {
          const { name, size, seen, ip, tag, ...bounds } = parts;
          const terms = Object.entries({ name, size, seen, ip, tag }).flatMap(([field, values]) =>
            values === undefined ? [] : [{ field, values }],
          );
          const rows = rowsOf(items);
          const expected = sorted(
            rows.filter(({ item }) => matches(item, parts)),
            sort,
            order,
          );
          expect(pages(rows, { ...bounds, terms, sort, order, per_page, page: 1 })).toEqual(
            expected.map(({ id }) => id),
          );
        },
      ),
      { numRuns: 400 },
    );
  });

  test('is sorted by ids if all values are equal, in both directions', () => {
    const rows = rowsOf(Array.from({ length: 25 }, () => plain));
    for (const order of ['asc', 'desc'] as const) {
      const expected = rows.map(({ id }) => id);
      if (order === 'desc') expected.reverse();
      expect(pages(rows, { ...query, order, per_page: 4 })).toEqual(expected);
    }
  });

  test('continues after a cursor, even if items were added or removed in between', () => {
    const rows = rowsOf(Array.from({ length: 9 }, (_, n) => ({ ...plain, size: n })));
    const wanted = { ...query, sort: 'size', order: 'desc', per_page: 3 } as const;
    const first = pageOf(things, rows, wanted);
    expect(ids(first)).toEqual(['id-0008', 'id-0007', 'id-0006']);
    const newer = { id: 'new', item: { ...plain, size: 99 } };
    const later = [newer, ...rows.filter(({ id }) => id !== 'id-0006')];
    const second = pageOf(things, later, { ...wanted, cursor: first.next_cursor! });
    expect(ids(second)).toEqual(['id-0005', 'id-0004', 'id-0003']);
    expect(second).toMatchObject({ total: 9, page: 2 });
  });

  test('sorts long texts by their beginning, with cursors that fit their parameter', () => {
    const begin = '\u0000'.repeat(300);
    const rows = rowsOf(['c', 'a', 'b'].map((end) => ({ ...plain, name: begin + end })));
    const wanted = { ...query, sort: 'name', order: 'asc', per_page: 1 } as const;
    expect(pages(rows, wanted)).toEqual(['id-0000', 'id-0001', 'id-0002']);
    expect(pageOf(things, rows, wanted).next_cursor!.length).toBeLessThanOrEqual(2048);
  });

  test('returns an empty page past the end, with the total', () => {
    const rows = rowsOf([plain, plain]);
    expect(pageOf(things, rows, { ...query, page: 1_000_000_000, per_page: 1000 })).toEqual({
      total: 2,
      shown: [],
      page: 1_000_000_000,
    });
  });

  test('fails with CANCELLED when cancelled', () => {
    let read = 0;
    function* endless() {
      for (; ; read++) yield { id: String(read), item: plain };
    }
    let asked = 0;
    expect(() => pageOf(things, endless(), query, () => ++asked === 3)).toThrow(
      expect.objectContaining({ code: 'CANCELLED' }),
    );
    expect(read).toBe(3 * 1024 - 1);
  });

  test('returns the first of many more items than it holds in memory', () => {
    function* many() {
      for (let n = 0; n < 5000; n++) {
        yield { id: String(n).padStart(5, '0'), item: { ...plain, size: n % 97 } };
      }
    }
    const page = pageOf(things, many(), { ...query, sort: 'size', order: 'asc', per_page: 2 });
    expect(page).toMatchObject({ total: 5000, shown: [{ value: 0 }, { value: 0 }] });
    expect(ids(page)).toEqual(['00000', '00097']);
  });
});

const plain: Thing = {
  severity: 'low',
  seen: new Date(start).toISOString(),
  addresses: ['10.0.0.9'],
  tags: [],
};

describe('a list rejects', () => {
  const bad: [string, Partial<ListQuery>, string][] = [
    ['an unknown sort', { sort: 'colour' }, 'sort'],
    ['a sort by a property of every object', { sort: 'constructor' }, 'sort'],
    ['an unknown field', { terms: [{ field: 'toString', values: ['x'] }] }, 'toString'],
    ['a value outside the scale', { terms: [{ field: 'severity', values: ['worse'] }] }, 'severity'],
    ['a severity outside the scale', { min_severity: 'worse' as 'high' }, 'min_severity'],
    ['an invalid number', { terms: [{ field: 'size', values: ['big'] }] }, 'size'],
    ['an invalid time', { terms: [{ field: 'seen', values: [true] }] }, 'seen'],
    ['an invalid address', { terms: [{ field: 'ip', values: ['10.0.0'] }] }, 'ip'],
  ];
  test.for(bad)('%s', ([, changes, field]) => {
    expect(() => pageOf(things, [], { ...query, ...changes })).toThrow(refusal(field));
  });

  test('a severity filter if the resource has no severity', () => {
    const { severity: _, ...plainer } = things;
    expect(() => pageOf(plainer, [], { ...query, min_severity: 'low' })).toThrow(refusal('min_severity'));
  });
});

const refusal = (field: string) =>
  expect.objectContaining({ code: 'INVALID_REQUEST', details: expect.objectContaining({ field }) });

describe('a cursor', () => {
  const rows = rowsOf([plain, plain, plain]);
  const wanted: ListQuery = {
    ...query,
    per_page: 1,
    terms: [
      { field: 'severity', values: ['low', 'high'] },
      { field: 'ip', values: ['10.0.0.0/8'] },
    ],
  };
  const cursor = pageOf(things, rows, wanted).next_cursor!;

  test('continues with an equivalent query', () => {
    const put = {
      ...wanted,
      page: 7,
      per_page: 2,
      terms: [
        { field: 'ip', values: ['10.0.0.0/8'] },
        { field: 'severity', values: ['high', 'low'] },
      ],
    };
    expect(ids(pageOf(things, rows, { ...put, cursor }))).toEqual(['id-0001', 'id-0000']);
  });

  const others: [string, Partial<ListQuery>][] = [
    ['order', { order: 'asc' }],
    ['sort', { sort: 'size' }],
    ['terms', { terms: [{ field: 'severity', values: ['low', 'high'] }] }],
    ['values', { terms: [{ field: 'severity', values: ['low'] }, wanted.terms[1]!] }],
    ['range', { from: 0 }],
    ['end', { to: start + 1 }],
    ['text', { q: 'a' }],
    ['severity', { min_severity: 'low' }],
  ];
  test.for(others)('is rejected with another %s', ([, changes]) => {
    expect(() => pageOf(things, rows, { ...wanted, ...changes, cursor })).toThrow(refusal('cursor'));
  });

  test('is rejected for another resource', () => {
    expect(() => pageOf({ ...things, type: 'scan' }, rows, { ...wanted, cursor })).toThrow(refusal('cursor'));
  });

  test('is rejected if any part of it is damaged', () => {
    const bytes = Buffer.from(cursor, 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const damaged = Buffer.from(bytes);
      damaged[bit >> 3]! ^= 1 << (bit & 7);
      expect(() => pageOf(things, rows, { ...wanted, cursor: damaged.toString('base64url') })).toThrow(
        refusal('cursor'),
      );
    }
    for (let length = 0; length < cursor.length; length++)
      expect(() => pageOf(things, rows, { ...wanted, cursor: cursor.slice(0, length) })).toThrow(refusal('cursor'));
    for (const text of [`${cursor}A`, `${cursor}=`, ` ${cursor}`, '', 'AAAA', '\u0000', cursor + cursor])
      expect(() => pageOf(things, rows, { ...wanted, cursor: text })).toThrow(refusal('cursor'));
  });
});

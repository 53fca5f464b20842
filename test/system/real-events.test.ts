/**
 * 72 hours of a real Internet-facing host, sent as by shippers: every kind of connection and a quarter of the others.
 * Every event is returned as the contract specifies, in order, by every kind of paging; and every filter of the contract
 * agrees with a count of the lines.
 */
import { gzipSync } from 'node:zlib';
import type { TObject } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mulberry32 } from '../../bench/conn-records.ts';
import { type Service, startService, tokenFor } from '../../scripts/service.ts';
import { dnsEventQuery, networkEventQuery } from '../../src/contract/parameters.ts';
import { call, type Item, list, listAll, send } from './call.ts';
import { type Attributes, attributeOf, matcher, zeekDnsEvent, zeekNetworkEvent } from './naive.ts';
import { hasSharedData, sharedLines } from './shared-data.ts';

const random = mulberry32(20);
const below = (n: number) => Math.floor(random() * n);

/** Returns the name of the filter that a filter `not_…` negates. */
const positive = (filter: string): string => filter.replace(/^not_/, '');

interface Table {
  readonly name: 'network' | 'dns';
  readonly list: 'listNetworkEvents' | 'listDnsEvents';
  readonly get: 'getNetworkEvent' | 'getDnsEvent';
  readonly file: string;
  readonly lines: number;
  /** One in how many lines of a known kind is sent. */
  readonly every: number;
  readonly query: TObject;
  readonly normalise: (line: string, sensor: string | undefined) => Attributes;
}

const tables: readonly Table[] = [
  {
    name: 'network',
    list: 'listNetworkEvents',
    get: 'getNetworkEvent',
    file: 'zeek-internet-host/missing_host.conn.ndjson.gz',
    lines: 105_990,
    every: 4,
    query: networkEventQuery,
    normalise: zeekNetworkEvent,
  },
  {
    name: 'dns',
    list: 'listDnsEvents',
    get: 'getDnsEvent',
    file: 'zeek-internet-host/missing_host.dns.ndjson.gz',
    lines: 5_432,
    every: 1,
    query: dnsEventQuery,
    normalise: zeekDnsEvent,
  },
];

describe.skipIf(!hasSharedData)('real events', () => {
  let service: Service;
  let sensor: string;
  let viewer: string;

  beforeAll(async () => {
    service = await startService();
    sensor = await tokenFor(service, 'sensor');
    viewer = await tokenFor(service, 'viewer');
  });
  afterAll(async () => {
    expect(await service.stop()).toBe(0);
  });

  describe.each(tables)('$name', (table) => {
    /** The events of the lines, oldest first; equal milliseconds in order of arrival. */
    const wanted: Attributes[] = [];
    /** The events in the service, in that order. */
    let listed: Item[] = [];
    let total = 0;

    test('accepts every line of gzip bodies of different sizes', async () => {
      const all = sharedLines(table.file);
      expect(all.length).toBe(table.lines);
      const lines = sampleOf(table, all);
      total = lines.length;
      let accepted = 0;
      for (const [n, body] of bodies(lines).entries()) {
        const name = [undefined, 'edge-1', 'edge-2'][n % 3];
        const counts = await send(service, sensor, gzipSync(body.join('\n')), {
          headers: { 'content-encoding': 'gzip' },
          ...(name === undefined ? {} : { query: `sensor=${name}` }),
        });
        expect(counts).toEqual({ accepted: body.length, rejected: 0, ignored: 0, duplicates: 0, errors: [] });
        accepted += counts.accepted;
        wanted.push(...body.map((line) => table.normalise(line, name)));
      }
      expect(accepted).toBe(total);
      const order = new Map(wanted.map((event) => [event, Date.parse(event.timestamp as string)]));
      wanted.sort((a, b) => order.get(a)! - order.get(b)!);
      expect((await list(service, table.list, viewer, 'per_page=1')).pagination.total).toBe(total);
    });

    test('paging by cursor, oldest first, returns each event once, in order, as the contract specifies', async () => {
      listed = await listAll(service, table.list, viewer, 'sort=timestamp');
      expect(listed.length).toBe(total);
      expect(new Set(listed.map(({ id }) => id)).size).toBe(total);
      for (const [n, event] of wanted.entries()) {
        const { received_at, sensor_id, ...attributes } = listed[n]!.attributes;
        expect(sensor_id).toMatch(/^[0-9a-f-]{36}$/);
        if (JSON.stringify(sorted(attributes)) !== JSON.stringify(sorted(event)))
          expect(attributes, `event ${n}`).toEqual(event);
        // Filters on `received_at` need the value that the service set.
        wanted[n] = { ...event, received_at };
      }
    });

    test('paging by number, newest first, returns the same events in reverse', async () => {
      const newestFirst = listed.map(({ id }) => id).reverse();
      const last = Math.ceil(total / 997);
      const middle = last >> 1;
      const pages = [1, 2, 3, middle, middle + 1, last - 1, last];
      for (const page of new Set(pages)) {
        const { data, pagination } = await list(service, table.list, viewer, `per_page=997&page=${page}`);
        expect(data.map(({ id }) => id)).toEqual(newestFirst.slice(997 * (page - 1), 997 * page));
        expect(pagination).toMatchObject({
          page,
          per_page: 997,
          total,
          total_pages: last,
          has_prev: page > 1,
          has_next: page < last,
        });
      }
    });

    test('each event is found by its id', async () => {
      for (let n = 0; n < 60; n++) {
        const item = listed[below(listed.length)]!;
        const { body } = await call(service, table.get, { token: viewer, params: [item.id] });
        expect((body as { data: unknown }).data).toEqual(item);
      }
    });

    /**
     * Matches of each value of a filter, as 1 at the index of a matching event; computed once for the filter
     * and its negation.
     */
    const having = new Map<string, Uint8Array>();
    function eventsHaving(filter: string, value: string): Uint8Array {
      const key = `${filter} ${value}`;
      let known = having.get(key);
      if (known === undefined) {
        const has = matcher(table.name, filter, value);
        known = new Uint8Array(wanted.length);
        for (let n = 0; n < known.length; n++) known[n] = has(wanted[n]!) ? 1 : 0;
        having.set(key, known);
      }
      return known;
    }

    /** Compares the exact total and the newest page with the file. */
    async function expectAgreement(query: URLSearchParams): Promise<number> {
      const agreeing = new Uint8Array(wanted.length).fill(1);
      for (const name of new Set(query.keys())) {
        const oneOf = query.getAll(name).map((value) => eventsHaving(positive(name), value));
        const takes = positive(name) === name ? 1 : 0;
        for (let n = 0; n < agreeing.length; n++) {
          let has = 0;
          for (const events of oneOf) has |= events[n]!;
          if (has !== takes) agreeing[n] = 0;
        }
      }
      let total = 0;
      const newest: number[] = [];
      for (let n = agreeing.length - 1; n >= 0; n--) {
        if (agreeing[n] === 1 && ++total <= 50) newest.push(n);
      }
      const { data, pagination } = await list(service, table.list, viewer, query);
      expect(pagination.total, query.toString()).toBe(total);
      expect(
        data.map(({ id }) => id),
        query.toString(),
      ).toEqual(newest.map((n) => listed[n]!.id));
      return total;
    }

    const filters = Object.keys(table.query.properties).filter((name) => !notFilters.has(name));

    /** Values to try, by filter; `not_…` uses the same values. */
    const tried = new Map<string, string[]>();

    test.each(filters)('filter %s agrees with a count of the lines', async (filter) => {
      const values = tried.get(positive(filter)) ?? valuesOf(table, positive(filter), wanted);
      tried.set(positive(filter), values);
      expect(values.length, 'a filter without a value to try').toBeGreaterThan(0);
      const isNegated = positive(filter) !== filter;
      for (const value of isNegated ? values.slice(0, 3) : values)
        await expectAgreement(new URLSearchParams([[filter, value]]));
      if (isRepeatable(table, filter)) {
        for (let n = 0; n < (isNegated ? 1 : 2); n++) {
          const some = values.filter(() => random() < 0.5).slice(0, 5);
          await expectAgreement(new URLSearchParams(some.map((value): [string, string] => [filter, value])));
        }
      }
    });

    test('different filters are combined with AND, repeated filters with OR', async () => {
      let nonEmpty = 0;
      for (let n = 0; n < 40; n++) {
        const query = new URLSearchParams();
        const event = wanted[below(wanted.length)]!;
        for (let k = 2 + below(3); k > 0; k--) {
          const filter = filters[below(filters.length)]!;
          // Two bounds of one attribute could exclude each other, which is refused.
          if ([...query.keys()].some((name) => name === filter || isOtherBound(name, filter))) continue;
          // The value for a negated filter comes from any event.
          const from = positive(filter) === filter ? event : wanted[below(wanted.length)]!;
          const value = positive(filter) === 'ip' ? from.src_ip : from[attributeOf(positive(filter))];
          if (value === undefined || typeof value === 'object') continue;
          query.append(filter, String(value));
          if (isRepeatable(table, filter)) {
            const other = valuesOf(table, positive(filter), wanted.slice(0, 500))[0];
            if (other !== undefined) query.append(filter, other);
          }
        }
        if ((await expectAgreement(query)) > 0) nonEmpty++;
      }
      expect(nonEmpty).toBeGreaterThan(15);
    });
  });
});

/** Parameters for paging and order, which do not change what matches. */
const notFilters = new Set(['page', 'per_page', 'cursor', 'sort']);

const isRepeatable = (table: Table, filter: string) =>
  (table.query.properties[filter] as unknown as { type: string }).type === 'array';

interface ValueSchema {
  readonly type: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly items?: ValueSchema;
}

/** Returns whether both filters are bounds of one attribute. */
const isOtherBound = (a: string, b: string): boolean =>
  attributeOf(a) === attributeOf(b) && attributeOf(a) !== a && attributeOf(b) !== b;

/** Values to try: frequent, less frequent and rare ones, and some that no event has. */
function valuesOf(table: Table, filter: string, events: readonly Attributes[]): string[] {
  const parameter = table.query.properties[filter] as unknown as ValueSchema;
  const schema = parameter.items ?? parameter;
  if (schema.enum !== undefined) return [...schema.enum];
  if (schema.type === 'boolean') return ['true', 'false'];
  if (filter === 'q') return freeTexts[table.name];
  if (filter === 'from' || filter === 'to') {
    const times = [0.01, 0.5, 0.99].map((part) => events[Math.floor(part * events.length)]!.timestamp as string);
    return [...times, String(Date.parse(times[1]!)), '1970-01-01', '2030-01-01T00:00:00Z'];
  }
  if (schema.format === 'uuid') return ['018f0000-0000-7000-8000-000000000001'];
  const counts = new Map<string, number>();
  for (const event of events) {
    for (const value of present(event, attributeOf(filter))) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const byCount = [...counts].sort((a, b) => b[1] - a[1]).map(([value]) => value);
  const some = [0, 1, byCount.length >> 1, byCount.length - 1].map((n) => byCount[n]);
  const there = [...new Set(some)].filter((value) => value !== undefined);
  switch (schema.format) {
    case 'network':
      return [...there, ...networks];
    case 'time':
      return [...there, ...there.slice(0, 1).map((time) => String(Date.parse(time))), '2001-02-03T04:05:06.789Z'];
  }
  if (schema.type === 'string') return [...there, ...there.slice(0, 1).map((text) => text.toUpperCase()), 'no such'];
  return [...there, attributeOf(filter) === 'vlan' ? '4000' : '54321'];
}

function present(event: Attributes, filter: string): string[] {
  if (filter === 'ip') return [event.src_ip as string, event.dst_ip as string];
  if (filter === 'answer') return ((event.answers as { data: string }[]) ?? []).map(({ data }) => data);
  return event[filter] === undefined ? [] : [String(event[filter])];
}

const networks = [
  '64.225.56.201/32',
  '64.225.0.0/16',
  '10.0.0.0/8',
  '0.0.0.0/0',
  '128.0.0.0/1',
  '67.207.67.2/31',
  '::/0',
  'fe80::/10',
  '2001:db8::/32',
  '203.0.113.77',
  '2001:db8::1',
];

const freeTexts = {
  network: [
    'SSH',
    'tp',
    'worker-eth0',
    'edge-2',
    '64.225.56.201',
    '67.207.67.0/24',
    'no such',
    'C3ZW8c1wDLCz4w18d8',
    'C3ZW8c1w',
  ],
  dns: [
    'in-addr',
    'GOOGLE',
    'servfail',
    'ptr',
    'edge-1',
    '67.207.67.3',
    '"""',
    'ttl',
    'data',
    'type',
    'cname',
    '.com',
    'no such',
  ],
};

/**
 * Returns the first line of each kind, one in `every` of the others, and those that the free texts name. Lines of a kind
 * have the same fields, protocol, service, state and history.
 */
function sampleOf({ name, every }: Table, lines: readonly string[]): string[] {
  const kinds = new Set<string>();
  return lines.filter((line, n) => {
    const { proto, service, conn_state, history, ...others } = JSON.parse(line) as Attributes;
    const kind = JSON.stringify([proto, service, conn_state, history, Object.keys(others)]);
    const isNew = !kinds.has(kind);
    kinds.add(kind);
    return isNew || n % every === 0 || freeTexts[name].some((text) => text.length > 15 && line.includes(text));
  });
}

/** Splits lines into bodies of 0.2 to 1.6 MB; the last body may be smaller. */
function bodies(lines: readonly string[]): string[][] {
  const found: string[][] = [];
  let limit = 0;
  let bytes = Number.POSITIVE_INFINITY;
  for (const line of lines) {
    if (bytes + line.length + 1 > limit) {
      found.push([]);
      bytes = 0;
      limit = (0.2 + 1.4 * random()) * 1e6;
    }
    found.at(-1)!.push(line);
    bytes += line.length + 1;
  }
  return found;
}

const sorted = (attributes: Attributes) => Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));

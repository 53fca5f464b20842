import { describe, expect, it } from 'vitest';
import { channels } from '../../src/contract/channels.ts';
import {
  alertQuery,
  consistencyQuery,
  dnsEventFilters,
  dnsEventQuery,
  inclusionQuery,
  networkEventFilters,
  networkEventQuery,
  networkEventStreamQuery,
} from '../../src/contract/parameters.ts';
import {
  decodeQuery,
  onlyLeaf,
  parseFilters,
  parseList,
  parseParams,
  parseQuery,
  parseStream,
} from '../../src/contract/query.ts';
import { DnsEvent } from '../../src/contract/resources/dns-event.ts';
import { NetworkEvent } from '../../src/contract/resources/network-event.ts';
import { routes } from '../../src/contract/routes.ts';
import { ServiceError } from '../../src/errors.ts';

/** Returns the field and the reason of the error. */
function refusal(attempt: () => unknown): [unknown, unknown] {
  try {
    attempt();
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'INVALID_REQUEST')
      return [error.details?.field, error.details?.reason];
    throw error;
  }
  throw new Error('it was accepted');
}

const events = (search: string) => parseList(networkEventQuery, decodeQuery(search));

describe('parameters of a list', () => {
  it('have defaults', () => {
    expect(events('')).toEqual({
      filter: { terms: [] },
      sort: 'timestamp',
      order: 'desc',
      page: 1,
      per_page: 50,
    });
    expect(parseList(alertQuery, decodeQuery(''))).toMatchObject({ sort: 'last_seen', order: 'desc' });
  });

  it('are parsed into values and terms, in order', () => {
    expect(
      events(
        'src_ip=10.0.0.0/8&src_ip=fe80::1&dst_port=443&page=2&per_page=1000&sort=timestamp&q=a+b%20c&min_severity=high',
      ),
    ).toEqual({
      filter: {
        q: 'a b c',
        min_severity: 'high',
        terms: [
          { field: 'src_ip', values: ['10.0.0.0/8', 'fe80::1'] },
          { field: 'dst_port', values: [443] },
        ],
      },
      sort: 'timestamp',
      order: 'asc',
      page: 2,
      per_page: 1000,
    });
    expect(parseList(dnsEventQuery, decodeQuery('rejected=true&rejected=false&rtt_ms=1.5e-3')).filter.terms).toEqual([
      { field: 'rejected', values: [true, false] },
      { field: 'rtt_ms', values: [0.0015] },
    ]);
  });

  it.each([
    ['2026-11-20T23:15:00.123Z', 1795216500123],
    ['2026-11-20T23:15:00.123999999Z', 1795216500123],
    ['2026-11-21T00:15:00.123%2B01:00', 1795216500123],
    ['2026-11-20T23:15:00.123', 1795216500123],
    ['2026-11-20T22:45:00-00:30', 1795216500000],
    ['2026-11-20T23:15Z', 1795216500000],
    ['2026-11-20', 1795132800000],
    ['1795216500123', 1795216500123],
    ['0', 0],
    ['-1', -1],
    ['2024-02-29', 1709164800000],
    ['0001-01-01', -62135596800000],
  ])('accept the time %s', (text, time) => {
    expect(events(`from=${text}`).filter.from).toBe(time);
  });

  it('convert identifiers and hashes to lower case', () => {
    const id = '0199B1C2-0000-7000-8000-00000000ABCD';
    expect(parseList(alertQuery, decodeQuery(`asset_id=${id}`)).filter.terms[0]?.values).toEqual([id.toLowerCase()]);
    expect(parseQuery(inclusionQuery, decodeQuery(`leaf_hash=${'AB'.repeat(32)}`)).leaf_hash).toBe('ab'.repeat(32));
  });

  it.each([
    ['nonsense=1', 'nonsense', 'is not a known parameter'],
    ['__proto__=1', '__proto__', 'is not a known parameter'],
    ['constructor=1', 'constructor', 'is not a known parameter'],
    ['toString', 'toString', 'is not a known parameter'],
    ['Src_ip=1.2.3.4', 'Src_ip', 'is not a known parameter; did you mean `src_ip`?'],
    ['limit=5', 'limit', 'is not a known parameter; did you mean `per_page`?'],
    ['pageSize=5', 'pageSize', 'is not a known parameter; did you mean `per_page`?'],
    ['start=0', 'start', 'is not a known parameter; did you mean `from`?'],
    ['end=0', 'end', 'is not a known parameter; did you mean `to`?'],
    ['src=1.2.3.4', 'src', 'is not a known parameter; did you mean `src_ip`?'],
    ['destination_port=22', 'destination_port', 'is not a known parameter; did you mean `dst_port`?'],
    ['sourceAddress=1.2.3.4', 'sourceAddress', 'is not a known parameter; did you mean `src_ip`?'],
    ['serverity=high', 'serverity', 'is not a known parameter; did you mean `severity`?'],
    ['not_dst_prot=22', 'not_dst_prot', 'is not a known parameter; did you mean `not_dst_port`?'],
    ['=1', '', 'is not a known parameter'],
    ['page=0', 'page', 'must be an integer from 1 to 1000000000'],
    ['page=-1', 'page', 'must be an integer from 1 to 1000000000'],
    ['page=01', 'page', 'must be an integer from 1 to 1000000000, in digits without leading zeros'],
    ['page=1.0', 'page', 'must be an integer from 1 to 1000000000, in digits without leading zeros'],
    ['page=1e3', 'page', 'must be an integer from 1 to 1000000000, in digits without leading zeros'],
    ['page=+1', 'page', 'must be an integer from 1 to 1000000000, in digits without leading zeros'],
    ['page=0x1', 'page', 'must be an integer from 1 to 1000000000, in digits without leading zeros'],
    ['page=', 'page', 'must be an integer from 1 to 1000000000, in digits without leading zeros'],
    ['page', 'page', 'must be an integer from 1 to 1000000000, in digits without leading zeros'],
    ['page=1&page=2', 'page', 'may be given once'],
    ['per_page=1001', 'per_page', 'must be an integer from 1 to 1000'],
    ['per_page=ten', 'per_page', 'must be an integer from 1 to 1000, in digits without leading zeros'],
    ['sort=src_ip', 'sort', 'must be one of -timestamp, timestamp'],
    ['sort=--timestamp', 'sort', 'must be one of -timestamp, timestamp'],
    ['from=yesterday', 'from', 'must be an ISO 8601 time or epoch milliseconds'],
    ['from=2026-02-30', 'from', 'must be an ISO 8601 time or epoch milliseconds'],
    ['from=2026-13-01', 'from', 'must be an ISO 8601 time or epoch milliseconds'],
    ['from=2026-01-01T24:00:00Z', 'from', 'must be an ISO 8601 time or epoch milliseconds'],
    ['from=2026-01-01T23:59:60Z', 'from', 'must be an ISO 8601 time or epoch milliseconds'],
    ['from=8640000000000001', 'from', 'must be an ISO 8601 time or epoch milliseconds'],
    ['from=1.5', 'from', 'must be an ISO 8601 time or epoch milliseconds'],
    ['from=2&to=1', 'from', 'must be before to'],
    ['from=2&to=2', 'from', 'must be before to'],
    ['src_ip=1.2.3', 'src_ip', 'must be an IPv4 or IPv6 address or a CIDR block'],
    ['src_ip=1.2.3.256', 'src_ip', 'must be an IPv4 or IPv6 address or a CIDR block'],
    ['src_ip=01.2.3.4', 'src_ip', 'must be an IPv4 or IPv6 address or a CIDR block'],
    ['src_ip=1.2.3.4/33', 'src_ip', 'must be an IPv4 or IPv6 address or a CIDR block'],
    ['src_ip=1.2.3.4/08', 'src_ip', 'must be an IPv4 or IPv6 address or a CIDR block'],
    ['src_ip=1.2.3.4/', 'src_ip', 'must be an IPv4 or IPv6 address or a CIDR block'],
    ['src_ip=1.2.3.4/8/8', 'src_ip', 'must be an IPv4 or IPv6 address or a CIDR block'],
    ['ip=fe80::1%25eth0', 'ip', 'must be an IPv4 or IPv6 address or a CIDR block'],
    ['ip=1::2::3', 'ip', 'must be an IPv4 or IPv6 address or a CIDR block'],
    ['ip=1:2:3:4:5:6:7:8:9', 'ip', 'must be an IPv4 or IPv6 address or a CIDR block'],
    ['ip=::/129', 'ip', 'must be an IPv4 or IPv6 address or a CIDR block'],
    ['ip=:1:2:3:4:5:6:7', 'ip', 'must be an IPv4 or IPv6 address or a CIDR block'],
    ['dst_port=65536', 'dst_port', 'must be an integer from 0 to 65535'],
    ['dst_port=http', 'dst_port', 'must be an integer from 0 to 65535, in digits without leading zeros'],
    ['src_bytes=9007199254740992', 'src_bytes', 'must be an integer from 0 to 1000000000000000'],
    ['duration_ms=NaN', 'duration_ms', 'must be a number of at least 0'],
    ['duration_ms=1e999', 'duration_ms', 'must be a number of at least 0'],
    ['state=open&state=ajar', 'state', 'must be one of attempt, open, closed, reset, failed, refused, traffic'],
    ['severity=5', 'severity', 'must be one of informational, low, medium, high, critical'],
    ['asset_id=7', 'asset_id', 'must be a valid UUID'],
    ['transport=', 'transport', 'must not be empty'],
    [`q=${'x'.repeat(257)}`, 'q', 'must have at most 256 characters'],
    ['q=%', 'q', 'is not percent-encoded UTF-8'],
    ['q=%FF', 'q', 'is not percent-encoded UTF-8'],
    ['%=1', 'query', 'is not percent-encoded UTF-8'],
    [Array(101).fill('dst_port=1').join('&'), 'dst_port', 'may be given at most 100 times'],
  ])('refuse %s', (search, field, reason) => {
    expect(refusal(() => events(search))).toEqual([field, reason]);
  });

  it('with a long name cause a short, well-formed error', () => {
    const [field] = refusal(() => events(`${'n'.repeat(10_000)}=1`));
    expect(String(field).length).toBeLessThan(200);
    expect(String(refusal(() => events(`${'a'.repeat(99)}%F0%9F%98%80=1`))[0]).isWellFormed()).toBe(true);
  });

  it('filter by every attribute of an event', () => {
    const ofLists: Record<string, string> = {
      answers: 'answer',
      app_protocols: 'app_protocol',
      app_protocol_stored: 'app_protocol',
    };
    const attributes = (schema: typeof NetworkEvent | typeof DnsEvent) =>
      Object.keys(schema.properties).map((name) => ofLists[name] ?? name);
    expect(Object.keys({ severity: 0, ...networkEventFilters })).toEqual(
      expect.arrayContaining(attributes(NetworkEvent)),
    );
    expect(Object.keys({ severity: 0, ...dnsEventFilters })).toEqual(expect.arrayContaining(attributes(DnsEvent)));
  });
});

describe('parameters of the proofs', () => {
  const bad = [
    '',
    '-1',
    '+1',
    '01',
    '1.0',
    '1e3',
    ' 1',
    '1%20',
    '0x10',
    '9007199254740992',
    '18446744073709551616',
    'NaN',
  ];
  const proof = (search: string) => parseQuery(consistencyQuery, decodeQuery(search));

  it.each(bad)('refuse "%s"', (text) => {
    expect(refusal(() => proof(`first=${text}&second=2`))[0]).toBe('first');
    expect(refusal(() => proof(`first=1&second=${text}`))[0]).toBe('second');
    expect(refusal(() => parseQuery(inclusionQuery, decodeQuery(`leaf_index=0&tree_size=${text}`)))[0]).toBe(
      'tree_size',
    );
  });

  it('accept 0 and 2^53 − 1, and require two sizes', () => {
    expect(proof('first=0&second=9007199254740991')).toEqual({ first: 0, second: 9007199254740991 });
    expect(refusal(() => proof('first=1'))).toEqual(['second', 'is required']);
    expect(refusal(() => proof('first=1&first=1&second=2'))).toEqual(['first', 'may be given once']);
  });

  it('identify a leaf by exactly one parameter', () => {
    expect(onlyLeaf({ leaf_index: 0 })).toEqual({ leaf_index: 0 });
    expect(refusal(() => onlyLeaf({}))[0]).toBe('leaf_index');
    expect(refusal(() => onlyLeaf({ leaf_index: 0, entry_id: 'x' }))).toEqual([
      'entry_id',
      'cannot be combined with leaf_index',
    ]);
  });
});

describe('path parameters', () => {
  const alert = (id: string) => parseParams(routes.getAlert.params, new Map([['alert_id', id]]));

  it('are UUIDs of any version, in upper or lower case', () => {
    expect(alert('6BA7B810-9DAD-11D1-80B4-00C04FD430C8')).toEqual({
      alert_id: '6ba7b810-9dad-11d1-80b4-00c04fd430c8',
    });
    for (const bad of ['', '1', '6ba7b8109dad11d180b400c04fd430c8', '{6ba7b810-9dad-11d1-80b4-00c04fd430c8}'])
      expect(refusal(() => alert(bad))).toEqual(['alert_id', 'must be a valid UUID']);
  });
});

describe('filters of a subscription', () => {
  it('are equivalent in JSON and in the query of a stream', () => {
    const fromJson = parseFilters(channels['events.network'].filters, {
      min_severity: 'high',
      severity: ['high', 'critical'],
      dst_port: [80, '443'],
      ip: '10.0.0.0/8',
    });
    const search = 'min_severity=high&severity=high&severity=critical&dst_port=80&dst_port=443&ip=10.0.0.0/8&since=7';
    expect(parseStream(networkEventStreamQuery, decodeQuery(search))).toEqual({ filter: fromJson, since: 7 });
    expect(fromJson).toEqual({
      min_severity: 'high',
      terms: [
        { field: 'severity', values: ['high', 'critical'] },
        { field: 'dst_port', values: [80, 443] },
        { field: 'ip', values: ['10.0.0.0/8'] },
      ],
    });
  });

  it.each([
    [{ nonsense: 1 }, 'filters.nonsense', 'is not a known parameter'],
    [{ severity: 'worst' }, 'filters.severity', 'must be one of informational, low, medium, high, critical'],
    [{ min_severity: ['high', 'low'] }, 'filters.min_severity', 'may be given once'],
    [{ asset_id: 'x' }, 'filters.asset_id', 'must be a valid UUID'],
    [{ dst_port: null }, 'filters.dst_port', 'must be a value or an array of values'],
    [{ dst_port: [] }, 'filters.dst_port', 'must be a value or an array of values'],
    [{ dst_port: [[80]] }, 'filters.dst_port', 'must be a value or an array of values'],
    [{ dst_port: 1.5 }, 'filters.dst_port', 'must be an integer from 0 to 65535, in digits without leading zeros'],
    [{ since: 1 }, 'filters.since', 'is not a known parameter'],
    [{ page: 1 }, 'filters.page', 'is not a known parameter'],
    [JSON.parse('{"__proto__": 1}'), 'filters.__proto__', 'is not a known parameter'],
  ])('refuse %j', (filters, field, reason) => {
    expect(refusal(() => parseFilters(channels['events.network'].filters, filters))).toEqual([field, reason]);
  });
});

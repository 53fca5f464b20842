import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import { events, one, parse } from './ingesting.ts';

const conn = {
  ts: 1763683200.5,
  uid: 'Cgood',
  'id.orig_h': '10.0.0.1',
  'id.orig_p': 1234,
  'id.resp_h': '10.0.0.2',
  'id.resp_p': 80,
  proto: 'tcp',
  service: 'http',
  duration: 1.5,
  orig_bytes: 1,
  resp_bytes: 2,
  conn_state: 'SF',
  missed_bytes: 0,
  history: 'ShADadFf',
  orig_pkts: 3,
  orig_ip_bytes: 4,
  resp_pkts: 5,
  resp_ip_bytes: 6,
  community_id: '1:x',
  vlan: 7,
  orig_l2_addr: '00:00:00:00:00:01',
  resp_l2_addr: '00:00:00:00:00:02',
  _node_name: 'w1',
};
const dns = {
  ts: 1763683200.5,
  uid: 'Cdns',
  'id.orig_h': '10.0.0.1',
  'id.orig_p': 53001,
  'id.resp_h': '10.0.0.2',
  'id.resp_p': 53,
  proto: 'udp',
  trans_id: 1,
  rtt: 0.1,
  query: 'a.example',
  qclass: 1,
  qclass_name: 'C_INTERNET',
  qtype: 1,
  qtype_name: 'A',
  rcode: 0,
  rcode_name: 'NOERROR',
  AA: false,
  TC: false,
  RD: true,
  RA: true,
  answers: ['192.0.2.1'],
  TTLs: [60],
  rejected: false,
};
const good = JSON.stringify(conn);

const httpOf = { src_ip: '10.0.0.1', dest_ip: '203.0.113.7', dest_port: 80, timestamp: false };
const zeekOf = { 'id.orig_h': '10.0.0.1', 'id.resp_h': '203.0.113.7', 'id.resp_p': 443, ts: false };
const ecsOf = {
  '@timestamp': false,
  event: { category: ['network'], type: ['protocol'], kind: 'event' },
  source: { ip: '10.0.0.1' },
  destination: { ip: '203.0.113.7', port: 80 },
};

it.each([
  ['Zeek http', { ...zeekOf, _path: 'http', host: 'files.example' }],
  ['Zeek ssl', { ...zeekOf, _path: 'ssl', server_name: 'files.example', established: true }],
  ['Zeek quic', { ...zeekOf, _path: 'quic', server_name: 'files.example' }],
  ['Suricata http', { ...httpOf, event_type: 'http', http: { hostname: 'files.example' } }],
  ['Suricata tls', { ...httpOf, event_type: 'tls', tls: { sni: 'files.example' } }],
  ['Suricata quic', { ...httpOf, event_type: 'quic', quic: { sni: 'files.example' } }],
  ['HTTP in ECS', { ...ecsOf, http: {}, url: { domain: 'files.example' } }],
  ['TLS in ECS', { ...ecsOf, tls: { client: { server_name: 'files.example' } } }],
])('a record of a kind that is not stored, with an invalid time, counts only as rejected: %s', (_, record) => {
  const { answer } = parse([JSON.stringify(record), good].join('\n'));
  expect(answer).toMatchObject({ accepted: 1, rejected: 1, ignored: 0 });
});

describe('the reader of Zeek records', () => {
  const wrong: readonly unknown[] = [7.5, -1, 'text', true, [], {}, [[]], 1e21];
  const texts = ['uid', 'proto', 'service', 'conn_state', 'history', 'community_id', '_node_name', 'query'];
  const names = ['qclass_name', 'qtype_name', 'rcode_name'];
  const numbers = [
    'orig_bytes',
    'resp_bytes',
    'missed_bytes',
    'orig_pkts',
    'orig_ip_bytes',
    'resp_pkts',
    'resp_ip_bytes',
  ];
  const flags = ['AA', 'TC', 'RD', 'RA', 'rejected'];

  /**
   * Returns whether a field accepts the value. Other values must be rejected with an error that names the
   * field.
   */
  function mayBe(field: string, value: unknown): boolean {
    if ([...texts, ...names].includes(field)) return typeof value === 'string';
    if ([...numbers, 'rcode'].includes(field)) return false;
    if (flags.includes(field)) return typeof value === 'boolean';
    if (field === 'duration' || field === 'rtt') return value === 7.5;
    if (field === 'ts') return value === 7.5;
    if (field === 'answers' || field === 'TTLs') return Array.isArray(value) && value.length === 0;
    return false;
  }

  for (const [log, line] of Object.entries({ conn, dns })) {
    for (const field of Object.keys(line)) {
      it(`rejects wrong types of ${field} in ${log}, and names the field`, () => {
        for (const value of wrong) {
          const { answer } = parse([line, { ...line, _path: log, [field]: value }, line]);
          const refused = { accepted: 2, rejected: 1, errors: [{ line: 2, code: 'INVALID_REQUEST', field }] };
          expect([value, answer]).toMatchObject([value, mayBe(field, value) ? { accepted: 3, rejected: 0 } : refused]);
        }
      });
    }
  }

  it.each(['ts', 'id.orig_h', 'id.resp_h', 'proto'])('requires %s', (field) => {
    for (const value of [undefined, null, '']) {
      const { answer } = parse([{ ...conn, _path: 'conn', [field]: value }]);
      expect(answer).toMatchObject({ rejected: 1, errors: [{ field }] });
    }
  });

  it.each([
    ['orig_bytes', '1e400'],
    ['orig_bytes', '-1e400'],
    ['duration', '1e400'],
    ['ts', '1e400'],
    ['ts', '253402300800000'],
    ['ts', '-1'],
    ['id.orig_p', '65536'],
    ['vlan', '4096'],
    ['orig_bytes', '1000000000000001'],
    ['orig_ip_bytes', '9007199254740991'],
    ['missed_bytes', '18446744073709551615'],
    ['duration', '253402300800'],
  ])('rejects %s of %s', (field, value) => {
    const line = good.replace(new RegExp(`"${field}":[^,]+`), `"${field}":${value}`);
    expect(parse(line).answer).toMatchObject({ accepted: 0, errors: [{ line: 1, field }] });
  });
});

it.each([
  ['rcode', 65_535, 65_536],
  ['TTLs', [2 ** 32 - 1], [2 ** 32]],
])('%s of %j is the maximum', (field, largest, larger) => {
  expect(parse([{ ...dns, [field]: largest }]).answer).toMatchObject({ accepted: 1 });
  expect(parse([{ ...dns, [field]: larger }]).answer).toMatchObject({ accepted: 0, errors: [{ field }] });
});

it('byte counts beyond the capacity of links are stored, and the limit is reported as reached', () => {
  const of = (duration: number, orig_ip_bytes: number) => parse([{ ...conn, duration, orig_ip_bytes }]);
  const { maxLinkBytesPerMs, linkGraceMs } = limits;
  const most = maxLinkBytesPerMs * (linkGraceMs + 1500);
  expect(of(1.5, most).reached).toEqual([]);
  expect(of(1.5, most + 1)).toMatchObject({ answer: { accepted: 1 }, reached: ['maxLinkBytesPerMs'] });
  expect(events(of(1.5, most + 1))[0]).toMatchObject({ src_bytes: most + 1 });
  expect(of(3, most + 1).reached).toEqual([]);
});

describe('the reader of a body', () => {
  const garbage: readonly (readonly [string, string | Buffer])[] = [
    ['truncated JSON', good.slice(0, 100)],
    ['two objects on a line', `${good}${good}`],
    ['text that is not JSON', 'hello'],
    ['a number', '7'],
    ['null', 'null'],
    ['an array', `[${good}]`],
    ['NaN', '{"ts":NaN}'],
    ['an empty object', '{}'],
    ['an unknown record', '{"a":1}'],
    ['a log of another program', '{"ts":1763683200.5,"level":"info","msg":"hello"}'],
    ['an ECS document without a category', '{"@timestamp":"2026-01-01T00:00:00Z","event":{"kind":"event"}}'],
    ['binary data', Buffer.from([0x7b, 0, 1, 2, 0xff, 0xfe, 0x7f, 0x80])],
    ['binary data without a brace', Buffer.from([0xff, 0xfe, 0, 0x80])],
    ['NUL', '\0'],
    ['NUL in a name', '{"\0":1}'],
    ['2^20 opening brackets', '['.repeat(2 ** 20)],
    ['deep arrays', `{"_path":"conn","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['deep objects', `${'{"a":'.repeat(33)}1${'}'.repeat(33)}`],
    ['a line over the limit', `{"_path":"conn","x":"${'x'.repeat(limits.maxLineBytes)}"}`],
    ['__proto__ as a record', '{"__proto__":{"ts":1,"uid":"C"}}'],
    ['a constructor', '{"constructor":{"prototype":{"ts":1}}}'],
    ['a text over the limit', good.replace('Cgood', 'é'.repeat(limits.maxTextBytes / 2 + 1))],
  ];

  it.each(garbage)('rejects only the invalid line: %s', (_, bad) => {
    const body = Buffer.concat([Buffer.from(`${good}\n`), Buffer.from(bad), Buffer.from(`\n${good}`)]);
    const parsed = parse(body);
    expect(parsed.answer).toMatchObject({ accepted: 2, rejected: 1, ignored: 0 });
    expect(parsed.answer.errors).toMatchObject([{ line: 2, code: 'INVALID_REQUEST' }]);
    expect(events(parsed)).toHaveLength(2);
    expect(({} as Record<string, unknown>).ts).toBeUndefined();
  });

  it('accepts nesting at the limit, and does not count brackets in strings', () => {
    const nested = `${'['.repeat(limits.maxNesting - 1)}${']'.repeat(limits.maxNesting - 1)}`;
    expect(parse(good.replace('{', `{"x":${nested},`)).answer.accepted).toBe(1);
    expect(parse(good.replace('{', `{"x":[${nested}],`)).answer.rejected).toBe(1);
    expect(parse(good.replace('{', `{"x":"${'[{\\"'.repeat(100)}",`)).answer.accepted).toBe(1);
  });

  it('accepts __proto__ as a field, and changes no prototype', () => {
    expect(parse(good.replace('{', '{"__proto__":{"polluted":true},')).answer.accepted).toBe(1);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('makes texts well-formed Unicode', () => {
    expect(events(parse(good.replace('Cgood', '\\ud800x\\u0000y')))[0]?.connection_id).toBe('\ufffdx\0y');
    const latin = Buffer.concat([Buffer.from(good.slice(0, 40)), Buffer.from([0xe9]), Buffer.from(good.slice(40))]);
    expect(parse(latin).answer.accepted + parse(latin).answer.rejected).toBe(1);
    const split = good.indexOf('Cgood');
    const bad = Buffer.concat([Buffer.from(good.slice(0, split)), Buffer.from([0xff]), Buffer.from(good.slice(split))]);
    expect(events(parse(bad))[0]?.connection_id).toBe('\ufffdCgood');
    expect(one({ ...conn, uid: 'café😀' }).connection_id).toBe('café😀');
  });

  it('reports errors as well-formed text of limited length', () => {
    const { answer } = parse([{ ...conn, vlan: `\ud800${'x'.repeat(4000)}` }]);
    expect(answer.errors[0]?.reason.isWellFormed()).toBe(true);
    expect(answer.errors[0]?.reason.length).toBeLessThan(200);
  });

  it('accepts valid lines among 10,000 distinct invalid lines, and lists the first 100 errors', () => {
    const lines = Array.from({ length: 20_000 }, (_, at) => (at % 2 === 0 ? good : `{"bad":${at}`));
    const { answer } = parse(lines.join('\n'));
    expect(answer).toMatchObject({ accepted: 10_000, rejected: 10_000 });
    expect(answer.errors.map(({ line }) => line)).toEqual(Array.from({ length: 100 }, (_, at) => 2 * at + 2));
  });

  it('rejects only the line of 20 MB', () => {
    const body = gzipSync(`${good}\n{"x":"${'x'.repeat(20_000_000)}"}\n${good}`);
    expect(parse(body, { encoding: 'gzip' }).answer).toMatchObject({
      accepted: 2,
      rejected: 1,
      errors: [{ line: 2 }],
    });
  });

  it('rejects a body with more records than the limit', () => {
    expect(() => parse(Buffer.alloc(2 * limits.maxBodyRecords + 2, 'x\n'))).toThrow(
      expect.objectContaining({
        code: 'PAYLOAD_TOO_LARGE',
        details: { reason: 'too_many_records', max_records: limits.maxBodyRecords },
      }),
    );
  });
});

describe('random bytes', () => {
  const broken = fc.oneof(
    fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes)),
    fc.json().map((text) => Buffer.from(text)),
    fc.nat({ max: good.length - 1 }).map((end) => Buffer.from(good.slice(0, end))),
    fc
      .tuple(fc.constantFrom(...Object.keys(conn), ...Object.keys(dns)), fc.jsonValue())
      .map(([field, value]) => Buffer.from(JSON.stringify({ ...conn, ...dns, [field]: value }))),
    fc.constantFrom('#fields\tts', '#types\ttime\tx', '#separator \\x', '#separator ', '#', '#path').map(Buffer.from),
  );

  it('between valid lines do not cause an exception, and do not affect the valid lines', () => {
    fc.assert(
      fc.property(
        fc.array(broken, { maxLength: 8 }),
        fc.constantFrom(undefined, 'zeek', 'native', 'suricata'),
        (parts, source) => {
          const body = Buffer.concat(parts.flatMap((part) => [part, Buffer.from(`\n${good}\n`)]));
          const parsed = parse(body, source === undefined ? {} : { source: source as 'zeek' });
          const kept = events(parsed).filter((event) => event.connection_id === 'Cgood').length;
          if (source === undefined || source === 'zeek') expect(kept).toBeGreaterThanOrEqual(parts.length);
          const { accepted, rejected, ignored } = parsed.answer;
          if (source !== undefined && source !== 'zeek')
            expect(rejected + accepted + ignored).toBeGreaterThanOrEqual(parts.length);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('as a whole body cause only a ServiceError, in every encoding', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.constantFrom('gzip', 'deflate', 'br', 'zstd', 'identity'),
        fc.constantFrom('json', 'ndjson'),
        (bytes, encoding, mediaType) => {
          try {
            parse(bytes, { encoding: encoding as 'gzip', mediaType: mediaType as 'json' });
          } catch (error) {
            expect(error).toBeInstanceOf(ServiceError);
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  it('as JSON elements do not affect valid elements, and every element is counted', () => {
    fc.assert(
      fc.property(fc.array(fc.json(), { minLength: 1, maxLength: 6 }), (parts) => {
        const body = `[${parts.flatMap((part) => [part, good]).join(',')}]`;
        const { answer } = parse(body, { mediaType: 'json' });
        expect(answer.accepted).toBeGreaterThanOrEqual(parts.length);
        expect(answer.accepted + answer.rejected + answer.ignored).toBe(2 * parts.length);
      }),
      { numRuns: 100 },
    );
  });
});

import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { IngestInput } from '../../src/ingest/parse-body.ts';
import { isoMicros, isoMillis } from '../../src/ingest/time.ts';
import { limits } from '../../src/limits.ts';
import { compileHome } from '../../src/net/home-networks.ts';
import { addressBytes } from '../../src/net/ip.ts';
import { parse } from './ingesting.ts';

const line = (uid: string): string =>
  JSON.stringify({
    _path: 'conn',
    ts: 1,
    uid,
    'id.orig_h': '10.0.0.1',
    'id.resp_h': '10.0.0.2',
    proto: 'tcp',
  });

describe('bodies', () => {
  it('may have empty lines, a byte order mark, CRLF, white space and no last newline', () => {
    const body = `\ufeff\r\n${line('a')}\r\n\n   \n\t${line('b')}  \n\r\n${line('c')}`;
    expect(parse(body).answer).toEqual({ accepted: 3, rejected: 0, ignored: 0, duplicates: 0, errors: [] });
    expect(parse('').answer.accepted).toBe(0);
    expect(parse('\ufeff', { mediaType: 'json' }).answer).toMatchObject({ accepted: 0, rejected: 0 });
  });

  it('have line numbers from 1, which count empty lines', () => {
    expect(parse(`\n\n${line('a')}\nx\n`).answer.errors).toMatchObject([{ line: 4 }]);
  });

  it.each([
    ['an object', line('a'), 1, []],
    ['an object over several lines', JSON.stringify(JSON.parse(line('a')), null, 2), 1, []],
    ['an array', `[${line('a')},${line('b')}]`, 2, []],
    ['an array over several lines', `\ufeff[\n ${line('a')} ,\n ${line('b')}\n]\n`, 2, []],
    ['an empty array', '[]', 0, []],
    ['lines labelled as JSON', `${line('a')}\n${line('b')}`, 2, []],
    ['an invalid element between valid ones', `[${line('a')},{"x":},${line('b')}]`, 2, [2]],
    ['elements that are not objects', `[1,"a,]",null,[${line('a')}],${line('b')}]`, 1, [1, 2, 3, 4]],
    ['commas without elements', `[,${line('a')},]`, 1, [1, 3]],
    ['an array truncated in an element', `[${line('a')},${line('b').slice(0, 50)}`, 1, [2, 3]],
    ['an array truncated after an element', `[${line('a')}`, 1, [2]],
    ['text after the array', `[${line('a')}]x`, 1, [2]],
    ['a lone bracket', ']', 0, [1]],
  ])('may be JSON; only invalid elements are rejected: %s', (_, body, accepted, bad) => {
    const { answer } = parse(body, { mediaType: 'json' });
    expect([answer.accepted, answer.errors.map((error) => error.line)]).toEqual([accepted, bad]);
  });

  it('lose only an element that exceeds the line limit or is nested too deeply', () => {
    const long = `{"x":"${'x'.repeat(limits.maxLineBytes)}"}`;
    const deep = `${'['.repeat(1000)}${']'.repeat(1000)}`;
    const { answer } = parse(`[${line('a')},${long},{"x":${deep}},${line('b')}]`, { mediaType: 'json' });
    expect([answer.accepted, answer.errors.map((error) => error.line)]).toEqual([2, [2, 3]]);
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ] as const)('are decompressed from %s, and rejected if too large, truncated or extended', (encoding, compress) => {
    const text = `${line('a')}\n`.repeat(100);
    const parsed = parse(compress(text), { encoding, digest: true });
    expect(parsed.answer.accepted).toBe(100);
    expect(parsed.digest).toBe(parse(text, { digest: true }).digest);
    expect(() => parse(compress(Buffer.alloc(limits.maxInflatedBytes + 1)), { encoding })).toThrow(
      expect.objectContaining({ code: 'PAYLOAD_TOO_LARGE' }),
    );
    const whole = compress(text);
    const invalid = {
      code: 'INVALID_REQUEST',
      details: { field: 'body', reason: `is not valid ${encoding}` },
    };
    for (let end = 0; end < whole.length; end++) {
      expect(() => parse(whole.subarray(0, end), { encoding })).toThrow(expect.objectContaining(invalid));
    }
    expect(() => parse(Buffer.concat([whole, Buffer.from('xyz')]), { encoding })).toThrow(
      expect.objectContaining(invalid),
    );
  });

  it.each([
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ] as const)('may have several compressed parts: %s', (encoding, compress) => {
    const checked = zstdCompressSync(line('c'), { params: { [constants.ZSTD_c_checksumFlag]: 1 } });
    const skipped = Buffer.from([0x5a, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 1, 2]);
    const parts = [compress(`${line('a')}\n`), compress(`${line('b')}\n`)];
    const body = Buffer.concat(encoding === 'zstd' ? [skipped, ...parts, skipped, checked] : parts);
    expect(parse(body, { encoding }).answer.accepted).toBe(encoding === 'zstd' ? 3 : 2);
    const half = compress(Buffer.alloc(limits.maxInflatedBytes / 2 + 1));
    expect(() => parse(Buffer.concat([half, half]), { encoding })).toThrow(
      expect.objectContaining({ code: 'PAYLOAD_TOO_LARGE' }),
    );
  });

  it('have a digest that depends on the bytes and on the parameters of parsing', () => {
    const digestOf = (text: string, options: Partial<IngestInput> = {}) =>
      parse(text, { digest: true, ...options }).digest;
    const ways: Partial<IngestInput>[] = [
      {},
      { mediaType: 'json' },
      { source: 'zeek' },
      { sensor: 'zeek' },
      { table: 'network' },
      { table: 'dns' },
    ];
    const digests = ways.flatMap((way) => [digestOf(line('a'), way), digestOf(line('b'), way)]);
    expect(new Set(digests).size).toBe(2 * ways.length);
    expect(digests[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(digestOf(line('a'), { receivedAt: 1, home: ['10.0.0.0/8'] })).toBe(digests[0]);
  });

  it('have no digest unless it is requested, and no blocks without accepted records', () => {
    expect(parse('x').digest).toBeUndefined();
    expect(parse('x').blocks).toEqual([]);
  });
});

describe('home networks', () => {
  const isHome = compileHome(['10.0.0.0/8', '2001:db8::/32', '192.0.2.7']);
  it.each([
    ['10.255.255.255', true],
    ['11.0.0.0', false],
    ['::ffff:10.0.0.1', true],
    ['2001:db8:ffff::1', true],
    ['2001:db9::', false],
    ['192.0.2.7', true],
    ['192.0.2.8', false],
  ])('include %s: %s', (address, home) => {
    expect(isHome(addressBytes(address) ?? new Uint8Array(16))).toBe(home);
  });

  it('are rejected with an invalid block, and include no address if empty', () => {
    for (const block of ['10.0.0.0/33', 'x', '', '10.0.0.0/']) {
      expect(() => parse('', { home: [block] })).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }));
    }
    expect(compileHome([])(new Uint8Array(16))).toBe(false);
  });
});

describe('the parser of ISO 8601', () => {
  it.each([
    '1970-01-01T00:00:00Z',
    '2000-02-29T23:59:59.9Z',
    '2024-02-29T12:00:00.123Z',
    '2100-03-01T00:00:00.001Z',
    '9999-12-31T23:59:59.999Z',
    '2025-11-21T01:30:00+01:30',
    '2025-11-21T01:30:00-00:45',
  ])('parses %s like Date.parse', (text) => {
    expect(isoMillis(text)).toBe(Date.parse(text));
  });

  it.each([
    ['2026-01-01T00:00:00.123456+0000', Date.UTC(2026, 0, 1) + 123, 456],
    ['2026-01-01T00:00:00.123999999Z', Date.UTC(2026, 0, 1) + 123, 999],
    ['2026-01-01T02:00:00.1+02', Date.UTC(2026, 0, 1) + 100, 0],
    ['2026-01-01T00:00:00', Date.UTC(2026, 0, 1), 0],
    ['2026-01-01T23:59:60Z', Date.UTC(2026, 0, 2), 0],
  ])('parses %s, which Date.parse reads differently or rejects', (text, millis, micros) => {
    expect([isoMillis(text), isoMicros(text)]).toEqual([millis, micros]);
  });

  it.each([
    '',
    '2026',
    '2026-01-01',
    '2026-13-01T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '2100-02-29T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T00:00:61Z',
    '2026-01-01 00:00:00Z',
    '2026-01-01T00:00:00.Z',
    '2026-01-01T00:00:00+1',
    '2026-01-01T00:00:00+24:00',
    '2026-01-01T00:00:00+01:60',
    '2026-01-01T00:00:00Zx',
    '2026-01-01T00:00:00z0',
    '+2026-01-01T00:00:00Z',
    '２026-01-01T00:00:00Z',
  ])('rejects %j', (text) => {
    expect(isoMillis(text)).toBeNaN();
  });
});

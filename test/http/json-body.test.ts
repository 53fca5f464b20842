import zlib from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ContentCoding, contentCoding, readJson } from '../../src/http/json-body.ts';

function own(bytes: Uint8Array | string): ArrayBuffer {
  return new Uint8Array(Buffer.from(bytes)).buffer;
}

const compress: Record<ContentCoding, (data: Uint8Array) => Uint8Array> = {
  gzip: (data) => zlib.gzipSync(data),
  deflate: (data) => zlib.deflateSync(data),
  br: (data) => zlib.brotliCompressSync(data),
  zstd: (data) => zlib.zstdCompressSync(data),
};
const codings = Object.keys(compress) as ContentCoding[];

describe('content codings', () => {
  test.each(codings)('%s is decompressed within a limit, and rejected if invalid', async (coding) => {
    const text = JSON.stringify({ text: 'x'.repeat(900) });
    const bytes = own(compress[coding](Buffer.from(text)));
    expect(await readJson(bytes, coding, 1000)).toEqual(JSON.parse(text));
    await expect(readJson(bytes, coding, 100)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    const broken = { code: 'INVALID_REQUEST', details: { field: 'body' } };
    await expect(readJson(own('no such thing'), coding, 1000)).rejects.toMatchObject(broken);
    await expect(readJson(bytes.slice(0, -4), coding, 1000)).rejects.toMatchObject(broken);
  });

  test('deflate without its zlib wrapper is accepted as well', async () => {
    expect(await readJson(own(zlib.deflateRawSync(Buffer.from('[1]'))), 'deflate', 1000)).toEqual([1]);
  });

  test('names of codings are case-insensitive; no header and identity mean uncompressed; other codings are rejected', () => {
    expect(contentCoding(undefined)).toBeUndefined();
    expect(contentCoding('Identity')).toBeUndefined();
    expect(contentCoding('GZip')).toBe('gzip');
    expect(contentCoding('x-gzip')).toBe('gzip');
    for (const other of ['compress', 'gzip, gzip', 'toString']) {
      expect(() => contentCoding(other)).toThrow(expect.objectContaining({ code: 'UNSUPPORTED_MEDIA_TYPE' }));
    }
  });
});

describe('JSON', () => {
  const read = (text: string | Uint8Array) => readJson(own(text), undefined, 1_000_000);

  test.each(['', ' ', '{', '[1,]', '\0', '\ufeff', 'NaN', '{"a":1}x'])('rejects %j', async (text) => {
    await expect(read(text)).rejects.toMatchObject({ code: 'INVALID_REQUEST', details: { field: 'body' } });
  });

  test('rejects bytes that are not UTF-8', async () => {
    await expect(read(Uint8Array.of(0x22, 0xff, 0x22))).rejects.toMatchObject({ details: { field: 'body' } });
  });

  test('rejects nesting deeper than any body of the API', async () => {
    const deep = '['.repeat(100_000);
    await expect(read(deep)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await expect(read(`["\\ud800",${deep}`)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await expect(read(`${deep}${']'.repeat(100_000)}`)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await read(`${'['.repeat(32)}${']'.repeat(32)}`);
  });

  test('`__proto__` becomes an ordinary key, and the last of several equal keys wins', async () => {
    const value = (await read('{"__proto__":{"polluted":true},"a":1,"a":2}')) as Record<string, unknown>;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value)).toEqual(['__proto__', 'a']);
    expect(value.a).toBe(2);
    expect('polluted' in {}).toBe(false);
    const revived = (await read('{"__proto__":{"polluted":"\\ud800"}}')) as Record<string, unknown>;
    expect(Object.getPrototypeOf(revived)).toBe(Object.prototype);
  });

  test('any value round-trips, with well-formed strings', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        expect(await read(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
    expect(await read('["\\ud83d\\ude00 \\ud800 \\udc00"]')).toEqual(['😀 \ufffd \ufffd']);
  });
});

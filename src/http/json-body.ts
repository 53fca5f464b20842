import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { parseJson } from '../contract/json-text.ts';
import { invalidField, ServiceError } from '../errors.ts';

type Inflate = (data: Uint8Array, options: { maxOutputLength: number }) => Promise<Buffer>;

const inflateZlib = promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.inflate);
const inflateRaw = promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.inflateRaw);

/**
 * Returns whether the data starts with a zlib header (RFC 1950, section 2.2): the low half of the first byte is 8, and
 * the first two bytes are a number that is divisible by 31.
 */
function isZlib([method = 0, check = 0]: Uint8Array): boolean {
  return (method & 15) === 8 && ((method << 8) | check) % 31 === 0;
}

/** Content codings of request bodies (RFC 9110, section 8.4.1; zstd: RFC 8878). */
const inflaters = {
  gzip: promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.gunzip),
  // RFC 9110 requires the zlib wrapper (RFC 1950), but some senders omit it.
  deflate: (data, options) => (isZlib(data) ? inflateZlib(data, options) : inflateRaw(data, options)),
  br: promisify<Uint8Array, zlib.BrotliOptions, Buffer>(zlib.brotliDecompress),
  zstd: promisify<Uint8Array, zlib.ZstdOptions, Buffer>(zlib.zstdDecompress),
} as const satisfies Record<string, Inflate>;

export type ContentCoding = keyof typeof inflaters;

/**
 * Returns the coding in a Content-Encoding header; undefined without a coding. Throws UNSUPPORTED_MEDIA_TYPE for
 * an unsupported coding, including a list of several codings.
 */
export function contentCoding(header: string | undefined): ContentCoding | undefined {
  const name = header?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return undefined;
  const coding = name === 'x-gzip' ? 'gzip' : name;
  if (Object.hasOwn(inflaters, coding)) return coding as ContentCoding;
  throw new ServiceError('UNSUPPORTED_MEDIA_TYPE', `Content-Encoding must be gzip, deflate, br or zstd (got ${name})`, {
    field: 'content-encoding',
    reason: 'must be gzip, deflate, br or zstd',
  });
}

/**
 * Parses a request body as JSON. Strings in the result are well-formed Unicode. Throws PAYLOAD_TOO_LARGE if
 * the body inflates to more than `maxBytes`, and INVALID_REQUEST with field `body` if the body cannot be inflated
 * or is not JSON in UTF-8.
 */
export async function readJson(
  bytes: ArrayBuffer,
  coding: ContentCoding | undefined,
  maxBytes: number,
): Promise<unknown> {
  const plain = new Uint8Array(bytes);
  return parseJson(coding === undefined ? plain : await inflate(plain, coding, maxBytes));
}

/**
 * Inflates a body into a separate buffer; a body without a coding is returned unchanged. Throws the errors of
 * `readJson`, except for invalid JSON.
 */
export async function inflated(
  bytes: ArrayBuffer,
  coding: ContentCoding | undefined,
  maxBytes: number,
): Promise<ArrayBuffer> {
  if (coding === undefined) return bytes;
  const { buffer, byteOffset, byteLength } = await inflate(new Uint8Array(bytes), coding, maxBytes);
  return (buffer as ArrayBuffer).slice(byteOffset, byteOffset + byteLength);
}

async function inflate(bytes: Uint8Array, coding: ContentCoding, maxBytes: number): Promise<Uint8Array> {
  try {
    return await inflaters[coding](bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new ServiceError('PAYLOAD_TOO_LARGE', `the body inflates to more than ${maxBytes} bytes`, {
        max_bytes: maxBytes,
      });
    }
    throw invalidField('body', `is not valid ${coding}`);
  }
}

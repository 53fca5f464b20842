import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, type ZlibOptions } from 'node:zlib';
import { invalidField, ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';
import { inflateZstd } from './zstd.ts';

export const encodings = ['gzip', 'deflate', 'br', 'zstd', 'identity'] as const;
/** Supported values of Content-Encoding. */
export type Encoding = (typeof encodings)[number];

/**
 * Returns the decompressed body, or `bytes` itself if the body was not compressed. Throws PAYLOAD_TOO_LARGE above
 * `limits.maxInflatedBytes`. Throws INVALID_REQUEST if the body is not in the stated encoding, is truncated, or has
 * data after the end of its stream. A truncated body is therefore never accepted.
 */
export function inflate(bytes: Buffer, encoding: Encoding): Buffer {
  try {
    return decoders[encoding](bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new ServiceError('PAYLOAD_TOO_LARGE', `body inflates to more than ${limits.maxInflatedBytes} bytes`, {
        max_bytes: limits.maxInflatedBytes,
      });
    }
    throw invalidField('body', `is not valid ${encoding}`);
  }
}

const maxOutputLength = limits.maxInflatedBytes;

/**
 * Returns options for a body of `bytes` bytes. With zlib's default chunks of 16 kB, the output would exist
 * twice while the chunks are joined. Sensor data shrinks about tenfold, so one chunk of this size is usually
 * enough. The unused part of the chunk is never written and takes no memory.
 */
const roomy = (bytes: number) => ({
  maxOutputLength,
  chunkSize: Math.min(16 * bytes + 1024, maxOutputLength + 1),
});

const decoders = {
  identity: (bytes) => bytes,
  // gunzipSync accepts several gzip members in sequence (RFC 1952, 2.2), but no other data after them.
  gzip: (bytes) => gunzipSync(bytes, roomy(bytes.length)),
  // RFC 9110 requires the zlib wrapper (RFC 1950), but some senders omit the wrapper.
  deflate: (bytes) => toTheEnd(isZlib(bytes) ? inflateSync : inflateRawSync, bytes),
  br: (bytes) => toTheEnd(brotliDecompressSync, bytes),
  zstd: (bytes) => inflateZstd(bytes, maxOutputLength),
} as const satisfies Record<Encoding, (bytes: Buffer) => Buffer>;

/**
 * Requires that a stream ends with the body. The decoders ignore data after the end of their stream; `info`
 * contains the number of bytes read.
 */
function toTheEnd(decode: (bytes: Buffer, options: ZlibOptions) => Buffer, bytes: Buffer): Buffer {
  const { buffer, engine } = decode(bytes, { ...roomy(bytes.length), info: true }) as unknown as {
    buffer: Buffer;
    engine: { bytesWritten: number };
  };
  if (engine.bytesWritten !== bytes.length) throw new RangeError('has data after the end of the stream');
  return buffer;
}

/**
 * Returns whether the bytes have a zlib header (RFC 1950, 2.2): the low half of the first byte is 8, and the first two
 * bytes (big-endian) are a multiple of 31.
 */
function isZlib(bytes: Buffer): boolean {
  const [method = 0, check = 0] = bytes;
  return (method & 15) === 8 && ((method << 8) | check) % 31 === 0;
}

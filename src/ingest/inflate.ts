import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, type ZlibOptions } from 'node:zlib';
import { invalidField, ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';
import { inflateZstd } from './zstd.ts';

export const encodings = ['gzip', 'deflate', 'br', 'zstd', 'identity'] as const;
/** Values of Content-Encoding that bodies may come in. */
export type Encoding = (typeof encodings)[number];

/**
 * The body as it was before compression; `bytes` itself where it was not compressed.
 * PAYLOAD_TOO_LARGE past `limits.maxInflatedBytes`; INVALID_REQUEST for what is not in the encoding it claims, ends
 * early, or goes on after its end: half a body is never taken for a whole one.
 */
export function inflate(bytes: Buffer, encoding: Encoding): Buffer {
  try {
    return decoders[encoding](bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new ServiceError(
        'PAYLOAD_TOO_LARGE',
        `body inflates to more than ${limits.maxInflatedBytes} bytes`,
        { max_bytes: limits.maxInflatedBytes },
      );
    }
    throw invalidField('body', `is not valid ${encoding}`);
  }
}

const maxOutputLength = limits.maxInflatedBytes;

/**
 * Options for a body of so many bytes. In zlib's default pieces of 16 kB, what is inflated would be there twice while
 * they are put together. Sensors' lines shrink about tenfold, so one piece mostly takes all; what it has too much is
 * never touched, and costs no memory.
 */
const roomy = (bytes: number) => ({
  maxOutputLength,
  chunkSize: Math.min(16 * bytes + 1024, maxOutputLength + 1),
});

const decoders = {
  identity: (bytes) => bytes,
  // Takes several members after each other (RFC 1952, 2.2), and refuses other things after them.
  gzip: (bytes) => gunzipSync(bytes, roomy(bytes.length)),
  // RFC 9110 means the zlib wrapper (RFC 1950), but some senders leave it out.
  deflate: (bytes) => toTheEnd(isZlib(bytes) ? inflateSync : inflateRawSync, bytes),
  br: (bytes) => toTheEnd(brotliDecompressSync, bytes),
  zstd: (bytes) => inflateZstd(bytes, maxOutputLength),
} as const satisfies Record<Encoding, (bytes: Buffer) => Buffer>;

/** These ignore what comes after the end of their stream; `info` tells how far they read. */
function toTheEnd(decode: (bytes: Buffer, options: ZlibOptions) => Buffer, bytes: Buffer): Buffer {
  const { buffer, engine } = decode(bytes, { ...roomy(bytes.length), info: true }) as unknown as {
    buffer: Buffer;
    engine: { bytesWritten: number };
  };
  if (engine.bytesWritten !== bytes.length) throw new RangeError('goes on after its end');
  return buffer;
}

/** RFC 1950, 2.2: method 8 in the low half of the first byte, and the first two divide by 31. */
function isZlib(bytes: Buffer): boolean {
  const [method = 0, check = 0] = bytes;
  return (method & 15) === 8 && ((method << 8) | check) % 31 === 0;
}

import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { type LimitName, limits } from '../limits.ts';
import { weightIn } from './accept.ts';
import { type Header, jsonHeader, type Rendered } from './reply.ts';
import type { RequestHead } from './request.ts';

/** The quickest settings that are worth it, in the order of preference: zstd takes a third of the time of gzip. */
const codings = {
  zstd: promisify(zlib.zstdCompress),
  br: (bytes: Uint8Array) =>
    promisify<Uint8Array, zlib.BrotliOptions, Buffer>(zlib.brotliCompress)(bytes, {
      params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 },
    }),
  gzip: promisify<Uint8Array, Buffer>(zlib.gzip),
} as const satisfies Record<string, (bytes: Uint8Array) => Promise<Buffer>>;

const vary: Header = ['Vary', 'Accept-Encoding'];

/** Answers being compressed in libuv's threads. */
let running = 0;

/**
 * The answer, compressed where that is worth it and the client accepts it (RFC 9110, section 12.5.3). While
 * `limits.maxCompressions` are under way, answers are sent as they are.
 *
 * Only what GET and HEAD show is compressed. Secrets (tokens, passwords, keys) are shown in answers to POST alone: their
 * length must not depend on what they have in common with the rest of the answer (BREACH). An answer with an ETag is
 * small, and its ETag names these bytes and no others.
 */
export async function compress(
  { method, headers: asked }: Pick<RequestHead, 'method' | 'headers'>,
  rendered: Rendered,
  limitReached: (limit: LimitName) => void,
): Promise<Rendered> {
  const { status, headers, body } = rendered;
  if ((method !== 'GET' && method !== 'HEAD') || status !== 200 || !headers.includes(jsonHeader))
    return rendered;
  if (
    (typeof body !== 'string' && !(body instanceof Uint8Array)) ||
    headers.some(([name]) => name === 'ETag')
  )
    return rendered;
  if (body.length < limits.minCompressedBytes || body.length > limits.maxCompressedBytes) return rendered;
  const plain = { ...rendered, headers: [...headers, vary] };
  const accepted = asked.get('accept-encoding') ?? '';
  const weights = Object.keys(codings).map((name) => [name, weightIn(accepted, name)] as const);
  const [coding, weight] = weights.reduce((best, one) => (one[1] > best[1] ? one : best));
  if (weight === 0) return plain;
  if (running >= limits.maxCompressions) {
    limitReached('maxCompressions');
    return plain;
  }
  running++;
  try {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const made = await codings[coding as keyof typeof codings](bytes);
    if (made.byteLength >= bytes.byteLength) return plain;
    return { status, headers: [...plain.headers, ['Content-Encoding', coding]], body: made };
  } finally {
    running--;
  }
}

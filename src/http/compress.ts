import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { wholeListTypes } from '../contract/whole-list.ts';
import { type LimitName, limits } from '../limits.ts';
import { weightIn } from './accept.ts';
import { type Chunks, type Header, jsonHeader, type Rendered } from './reply.ts';
import type { RequestHead } from './request.ts';

const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_LGWIN, ZSTD_c_windowLog } = zlib.constants;
const brotli = { [BROTLI_PARAM_QUALITY]: 4 };

/**
 * Content codings with their fastest useful settings, in order of preference: zstd takes a third of the time
 * of gzip. Each stream has a window of at most 512 KB, and takes up to about 2 MB.
 */
const codings = {
  zstd: {
    whole: promisify(zlib.zstdCompress),
    stream: () => zlib.createZstdCompress({ params: { [ZSTD_c_windowLog]: 19 } }),
  },
  br: {
    whole: (bytes: Uint8Array) =>
      promisify<Uint8Array, zlib.BrotliOptions, Buffer>(zlib.brotliCompress)(bytes, { params: brotli }),
    stream: () => zlib.createBrotliCompress({ params: { ...brotli, [BROTLI_PARAM_LGWIN]: 19 } }),
  },
  gzip: { whole: promisify<Uint8Array, Buffer>(zlib.gzip), stream: () => zlib.createGzip() },
} as const satisfies Record<string, Coding>;

interface Coding {
  readonly whole: (bytes: Uint8Array) => Promise<Buffer>;
  readonly stream: () => Stream;
}

type Stream = zlib.ZstdCompress | zlib.BrotliCompress | zlib.Gzip;

const vary: Header = ['Vary', 'Accept-Encoding'];
const streamedTypes: readonly string[] = Object.values(wholeListTypes);

/** Number of responses being compressed in libuv's threads. */
let running = 0;

/**
 * Compresses a response if this is worthwhile and the client accepts it (RFC 9110, section 12.5.3). JSON is compressed
 * as a whole; exported lists are compressed while they are sent. With `limits.maxCompressions` in progress, responses
 * are sent uncompressed.
 *
 * Only responses to GET and HEAD are compressed. Secrets (tokens, passwords, keys) occur only in responses to
 * POST: the compressed length must not depend on text that a secret shares with the rest of the response
 * (BREACH). Exported lists contain the items of the paged lists, which have no secrets. Responses with an
 * ETag are not compressed: they are small, and the ETag identifies their exact bytes.
 */
export async function compress(
  { method, headers: asked }: Pick<RequestHead, 'method' | 'headers'>,
  rendered: Rendered,
  limitReached: (limit: LimitName) => void,
): Promise<Rendered> {
  const { status, headers, body } = rendered;
  if ((method !== 'GET' && method !== 'HEAD') || status !== 200 || body === undefined) return rendered;
  const isWhole = typeof body === 'string' || body instanceof Uint8Array;
  if (isWhole ? !isCompressed(headers, body.length) : !headers.some(([, value]) => streamedTypes.includes(value)))
    return rendered;
  const plain = { ...rendered, headers: [...headers, vary] };
  const accepted = asked.get('accept-encoding') ?? '';
  const weights = Object.keys(codings).map((name) => [name, weightIn(accepted, name)] as const);
  const [coding, weight] = weights.reduce((best, one) => (one[1] > best[1] ? one : best));
  if (weight === 0) return plain;
  if (running >= limits.maxCompressions) {
    limitReached('maxCompressions');
    return plain;
  }
  const { whole, stream }: Coding = codings[coding as keyof typeof codings];
  const coded: Header[] = [...plain.headers, ['Content-Encoding', coding]];
  running++;
  if (!isWhole) return { status, headers: coded, body: new CompressedChunks(body, stream()) };
  try {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const made = await whole(bytes);
    return made.byteLength >= bytes.byteLength ? plain : { status, headers: coded, body: made };
  } finally {
    running--;
  }
}

const isCompressed = (headers: readonly Header[], length: number): boolean =>
  headers.includes(jsonHeader) &&
  !headers.some(([name]) => name === 'ETag') &&
  length >= limits.minCompressedBytes &&
  length <= limits.maxCompressedBytes;

/**
 * Compresses each part of a body on request, so that memory holds only the stream's window and the current
 * part.
 */
class CompressedChunks implements Chunks {
  readonly #plain: Chunks;
  readonly #stream: Stream;
  #made: Buffer[] = [];
  #isClosed = false;

  constructor(plain: Chunks, stream: Stream) {
    this.#plain = plain;
    this.#stream = stream;
    stream.on('data', (bytes: Buffer) => this.#made.push(bytes));
    // `next` rejects with the error. Without a listener, the error would end the process.
    stream.on('error', () => undefined);
  }

  async next(): Promise<Uint8Array | undefined> {
    if (this.#isClosed || this.#stream.writableEnded) return undefined;
    const part = await this.#plain.next();
    if (this.#isClosed || part?.byteLength === 0) return part;
    await new Promise<void>((resolve, reject) => {
      const done = (error?: Error | null) => (error ? reject(error) : resolve());
      if (part === undefined) this.#stream.once('end', done).once('error', done).end();
      // Flushes, so that the client sees lines as they are found. Copies the part, because zlib's thread may still read
      // the part after `close` has freed its memory.
      else this.#stream.write(Buffer.from(part), (error) => (error ? reject(error) : this.#stream.flush(done)));
    });
    const made = this.#made;
    this.#made = [];
    return Buffer.concat(made);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    running--;
    this.#stream.destroy();
    this.#plain.close();
  }
}

import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Logger } from 'pino';
import { type LimitName, limits } from '../limits.ts';

/** The built console, in memory. */
export interface ConsoleFiles {
  /** The HTML document of all pages. */
  readonly document: ConsoleFile;
  /** The files that the document loads. Their names depend on their content. */
  readonly files: readonly ConsoleFile[];
}

export interface ConsoleFile {
  /** The path in a URL: `/console/main-BxY3k9aQ.js`. */
  readonly path: string;
  readonly mediaType: string;
  /** The same content in several codings, in order of preference; the last one is uncompressed. */
  readonly variants: readonly Variant[];
}

export interface Variant {
  /** The value of `Content-Encoding`. */
  readonly coding: Coding | undefined;
  readonly bytes: Buffer;
  /** A strong validator of exactly these bytes (RFC 9110, section 8.8.1), with its quotes. */
  readonly etag: string;
}

type Coding = 'br' | 'gzip';

/** Media types by file extension. Only text is compressed; the other types are already compressed. */
const types: Readonly<Record<string, { readonly mediaType: string; readonly text: boolean }>> = {
  '.css': { mediaType: 'text/css; charset=utf-8', text: true },
  '.js': { mediaType: 'text/javascript; charset=utf-8', text: true },
  '.json': { mediaType: 'application/json', text: true },
  '.svg': { mediaType: 'image/svg+xml', text: true },
  '.png': { mediaType: 'image/png', text: false },
  '.woff2': { mediaType: 'font/woff2', text: false },
};

/** Pattern of file names of the build. Other files are ignored. */
const plainName = /^\w[\w.-]*$/;

/**
 * Fast compression settings for files that the build did not compress. The build uses the strongest settings.
 */
const codings = {
  br: {
    suffix: '.br',
    compress: (plain: Buffer) => promisify(brotliCompress)(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  },
  gzip: { suffix: '.gz', compress: (plain: Buffer) => promisify(gzip)(plain) },
} as const satisfies Record<Coding, object>;

class TooLarge extends Error {
  override readonly name = 'TooLarge';
  readonly limit: LimitName;

  constructor(limit: 'maxConsoleFiles' | 'maxConsoleBytes', had: number) {
    super(`${had} exceeds ${limit} (${limits[limit]})`);
    this.limit = limit;
  }
}

/**
 * Reads the output folder of the console's build: `index.html`, and the files under `console/`, some with
 * `.br` and `.gz` variants. The folder is read only once. If the folder is missing, too large or
 * unreadable, logs the reason and returns undefined: the service runs without the console.
 */
export async function readConsole(
  folder: string,
  { log, limitReached }: { readonly log: Logger; readonly limitReached: (limit: LimitName) => void },
): Promise<ConsoleFiles | undefined> {
  try {
    return await read(folder);
  } catch (error) {
    if (error instanceof TooLarge) limitReached(error.limit);
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      log.info({ folder }, 'the console has not been built: run npm run build:console');
    else log.error({ folder, err: error }, 'cannot read the console; running without it');
    return undefined;
  }
}

async function read(folder: string): Promise<ConsoleFiles> {
  const index = join(folder, 'index.html');
  const assets = join(folder, 'console');
  const names = (await readdir(assets, { withFileTypes: true }))
    .filter((entry) => entry.isFile() && plainName.test(entry.name))
    .map((entry) => entry.name);
  await requireRoom([index, ...names.map((name) => join(assets, name))]);

  const document = await readFile(index);
  const files: ConsoleFile[] = [];
  for (const name of names) {
    const type = types[extname(name)];
    if (type === undefined) continue;
    const plain = await readFile(join(assets, name));
    const variants = type.text
      ? await variantsOf(plain, async (coding) => {
          const built = name + codings[coding].suffix;
          return names.includes(built) ? readFile(join(assets, built)) : codings[coding].compress(plain);
        })
      : [variant(undefined, plain)];
    files.push({ path: `/console/${name}`, mediaType: type.mediaType, variants });
  }
  return {
    document: {
      path: '/',
      mediaType: 'text/html; charset=utf-8',
      // The document's name does not depend on its content, so compressed files next to it may belong to
      // another build.
      variants: await variantsOf(document, (coding) => codings[coding].compress(document)),
    },
    files,
  };
}

async function requireRoom(paths: readonly string[]): Promise<void> {
  if (paths.length > limits.maxConsoleFiles) throw new TooLarge('maxConsoleFiles', paths.length);
  let bytes = 0;
  for (const path of paths) bytes += (await stat(path)).size;
  if (bytes > limits.maxConsoleBytes) throw new TooLarge('maxConsoleBytes', bytes);
}

async function variantsOf(plain: Buffer, compressed: (coding: Coding) => Promise<Buffer>): Promise<Variant[]> {
  const variants: Variant[] = [];
  for (const coding of ['br', 'gzip'] as const) {
    const bytes = await compressed(coding);
    if (bytes.length < plain.length) variants.push(variant(coding, bytes));
  }
  return [...variants, variant(undefined, plain)];
}

function variant(coding: Coding | undefined, bytes: Buffer): Variant {
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
  return { coding, bytes, etag };
}

import { consolePages } from '../contract/console-pages.ts';
import { weightIn } from './accept.ts';
import type { ConsoleFile, ConsoleFiles } from './console-files.ts';
import type { Call, Endpoint } from './endpoint.ts';
import { pageHeaders } from './page-headers.ts';
import type { Header, Reply } from './reply.ts';

const missing =
  'The console has not been built. Run `npm run build:console` in the folder of the project, then start the service again.\n';

/** A year is what caches take at the most (RFC 9111, section 1.2.2): another content has another name. */
const forGood: Header = ['Cache-Control', 'public, max-age=31536000, immutable'];

/**
 * The pages and files of the console: for anybody, without an operation of the API. Undefined stands for a console that
 * was not built; its pages say so.
 */
export function consoleEndpoints(built: ConsoleFiles | undefined): Endpoint[] {
  return [
    ...consolePages.map((page) => pageAt(`/${page}`, built, 'Accept-Encoding')),
    // Not always answered: a slow reader of a large file would stay. Who was here before has them in the cache.
    ...(built?.files ?? []).map((file) =>
      endpointAt(file.path, ({ head }) => fileReply(file, head, [forGood], 'Accept-Encoding')),
    ),
  ];
}

/** The console's first page, for who prefers a page at `/`. */
export const firstPage = (built: ConsoleFiles | undefined): Endpoint =>
  pageAt('/', built, 'Accept, Accept-Encoding');

function pageAt(path: string, built: ConsoleFiles | undefined, vary: string): Endpoint {
  const answer = (head: Call['head']): Reply =>
    built === undefined
      ? {
          kind: 'bare',
          status: 404,
          mediaType: 'text/plain; charset=utf-8',
          body: missing,
          headers: [['Vary', vary]],
        }
      : fileReply(built.document, head, pageHeaders, vary);
  return { ...endpointAt(path, ({ head }) => answer(head)), alwaysAnswered: true };
}

const endpointAt = (path: string, run: Endpoint['run']): Endpoint => ({
  operation: 'console',
  method: 'GET',
  path,
  access: 'public',
  run,
});

/** A file in the best coding that the client takes, or that it has it already (RFC 9110, section 13.1.2). */
function fileReply(
  { mediaType, variants }: ConsoleFile,
  { headers }: Call['head'],
  own: readonly Header[],
  vary: string,
): Reply {
  const accepted = headers.get('accept-encoding') ?? '';
  const { coding, bytes, etag } = variants.find(
    (one) => one.coding === undefined || weightIn(accepted, one.coding) > 0,
  )!;
  // With 304 too: browsers take the headers of it for those that they have.
  const all: Header[] = [['ETag', etag], ['Vary', vary], ...own];
  if (isIn(headers.get('if-none-match'), etag)) return { kind: 'empty', status: 304, headers: all };
  if (coding !== undefined) all.push(['Content-Encoding', coding]);
  return { kind: 'bare', status: 200, mediaType, body: bytes, headers: all };
}

/** A proxy that compresses makes a validator weak; here that counts as the same. */
const isIn = (list: string | undefined, etag: string): boolean =>
  (list ?? '').split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag);

import { consolePages } from '../contract/console-pages.ts';
import { weightIn } from './accept.ts';
import type { ConsoleFile, ConsoleFiles } from './console-files.ts';
import type { Call, Endpoint } from './endpoint.ts';
import { pageHeaders } from './page-headers.ts';
import type { Header, Reply } from './reply.ts';

const missing =
  'The console has not been built. Run `npm run build:console` in the folder of the project, then start the service again.\n';

/**
 * Allows caching for a year, the usual value for files that never change: a file with changed content has a new name.
 */
const forGood: Header = ['Cache-Control', 'public, max-age=31536000, immutable'];

/**
 * Returns the endpoints of the console's pages and files, which are public and not part of the API. If
 * `built` is undefined, the console was not built, and its pages respond 404 with a text that explains this.
 */
export function consoleEndpoints(built: ConsoleFiles | undefined): Endpoint[] {
  return [
    ...consolePages.map((page) => pageAt(`/${page}`, built, 'Accept-Encoding')),
    // Files are not `alwaysAnswered`, because a slow reader of a large file would occupy the server.
    // Returning visitors have the files in their cache.
    ...(built?.files ?? []).map((file) =>
      endpointAt(file.path, ({ head }) => fileReply(file, head, [forGood], 'Accept-Encoding')),
    ),
  ];
}

/** Returns the endpoint of the console's first page, for clients that prefer HTML at `/`. */
export const firstPage = (built: ConsoleFiles | undefined): Endpoint => pageAt('/', built, 'Accept, Accept-Encoding');

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

/**
 * Returns the file in the best coding that the client accepts, or 304 if the client already has it (RFC 9110,
 * section 13.1.2).
 */
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
  // These headers are sent with 304 too, because browsers update their stored headers from the response.
  const all: Header[] = [['ETag', etag], ['Vary', vary], ...own];
  if (isIn(headers.get('if-none-match'), etag)) return { kind: 'empty', status: 304, headers: all };
  if (coding !== undefined) all.push(['Content-Encoding', coding]);
  return { kind: 'bare', status: 200, mediaType, body: bytes, headers: all };
}

/**
 * Returns whether the list contains the validator or `*`. A weak form, which a compressing proxy creates, counts as
 * equal.
 */
const isIn = (list: string | undefined, etag: string): boolean =>
  (list ?? '').split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag);

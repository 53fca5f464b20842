import { type WholeListForm, wholeListTypes } from '../contract/whole-list.ts';
import type { Authenticated } from './endpoint.ts';
import { ExportPages, type ReadPage } from './export-pages.ts';
import type { Header, Reply } from './reply.ts';
import type { Services } from './services.ts';

export interface ExportContext {
  readonly services: Pick<Services, 'exports'>;
  /** The caller's identity; undefined for unauthenticated callers. */
  readonly identity: Authenticated | undefined;
  readonly signal: AbortSignal;
}

/**
 * Streams all pages of `read` as fast as the client receives them: one item per line, or an Arrow stream. A
 * failure ends the connection without the last chunk, so that the client notices.
 *
 * @throws OVERLOADED or RATE_LIMITED at the limit of concurrent exports; the error of reading the first page
 */
export async function exportReply<Place>(
  { services, identity, signal }: ExportContext,
  form: WholeListForm,
  read: ReadPage<Place>,
  headers: readonly Header[] = [],
): Promise<Reply> {
  const onClose = services.exports.take(identity?.principal.id);
  const chunks = await ExportPages.open(read, { signal, onClose });
  return { kind: 'stream', mediaType: wholeListTypes[form], chunks, headers };
}

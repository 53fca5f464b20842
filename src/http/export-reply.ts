import { type WholeListForm, wholeListTypes } from '../contract/whole-list.ts';
import type { Identity } from './endpoint.ts';
import { ExportPages, type ReadPage } from './export-pages.ts';
import type { Header, Reply } from './reply.ts';
import type { Services } from './services.ts';

export interface ExportContext {
  readonly services: Pick<Services, 'exports'>;
  /** Undefined where anybody may ask. */
  readonly identity: Identity | undefined;
  readonly signal: AbortSignal;
}

/**
 * All that `read` gives, page by page as the client takes it: one item a line, or an Arrow stream. What fails on the way
 * ends the connection without the last chunk, so that the client sees that something is missing.
 *
 * @throws OVERLOADED, RATE_LIMITED while as many exports are under way as may be; what reading the first page fails with
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

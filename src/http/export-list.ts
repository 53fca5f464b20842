import type { ArrowColumn } from '../analytics/arrow/columns.ts';
import { decodeQuery } from '../contract/query.ts';
import type { Route } from '../contract/routes.ts';
import { type WholeListForm, wholeListTypes } from '../contract/whole-list.ts';
import { invalidField } from '../errors.ts';
import { weightIn } from './accept.ts';
import { arrowColumns } from './arrow-columns.ts';
import type { Authenticated } from './endpoint.ts';
import { ExportPages, type ReadPage } from './export-pages.ts';
import type { Header, Reply } from './reply.ts';
import type { RequestHead } from './request.ts';
import { queriesOf } from './run-options.ts';
import type { Services } from './services.ts';

export interface ListExportContext extends ExportContext {
  readonly services: Pick<Services, 'exports' | 'queries' | 'metrics'>;
  /** The route whose response with status 200 describes an item. */
  readonly route: Route;
}

/**
 * Exports a whole list. `read` returns pages of lines, which the analytics pool converts for an Arrow stream.
 */
export function exportList<Place>(
  context: ListExportContext,
  form: WholeListForm,
  read: ReadPage<Place>,
): Promise<Reply> {
  if (form === 'lines') return exportReply(context, form, read);
  const columns = columnsOf(context.route);
  return exportReply<Place>(context, form, async (place) => {
    const { bytes: lines, next } = await read(place);
    const page = { lines, columns, isFirst: place === undefined, isLast: next === undefined };
    const bytes = await queriesOf(context).run('arrowPage', page);
    return next === undefined ? { bytes } : { bytes, next };
  });
}

/** Returns the Arrow columns of a route's list. */
export function columnsOf({ path, responses }: Route): ArrowColumn[] {
  const answer = responses[200];
  if (answer?.kind !== 'json' || answer.lines === undefined) throw new Error(`${path} has no list`);
  return arrowColumns(answer.lines);
}

/**
 * Returns the export form with the highest weight in `Accept` (RFC 9110, section 12.5.1). Returns undefined, which
 * means a JSON page, if `Accept` does not name an export form, or gives JSON a higher weight. Ranges of media types are
 * ignored.
 *
 * @throws INVALID_REQUEST for paging parameters, which an export does not have
 */
export function exportForm({ headers, query }: Pick<RequestHead, 'headers' | 'query'>): WholeListForm | undefined {
  const accept = headers.get('accept');
  if (accept === undefined) return undefined;
  let form: WholeListForm | undefined;
  let most = weightIn(accept, 'application/json');
  for (const one of ['lines', 'arrow'] as const) {
    const weight = weightIn(accept, wholeListTypes[one]);
    // On equal weights, NDJSON is preferred, because more clients can read it.
    if (weight === 0 || weight < most || (form !== undefined && weight === most)) continue;
    form = one;
    most = weight;
  }
  if (form === undefined) return undefined;
  const given = decodeQuery(query);
  for (const parameter of ['page', 'per_page', 'cursor'])
    if (given.has(parameter))
      throw invalidField(parameter, `cannot be used with ${wholeListTypes[form]}, which returns the whole list`);
  return form;
}

interface ExportContext {
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

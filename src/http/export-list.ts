import type { ArrowColumn } from '../analytics/arrow/columns.ts';
import type { Route } from '../contract/routes.ts';
import type { WholeListForm } from '../contract/whole-list.ts';
import { arrowColumns } from './arrow-columns.ts';
import type { ReadPage } from './export-pages.ts';
import { type ExportContext, exportReply } from './export-reply.ts';
import type { Reply } from './reply.ts';
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

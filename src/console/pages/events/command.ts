import { routeOf } from '../../../contract/routes.ts';
import { type WholeListForm, wholeListTypes } from '../../../contract/whole-list.ts';
import type { Filters } from './question.ts';
import { type TableName, tables } from './tables.ts';

export const forms = {
  lines: { title: 'NDJSON', extension: 'ndjson', says: 'one JSON object per line' },
  arrow: { title: 'Arrow', extension: 'arrow', says: 'columnar, for pandas, Polars, DuckDB' },
} as const satisfies Record<WholeListForm, object>;

/** Quotes a text for a POSIX shell, so that nothing in it is expanded. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Returns the command that downloads the list; users set CANDOR_TOKEN themselves. */
export function curlCommand(origin: string, table: TableName, query: Filters, form: WholeListForm): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of typeof value === 'string' ? [value] : value) search.append(name, one);
  const { path } = routeOf(tables[table].list);
  const url = `${origin}${path}${search.size === 0 ? '' : `?${search}`}`;
  return [
    'curl --fail --compressed',
    `  -H "Authorization: Bearer $CANDOR_TOKEN"`,
    `  -H ${quoted(`Accept: ${wholeListTypes[form]}`)}`,
    `  -o ${quoted(`${tables[table].file}.${forms[form].extension}`)}`,
    `  ${quoted(url)}`,
  ].join(' \\\n');
}

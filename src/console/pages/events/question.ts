import { useMemo } from 'preact/hooks';
import { place } from '../../state/address.ts';
import { filterQuery } from '../../state/filters.ts';
import { useStillRange } from '../../state/still-range.ts';
import { type TableName, tables } from './tables.ts';

/** Filters by name, as in requests to the service. */
export type Filters = Readonly<Record<string, string | readonly string[]>>;

/** Returns the table in the URL; network by default. */
export const shownTable = (): TableName => (place.value.params.get('table') === 'dns' ? 'dns' : 'network');

/** The query of the page: filters and a time range fixed at the last change or refresh. */
export interface Question {
  readonly filters: Filters;
  /** Filters and time range as in requests for lists, histograms and exports. */
  readonly query: Filters & { readonly from?: string; readonly to?: string };
  /** Key that is unique per query and refresh. */
  readonly key: string;
}

/**
 * Returns the query in the URL. A relative time range stays fixed until `again` is called, so that the list does not
 * move while the user reads it. `again` returns whether the range changed; a change triggers a new request.
 */
export function useQuestion(table: TableName): { question: Question; again: () => boolean } {
  const filters = filterQuery(tables[table].list);
  const { range, key, move } = useStillRange([table, filters]);
  const question = useMemo(() => ({ filters, query: { ...filters, ...range }, key }), [key]);
  return { question, again: move };
}

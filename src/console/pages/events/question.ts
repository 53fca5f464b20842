import { useMemo, useState } from 'preact/hooks';
import { place } from '../../state/address.ts';
import { filterQuery } from '../../state/filters.ts';
import { movedOn } from '../../state/moving-range.ts';
import { rangeQuery, shownRange } from '../../state/range.ts';
import { type TableName, tables } from './tables.ts';

/** By the name of a filter its value or values, as the service is asked. */
export type Filters = Readonly<Record<string, string | readonly string[]>>;

/** The table that the address names; network where it names none. */
export const shownTable = (): TableName => (place.value.params.get('table') === 'dns' ? 'dns' : 'network');

/** What the page asks the service: filters and time, as they were when they were chosen or asked for again. */
export interface Question {
  readonly filters: Filters;
  /** Filters and time as lists, histograms and exports take them. */
  readonly query: Filters & { readonly from?: string; readonly to?: string };
  /** Tells this question, asked at this time, from every other. */
  readonly key: string;
}

/**
 * The question of the address. A range that ends now stays where it was until `again`: the list under one's eyes does not
 * change by itself. `again` says whether it is another question then, which is asked without more ado.
 */
export function useQuestion(table: TableName): { question: Question; again: () => boolean } {
  const [times, setTimes] = useState(0);
  const { params } = place.value;
  const filters = filterQuery(tables[table].list);
  const asked = JSON.stringify([table, filters, shownRange().name, params.get('from'), params.get('to')]);
  const key = `${times} ${asked}`;
  const question = useMemo(() => ({ filters, query: { ...filters, ...rangeQuery() }, key }), [key]);
  return {
    question,
    again: () => {
      setTimes((before) => before + 1);
      return movedOn(question.query, rangeQuery());
    },
  };
}

import { useMemo, useState } from 'preact/hooks';
import { place } from '../../state/address.ts';
import { useList } from '../../state/answers.ts';
import { recently } from '../../state/clock.ts';
import { filterQuery } from '../../state/filters.ts';
import { ranges } from '../../state/range.ts';
import { defaultSort, type Filters, seenQuery, shownSeen } from './question.ts';

/** Returns the list that the URL describes. Its time bounds stay fixed until a refresh. */
export function useStillList<O extends 'listAssets' | 'listServices'>(operation: O) {
  const { params } = place.value;
  const chips = filterQuery(operation) as Filters;
  const seen = shownSeen(params);
  const sort = params.get('sort') ?? defaultSort;
  const [refreshes, setRefreshes] = useState(0);
  /** Key that identifies the query. */
  const which = JSON.stringify([chips, seen, sort]);
  const filters = useMemo<Filters>(
    () => ({ ...chips, ...seenQuery(seen, recently.peek(), ranges) }),
    [which, refreshes],
  );
  const list = useList(operation, { query: { ...filters, sort } } as never, { still: true });
  const refresh = () => {
    if (seen.kind === 'any' || seen.kind === 'between') list.refetch();
    else setRefreshes(refreshes + 1);
  };
  return { chips, seen, sort, which, filters, list, refresh };
}

import type { ListId } from '../../client/client.ts';
import { type Params, setParams } from '../state/address.ts';
import { removeFilter, shownChips } from '../state/filters.ts';
import { Button } from './button.tsx';

/** Button for empty results: removes the filters and the search text of the list. */
export function WithoutFilters({
  list,
  also = {},
}: {
  list: ListId;
  /** Other parameters that filter the list and are removed too. */
  also?: Params;
}) {
  return (
    <Button
      onClick={() => {
        shownChips(list).forEach(removeFilter);
        setParams({ q: undefined, ...also });
      }}
    >
      Clear filters
    </Button>
  );
}

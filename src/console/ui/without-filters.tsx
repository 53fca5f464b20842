import type { ListId } from '../../client/client.ts';
import { type Params, setParams } from '../state/address.ts';
import { removeFilter, shownChips } from '../state/filters.ts';
import { Button } from './button.tsx';

/** For where nothing matches: takes away what the list is filtered and searched by. */
export function WithoutFilters({
  list,
  also = {},
}: {
  list: ListId;
  /** What else of the address filters it, and goes too. */
  also?: Params;
}) {
  return (
    <Button
      onClick={() => {
        shownChips(list).forEach(removeFilter);
        setParams({ q: undefined, ...also });
      }}
    >
      Take the filters away
    </Button>
  );
}

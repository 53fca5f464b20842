import { useMemo, useState } from 'preact/hooks';
import { place } from '../../state/address.ts';
import { rangeQuery, shownRange } from '../../state/range.ts';

interface StillRange {
  readonly range: ReturnType<typeof rangeQuery>;
  /** Moves the range up to now. Returns false if the range did not change. */
  readonly move: () => boolean;
}

/**
 * Returns the time range in the URL. A relative range stays fixed until `move` is called, so that the graph does not
 * change while the user reads it.
 */
export function useStillRange(): StillRange {
  const [refreshes, setRefreshes] = useState(0);
  const { params } = place.value;
  const rangeKey = JSON.stringify([refreshes, shownRange().name, params.get('from'), params.get('to')]);
  const range = useMemo(rangeQuery, [rangeKey]);
  const move = () => {
    if (rangeQuery().from === range.from) return false;
    setRefreshes((before) => before + 1);
    return true;
  };
  return { range, move };
}

import { useMemo, useState } from 'preact/hooks';
import { place } from '../../state/address.ts';
import { rangeQuery, shownRange } from '../../state/range.ts';

interface StillRange {
  readonly range: ReturnType<typeof rangeQuery>;
  /** Takes the range up to now; false where that is the same. */
  readonly move: () => boolean;
}

/**
 * The time of the address. One that ends now stays where it was when it was chosen, until it is moved: the picture under
 * one's eyes does not change by itself.
 */
export function useStillRange(): StillRange {
  const [times, setTimes] = useState(0);
  const { params } = place.value;
  const asked = JSON.stringify([times, shownRange().name, params.get('from'), params.get('to')]);
  const range = useMemo(rangeQuery, [asked]);
  const move = () => {
    if (rangeQuery().from === range.from) return false;
    setTimes((before) => before + 1);
    return true;
  };
  return { range, move };
}

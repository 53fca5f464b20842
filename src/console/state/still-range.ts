import { useMemo, useState } from 'preact/hooks';
import { movedOn } from './moving-range.ts';
import { rangeQuery, shownRange } from './range.ts';

export interface StillRange {
  readonly range: ReturnType<typeof rangeQuery>;
  /** Key that changes with the rest of the query, with the range in the URL and with each move. */
  readonly key: string;
  /** Moves a relative range up to now. Returns whether the range changed; a change triggers new requests. */
  readonly move: () => boolean;
}

/**
 * Returns the time range in the URL. A relative range stays fixed until `move` is called, so that rows do not move
 * while the user reads them.
 *
 * @param about - the rest of the query; when it changes, the range moves too
 */
export function useStillRange(about?: unknown): StillRange {
  const [moves, setMoves] = useState(0);
  const { name, from, to } = shownRange();
  const key = JSON.stringify([about, name, name === 'custom' && [from, to], moves]);
  const range = useMemo(rangeQuery, [key]);
  const move = () => {
    setMoves((before) => before + 1);
    return movedOn(range, rangeQuery());
  };
  return { range, key, move };
}

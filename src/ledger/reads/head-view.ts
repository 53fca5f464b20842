import type { HeadsQuery } from '../ledger.ts';
import type { HeadHistory } from '../storage/head-history.ts';
import { lowerBound } from '../storage/lower-bound.ts';
import type { LedgerStorage, SignedHead } from '../storage/storage.ts';
import { checkRange } from './ranges.ts';

/** The heads visible to a reader. All other data for the reader is as of the latest of these heads. */
export interface HeadView {
  latest(): SignedHead | undefined;
  /** Returns the last visible head of this size. */
  headOf(size: number): SignedHead | undefined;
  readonly history: Pick<HeadHistory, 'count' | 'size' | 'from'>;
}

/** Returns a view of all heads. */
export function currentHeads(storage: LedgerStorage, latest: () => SignedHead | undefined): HeadView {
  return {
    latest,
    headOf: (size) => storage.headOf(size),
    get history() {
      return storage.history;
    },
  };
}

/**
 * Returns a page of the heads signed for sizes `from_size` ≤ size < `to_size`, oldest first. An idle log
 * signs one size several times; all of these heads are listed. `from_size` may be one past the current size,
 * for readers that poll for new heads.
 *
 * @throws INVALID_REQUEST naming the size that is out of range
 */
export function listHeads(
  { history }: Pick<HeadView, 'history'>,
  size: number,
  { from_size, to_size, page, per_page }: HeadsQuery,
): { heads: SignedHead[]; total: number } {
  if (from_size !== undefined) checkRange('from_size', from_size, 1, size + 1, size);
  if (to_size !== undefined) checkRange('to_size', to_size, (from_size ?? 1) + 1, size + 1, size);
  const place = (wanted: number) => lowerBound(history.count, (ordinal) => history.size(ordinal), wanted);
  const first = from_size === undefined ? 0 : place(from_size);
  const end = to_size === undefined ? history.count : place(to_size);
  const start = first + (page - 1) * per_page;
  const limit = Math.min(per_page, end - start);
  return { heads: limit > 0 ? history.from(start, limit) : [], total: end - first };
}

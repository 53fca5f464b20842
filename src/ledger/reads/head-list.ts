import type { HeadsQuery } from '../ledger.ts';
import { lowerBound } from '../storage/lower-bound.ts';
import type { SignedHead } from '../storage/storage.ts';
import type { HeadView } from './head-view.ts';
import { checkRange } from './ranges.ts';

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

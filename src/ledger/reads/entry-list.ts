import { invalidField } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { EntriesQuery, StoredLeaf } from '../ledger.ts';
import { DamagedError, type LedgerStorage } from '../storage/storage.ts';
import type { Prover } from './prover.ts';
import { checkRange } from './ranges.ts';

/**
 * Entries of one kind within a range, by their ordinals among all entries of that kind: `from` ≤ ordinal <
 * `to`.
 */
interface Stretch {
  readonly kind: string;
  readonly from: number;
  readonly to: number;
}

/**
 * Returns leaf indices of a page of the entries with `from` ≤ index < `to`, only of `kinds` if given, oldest
 * first, and the total number. `from` may be the size of the log, for readers that poll for new entries.
 *
 * @throws INVALID_REQUEST naming the index that is out of range
 */
export function listEntries(
  storage: LedgerStorage,
  size: number,
  { from = 0, to = size, kinds, page, per_page }: EntriesQuery,
): { indices: number[]; total: number } {
  checkRange('from', from, 0, size, size);
  // No entry follows the last leaf. A query that starts after it is valid, unless `to` is below `from`.
  if (to !== size || from !== size) checkRange('to', to, from + 1, size, size);
  const skipped = (page - 1) * per_page;
  if (kinds === undefined) {
    const start = Math.min(to, from + skipped);
    const end = Math.min(to, start + per_page);
    return { indices: Array.from({ length: end - start }, (_, i) => start + i), total: to - from };
  }
  const stretches = [...new Set(kinds)].map((kind) => ({
    kind,
    from: storage.kinds.countBelow(kind, from),
    to: storage.kinds.countBelow(kind, to),
  }));
  const total = stretches.reduce((sum, stretch) => sum + stretch.to - stretch.from, 0);
  if (skipped >= total) return { indices: [], total };
  return { indices: merged(storage, stretches, [from, to], skipped, per_page), total };
}

/**
 * Returns the verified leaves of a page. Throws INVALID_REQUEST naming `per_page` if they are too long for one
 * response.
 */
export function readLeaves(
  prover: Prover,
  indices: readonly number[],
  kinds: readonly string[] | undefined,
): StoredLeaf[] {
  let bytes = 0;
  return indices.map((index) => {
    const leaf = prover.leafAt(index, kinds);
    bytes += leaf.canonical.length;
    if (bytes > limits.maxEntriesPageBytes)
      throw invalidField(
        'per_page',
        `would return more than ${limits.maxEntriesPageBytes} bytes of entries; use a smaller page`,
      );
    return leaf;
  });
}

/** Merges the leaf indices of all ranges in ascending order. Returns `count` of them, after the first `skipped`. */
function merged(
  storage: LedgerStorage,
  stretches: readonly Stretch[],
  [from, to]: readonly [number, number],
  skipped: number,
  count: number,
): number[] {
  const { kinds } = storage;
  // Finds the first leaf index of the page by binary search. The numbers of entries of each kind at both limits of the
  // range are reused, so that each lookup searches fewer entries.
  let [low, high] = [from, to];
  let places = stretches.map((stretch) => stretch.from);
  let above = stretches.map((stretch) => stretch.to);
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const found = stretches.map(({ kind }, i) => kinds.countBelow(kind, middle + 1, places[i], above[i]));
    const passed = found.reduce((sum, place, i) => sum + place - stretches[i]!.from, 0);
    if (passed <= skipped) [low, places] = [middle + 1, found];
    else [high, above] = [middle, found];
  }
  const indices = stretches.flatMap(({ kind, to: end }, i) =>
    kinds.range(kind, places[i]!, Math.min(end, places[i]! + count)),
  );
  const page = indices.sort((a, b) => a - b).slice(0, count);
  const wrong = page.find((index, i) => index < from || index >= to || index === page[i - 1]);
  if (wrong !== undefined) throw new DamagedError(`the index of kinds names entry ${wrong} twice or out of order`);
  return page;
}

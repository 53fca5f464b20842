import type { HeadHistory } from '../storage/head-history.ts';
import type { LedgerStorage, SignedHead } from '../storage/storage.ts';

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

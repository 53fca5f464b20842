import type { HeadHistory } from '../storage/head-history.ts';
import type { LedgerStorage, SignedHead } from '../storage/storage.ts';

/** The heads that a reader may see. Everything else that a reader gets is as of the latest of them. */
export interface HeadView {
  latest(): SignedHead | undefined;
  /** The last of these heads for this size. */
  headOf(size: number): SignedHead | undefined;
  readonly history: Pick<HeadHistory, 'count' | 'size' | 'from'>;
}

/** All heads. */
export function currentHeads(storage: LedgerStorage, latest: () => SignedHead | undefined): HeadView {
  return {
    latest,
    headOf: (size) => storage.headOf(size),
    get history() {
      return storage.history;
    },
  };
}

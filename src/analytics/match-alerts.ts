import type { ListFilter, StoreReader } from '../store/store.ts';

export interface MatchedAlerts {
  /** The first of them, in the order in which they were raised. */
  readonly ids: readonly string[];
  /** All that match. */
  readonly total: number;
}

/** Which alerts match, as of one moment: at most `limit` of them by id. */
export function matchAlerts(
  reader: Pick<StoreReader, 'visitAlertFacts'>,
  { filter, limit }: { readonly filter: ListFilter; readonly limit: number },
): MatchedAlerts {
  const ids: string[] = [];
  let total = 0;
  reader.visitAlertFacts(filter, {}, (id) => {
    total++;
    if (ids.length < limit) ids.push(id);
    return undefined;
  });
  return { ids, total };
}

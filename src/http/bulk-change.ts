import type { AlertBulkAnswer } from '../contract/resources/alert-bulk.ts';
import { ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Actor, AlertChange, AlertChanged } from '../store/store.ts';
import { afterCommit } from './after-commit.ts';
import { shownError } from './error-reply.ts';
import type { Services } from './services.ts';

type Failure = AlertBulkAnswer['failed'][number];

/**
 * Changes each of these alerts, as if each had been asked for by itself: what one is refused for keeps no other from
 * being changed. Some at a time: those that the store is given together are one transaction, and what others commit
 * comes between two of these.
 */
export async function changeEach(
  services: Pick<Services, 'store' | 'publishAlert' | 'pokeOutbox' | 'log'>,
  ids: readonly string[],
  change: AlertChange,
  by: Actor,
): Promise<AlertBulkAnswer> {
  const counts = { changed: 0, unchanged: 0 };
  const failures: Failure[] = [];
  let failed = 0;

  const changeOne = async (id: string): Promise<Failure | undefined> => {
    let update: AlertChanged;
    try {
      update = await services.store.changeAlert(id, change, by);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const { code, message } = shownError(error);
      return { id, code, reason: message };
    }
    if (update.unchanged) counts.unchanged++;
    else {
      counts.changed++;
      // At once: subscribers are told in the order of the changes, and others make some too.
      afterCommit(services, () => services.publishAlert(update));
    }
    return undefined;
  };

  for (let from = 0; from < ids.length; from += limits.bulkAlertsAtOnce) {
    const outcomes = await Promise.all(ids.slice(from, from + limits.bulkAlertsAtOnce).map(changeOne));
    for (const failure of outcomes) {
      if (failure === undefined) continue;
      failed++;
      if (failures.length < limits.maxReportedErrors) failures.push(failure);
    }
    afterCommit(services, () => services.pokeOutbox());
  }
  return { matched: ids.length, ...counts, failed_total: failed, failed: failures };
}

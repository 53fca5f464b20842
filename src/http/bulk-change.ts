import type { AlertBulkAnswer } from '../contract/resources/alert-bulk.ts';
import { ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Actor, AlertChange, AlertChanged } from '../store/store.ts';
import { shownError } from './error-reply.ts';
import type { Services } from './services.ts';

type Failure = AlertBulkAnswer['failed'][number];

/**
 * Changes each alert as if its change had been requested separately: a refused change does not affect the
 * others. Alerts are sent to the store in groups, each of which is one transaction; other commits run between
 * two groups.
 */
export async function changeEach(
  services: Pick<Services, 'store'>,
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
    else counts.changed++;
    return undefined;
  };

  for (let from = 0; from < ids.length; from += limits.bulkAlertsAtOnce) {
    const outcomes = await Promise.all(ids.slice(from, from + limits.bulkAlertsAtOnce).map(changeOne));
    for (const failure of outcomes) {
      if (failure === undefined) continue;
      failed++;
      if (failures.length < limits.maxReportedErrors) failures.push(failure);
    }
  }
  return { matched: ids.length, ...counts, failed_total: failed, failed: failures };
}

import { alertFilterQuery } from '../../contract/alert-parameters.ts';
import { parseListFilter } from '../../contract/query.ts';
import type { AlertBulkInput } from '../../contract/resources/alert-bulk.ts';
import { maxEntryIds, severities } from '../../contract/vocabulary.ts';
import { invalidField } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { RunOptions } from '../../rpc/pool.ts';
import type { AlertChange } from '../../store/store.ts';
import { requireAssignee } from '../alert-reads.ts';
import { askedBy } from '../asked-by.ts';
import { changeEach } from '../bulk-change.ts';
import type { Handler } from '../context.ts';
import { requireLog } from '../log-required.ts';
import { countingRefusals, queryLimits } from '../reached.ts';
import { data } from '../reply.ts';
import type { Services } from '../services.ts';

export const bulkUpdateAlerts: Handler<'bulkUpdateAlerts'> = async (context) => {
  const { services, body, identity, audited } = context;
  requireAssignee(body.change, services);
  const endTurn = services.bulkChanges.take();
  try {
    const logged = entriesOfEach(body.change);
    if (logged > 0) await requireLog(services);
    const ids = await alertsOf(body, mostOf(logged), services, askedBy(context));
    const answer = await changeEach(services, ids, body.change, identity.principal);
    if (logged > 0) audited?.noteEntries();
    return data(answer);
  } finally {
    endTurn();
  }
};

/** Entries of the transparency log that the change may cause for each alert. */
function entriesOfEach({ ai_override, severity }: AlertChange): number {
  const isHigh = severity !== undefined && severities.indexOf(severity) >= severities.indexOf('high');
  return Number(ai_override !== undefined) + Number(isHigh);
}

/** The audit record of the call names all entries that it caused, and has room for so many. */
const mostOf = (logged: number): number =>
  logged === 0 ? limits.maxBulkAlerts : Math.floor(maxEntryIds / logged);

/** The ids of the alerts that are meant, each once. */
async function alertsOf(
  { ids, filter }: AlertBulkInput,
  most: number,
  services: Pick<Services, 'queries' | 'metrics'>,
  options: RunOptions,
): Promise<readonly string[]> {
  if (ids !== undefined && filter !== undefined) throw invalidField('filter', 'excludes ids');
  if (ids !== undefined) {
    const distinct = [...new Set(ids.map((id) => id.toLowerCase()))];
    if (distinct.length > most) throw invalidField('ids', tooMany('names', distinct.length, most));
    return distinct;
  }
  if (filter === undefined) throw invalidField('ids', 'is required, or filter instead');
  const query = { filter: parseListFilter(alertFilterQuery, filter), limit: most };
  const matched = services.queries.run('matchAlerts', query, options);
  const { ids: found, total } = await countingRefusals(services.metrics, queryLimits, matched);
  if (total > most) {
    services.metrics.limitReached('maxBulkAlerts');
    throw invalidField('filter', tooMany('matches', total, most));
  }
  return found;
}

const tooMany = (verb: string, count: number, most: number): string =>
  `${verb} ${count} alerts; at most ${most} can be changed so at a time`;

import { listFilterOf } from '../contract/query.ts';
import { onlyId } from '../contract/singleton.ts';
import type { Table } from '../events/records.ts';
import { limits } from '../limits.ts';
import { askedBy } from './asked-by.ts';
import { withDamage } from './event-reads.ts';
import { countingRefusals, queryLimits } from './reached.ts';
import { type Reply, resource } from './reply.ts';
import type { Services } from './services.ts';

type ValuesContext = Parameters<typeof askedBy>[0] & {
  readonly services: Services;
  readonly query: { readonly by: string; readonly limit?: number };
};

/** Counted in the analytics pool. */
export async function eventValues(table: Table, context: ValuesContext): Promise<Reply> {
  const { queries, metrics } = context.services;
  const { by, limit = limits.defaultShownValues, ...which } = context.query;
  const asked = { table, filter: listFilterOf(which), by, limit };
  const made = queries.run('eventValueCounts', asked, askedBy(context));
  const counts = await countingRefusals(metrics, queryLimits, made);
  if (!counts.complete) metrics.limitReached('maxValueTallyBytes');
  return withDamage(context.services, table, asked.filter, resource('value_counts', onlyId, counts));
}

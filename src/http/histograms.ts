import { listFilterOf } from '../contract/query.ts';
import { onlyId } from '../contract/singleton.ts';
import type { Table } from '../events/records.ts';
import { limits } from '../limits.ts';
import { withDamage } from './event-reads.ts';
import { type Reply, resource } from './reply.ts';
import { type QueryContext, queriesOf } from './run-options.ts';
import type { Services } from './services.ts';

type HistogramContext = QueryContext & {
  readonly services: Services;
  readonly query: { readonly buckets?: number };
};

/** Returns the histogram of events, computed in the analytics pool. */
export async function eventHistogram(table: Table, context: HistogramContext): Promise<Reply> {
  const asked = { table, ...asksFor(context) };
  const histogram = await queriesOf(context).run('eventHistogram', asked);
  return withDamage(context.services, table, asked.filter, resource('histogram', onlyId, histogram));
}

export async function alertHistogram(context: HistogramContext): Promise<Reply> {
  return resource('histogram', onlyId, await queriesOf(context).run('alertHistogram', asksFor(context)));
}

function asksFor({ query }: HistogramContext) {
  const { buckets = limits.defaultHistogramBuckets, ...which } = query;
  return { filter: listFilterOf(which), buckets, now: Date.now() };
}

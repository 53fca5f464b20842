import { listFilterOf } from '../contract/query.ts';
import type { Histogram } from '../contract/resources/histogram.ts';
import { onlyId } from '../contract/singleton.ts';
import type { Table } from '../events/records.ts';
import { limits } from '../limits.ts';
import { askedBy } from './asked-by.ts';
import { withDamage } from './event-reads.ts';
import { countingRefusals, queryLimits } from './reached.ts';
import { type Reply, resource } from './reply.ts';
import type { Services } from './services.ts';

type HistogramContext = Parameters<typeof askedBy>[0] & {
  readonly services: Services;
  readonly query: { readonly buckets?: number };
};

/** Made in the analytics pool. */
export async function eventHistogram(table: Table, context: HistogramContext): Promise<Reply> {
  const { services } = context;
  const asked = { table, ...asksFor(context) };
  const reply = await answered(context, services.queries.run('eventHistogram', asked, askedBy(context)));
  return withDamage(services, table, asked.filter, reply);
}

export function alertHistogram(context: HistogramContext): Promise<Reply> {
  return answered(
    context,
    context.services.queries.run('alertHistogram', asksFor(context), askedBy(context)),
  );
}

function asksFor({ query }: HistogramContext) {
  const { buckets = limits.defaultHistogramBuckets, ...which } = query;
  return { filter: listFilterOf(which), buckets, now: Date.now() };
}

async function answered({ services }: HistogramContext, made: Promise<Histogram>): Promise<Reply> {
  return resource('histogram', onlyId, await countingRefusals(services.metrics, queryLimits, made));
}

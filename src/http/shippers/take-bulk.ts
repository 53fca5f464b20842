import { invalidField } from '../../errors.ts';
import type { Context } from '../context.ts';
import { type Reply, withHeader } from '../reply.ts';
import { storeBody } from '../store-body.ts';
import { bulkAnswer } from './bulk-answer.ts';
import { elasticsearchReply } from './elasticsearch-reply.ts';
import { bulkParts } from './filter-path.ts';

/**
 * Elasticsearch's bulk request, answered when its records are on disk.
 *
 * @param index - repeated for items that name none
 */
export async function takeBulk(
  context: Omit<Context<'elasticsearchBulk'>, 'params'>,
  index: string,
): Promise<Reply> {
  const { query, head, identity, body } = context;
  if (body.arrived.length === 0) {
    body.arrived.release();
    throw invalidField('body', 'is missing');
  }
  const started = performance.now();
  const parts = bulkParts(query.filter_path);
  const stored = await storeBody(context, {
    ...(query.sensor === undefined ? {} : { sensor: query.sensor }),
    framing: {
      name: 'elasticsearch_bulk',
      index,
      // Which were creations must be known in any case.
      fields: parts.items ? parts.fields : ['status'],
      sender: identity.principal.id,
    },
  });
  if (stored.items === undefined) throw new Error('a bulk request came back without its items');
  const tookMs = Math.round(performance.now() - started);
  const reply = elasticsearchReply(head, await bulkAnswer(stored.items, stored, parts, tookMs));
  return withHeader(reply, stored.receipt);
}

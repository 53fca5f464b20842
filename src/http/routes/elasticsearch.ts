import type { elasticsearchRoutes } from '../../contract/routes/elasticsearch.ts';
import { invalidField } from '../../errors.ts';
import type { Context, Handlers } from '../context.ts';
import { type Reply, withHeader } from '../reply.ts';
import { bulkAnswer } from '../shippers/bulk-answer.ts';
import { elasticsearchReply } from '../shippers/elasticsearch-reply.ts';
import { bulkParts } from '../shippers/filter-path.ts';
import { storeBody } from '../store-body.ts';

/**
 * Shippers that speak Elasticsearch's interface want to see its name, and a version that is not older than their own:
 * newer than any of version 8.
 */
const info = JSON.stringify({
  name: 'candor',
  cluster_name: 'candor',
  cluster_uuid: '_na_',
  version: {
    number: '8.99.0',
    build_flavor: 'default',
    build_type: 'tar',
    build_hash: 'unknown',
    build_date: '1970-01-01T00:00:00.000Z',
    build_snapshot: false,
    lucene_version: '9.12.0',
    minimum_wire_compatibility_version: '7.17.0',
    minimum_index_compatibility_version: '7.0.0',
  },
  tagline: 'You Know, for Search',
});

const license = {
  status: 'active',
  uid: '00000000-0000-0000-0000-000000000000',
  type: 'basic',
  mode: 'basic',
  issued_to: 'candor',
  issuer: 'candor',
};

/** Answers by path prefix. Other paths are answered with an empty object. */
const answers: readonly { readonly under: string; readonly answer: object }[] = [
  { under: '/_license', answer: { license } },
  // Without lifecycle management, shippers write to the index that they are told.
  { under: '/_xpack', answer: { license, features: { ilm: { available: false, enabled: false } } } },
  {
    under: '/_cluster/health',
    answer: {
      cluster_name: 'candor',
      status: 'green',
      timed_out: false,
      number_of_nodes: 1,
      number_of_data_nodes: 1,
    },
  },
  { under: '/_cat/', answer: [{ cluster: 'candor', status: 'green' }] },
  // Without nodes, clients that look for others keep using this one.
  { under: '/_nodes', answer: { cluster_name: 'candor', nodes: {} } },
];

export const elasticsearchHandlers = {
  /** Browsers, which want a page, are answered by the console and never get here. */
  elasticsearchInfo({ head, refusal }) {
    if (refusal !== undefined) throw refusal;
    return elasticsearchReply(head, info);
  },

  elasticsearchBulk: (context) => takeBulk(context, 'candor'),

  elasticsearchBulkOfIndex: (context) => takeBulk(context, context.params.index),

  elasticsearchProbe({ head }) {
    const found = answers.find(({ under }) => head.path.startsWith(under));
    return elasticsearchReply(head, JSON.stringify(found?.answer ?? {}));
  },

  elasticsearchSetup: ({ head }) => elasticsearchReply(head, '{"acknowledged":true}'),
} satisfies Handlers<typeof elasticsearchRoutes>;

/**
 * Elasticsearch's bulk request, answered when its records are on disk.
 *
 * @param index - repeated for items that name none
 */
async function takeBulk(
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

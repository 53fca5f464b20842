import type { elasticsearchRoutes } from '../../contract/routes/elasticsearch.ts';
import { invalidField } from '../../errors.ts';
import type { Context, Handlers } from '../context.ts';
import { type Reply, withHeader } from '../reply.ts';
import { bulkAnswer } from '../shippers/bulk-answer.ts';
import { elasticsearchReply } from '../shippers/elasticsearch-reply.ts';
import { bulkParts } from '../shippers/filter-path.ts';
import { storeBody } from '../store-body.ts';

/**
 * The description of the server. Elasticsearch shippers expect these names, and a version that is not older
 * than their own. This version is newer than all 8.x versions.
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

/** Response bodies by path prefix. Other paths get an empty object. */
const answers: readonly { readonly under: string; readonly answer: object }[] = [
  { under: '/_license', answer: { license } },
  // Shippers write to their configured index if lifecycle management is not available.
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
  // Clients that discover nodes keep using their configured address if no nodes are listed.
  { under: '/_nodes', answer: { cluster_name: 'candor', nodes: {} } },
];

export const elasticsearchHandlers = {
  /** Describes the server. Browsers, which prefer a page, get the console instead. */
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
 * Stores the records of an Elasticsearch bulk request, and responds when they are on disk.
 *
 * @param index - the default index, for items that do not name an index
 */
async function takeBulk(context: Omit<Context<'elasticsearchBulk'>, 'params'>, index: string): Promise<Reply> {
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
      // The status is always needed: it shows which records were created.
      fields: parts.items ? parts.fields : ['status'],
      sender: identity.principal.id,
    },
  });
  if (stored.items === undefined) throw new Error('the result of a bulk request has no items');
  const tookMs = Math.round(performance.now() - started);
  const reply = elasticsearchReply(head, await bulkAnswer(stored.items, stored, parts, tookMs));
  return withHeader(reply, stored.receipt);
}

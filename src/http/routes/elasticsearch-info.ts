import type { Handler } from '../context.ts';
import { elasticsearchReply } from '../shippers/elasticsearch-reply.ts';

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

/** Browsers, which want a page, are answered by the console and never get here. */
export const elasticsearchInfo: Handler<'elasticsearchInfo'> = ({ head, refusal }) => {
  if (refusal !== undefined) throw refusal;
  return elasticsearchReply(head, info);
};

import type { Handler } from '../context.ts';
import { elasticsearchReply } from '../shippers/elasticsearch-reply.ts';

const license = {
  status: 'active',
  uid: '00000000-0000-0000-0000-000000000000',
  type: 'basic',
  mode: 'basic',
  issued_to: 'candor',
  issuer: 'candor',
};

/** What is not here gets an empty object: it is there, and says nothing. */
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
  // Who looks for more nodes stays with this one.
  { under: '/_nodes', answer: { cluster_name: 'candor', nodes: {} } },
];

export const elasticsearchProbe: Handler<'elasticsearchProbe'> = ({ head }) => {
  const found = answers.find(({ under }) => head.path.startsWith(under));
  return elasticsearchReply(head, JSON.stringify(found?.answer ?? {}));
};

import type { Handler } from '../context.ts';
import { elasticsearchReply } from '../shippers/elasticsearch-reply.ts';

export const elasticsearchSetup: Handler<'elasticsearchSetup'> = ({ head }) =>
  elasticsearchReply(head, '{"acknowledged":true}');

import { writeTreeHead } from '../../contract/write-tree-head.ts';
import type { Handler } from '../context.ts';
import { jsonText } from '../reply.ts';

/** The bare head of the specification, its timestamp in exact digits. */
export const getTreeHead: Handler<'getTreeHead'> = async ({ services, query }) =>
  jsonText(writeTreeHead(await services.ledger.head(query.tree_size)));

import { onlyLeaf } from '../../contract/query.ts';
import type { Handler } from '../context.ts';
import { bareJson } from '../reply.ts';

export const getInclusionProof: Handler<'getInclusionProof'> = async ({ services, query }) =>
  bareJson(await services.ledger.inclusion(onlyLeaf(query), query.tree_size));

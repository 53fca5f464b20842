import { onlyLeaf } from '../../contract/query.ts';
import type { Handler } from '../context.ts';
import { logView } from '../log-view.ts';
import { bareJson } from '../reply.ts';

export const getInclusionProof: Handler<'getInclusionProof'> = async (context) => {
  const { services, query } = context;
  const leaf = onlyLeaf(query);
  return bareJson(await services.logReader.inclusion(await logView(context), leaf, query.tree_size));
};

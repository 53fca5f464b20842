import type { Handler } from '../context.ts';
import { logView } from '../log-view.ts';
import { bareJson } from '../reply.ts';

export const getConsistencyProof: Handler<'getConsistencyProof'> = async (context) => {
  const { services, query } = context;
  return bareJson(await services.logReader.consistency(await logView(context), query.first, query.second));
};

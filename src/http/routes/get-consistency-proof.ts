import type { Handler } from '../context.ts';
import { bareJson } from '../reply.ts';

export const getConsistencyProof: Handler<'getConsistencyProof'> = async ({ services, query }) =>
  bareJson(await services.ledger.consistency(query.first, query.second));

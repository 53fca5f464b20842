import type { Handler } from '../context.ts';
import { bareJson } from '../reply.ts';

export const getKeySet: Handler<'getKeySet'> = async ({ services }) =>
  bareJson({ keys: await services.ledger.currentKeys() });

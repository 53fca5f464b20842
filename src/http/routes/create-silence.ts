import type { Handler } from '../context.ts';
import { created } from '../reply.ts';
import { canonicalSilence } from '../silence-input.ts';

export const createSilence: Handler<'createSilence'> = async ({ services, body, identity }) => {
  const { id, ...silence } = await services.store.createSilence(canonicalSilence(body), identity.principal);
  return created('silence', id, silence, `/api/v1/silences/${id}`);
};

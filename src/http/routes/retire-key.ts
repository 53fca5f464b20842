import type { Handler } from '../context.ts';
import { resource } from '../reply.ts';

export const retireKey: Handler<'retireKey'> = async ({ services, params, identity }) => {
  const key = await services.ledger.retireKey(params.key_id, identity.principal.id);
  return resource('key', key.kid, key);
};

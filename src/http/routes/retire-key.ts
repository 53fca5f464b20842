import { caused } from '../caused-entries.ts';
import type { Handler } from '../context.ts';
import { resource } from '../reply.ts';

export const retireKey: Handler<'retireKey'> = async ({ services, params, identity }) => {
  const { entry_ids, ...key } = await services.ledger.retireKey(params.key_id, identity.principal.id);
  caused(entry_ids);
  return resource('key', key.kid, key);
};

import type { Handler } from '../context.ts';
import { resource } from '../reply.ts';

export const retireKey: Handler<'retireKey'> = async ({ services, params, identity, audited }) => {
  const { entry_ids, ...key } = await services.ledger.retireKey(params.key_id, identity.principal.id);
  audited?.noteEntries(entry_ids);
  return resource('key', key.kid, key);
};

import { caused } from '../caused-entries.ts';
import type { Handler } from '../context.ts';
import { resource } from '../reply.ts';

export const revokeKey: Handler<'revokeKey'> = async ({ services, params, body, identity }) => {
  const { entry_ids, ...key } = await services.ledger.revokeKey(
    params.key_id,
    body.reason,
    identity.principal.id,
  );
  caused(entry_ids);
  await services.keysChanged();
  return resource('key', key.kid, key);
};

import type { Handler } from '../context.ts';
import { resource } from '../reply.ts';

export const revokeKey: Handler<'revokeKey'> = async ({ services, params, body, identity, audited }) => {
  const { entry_ids, ...key } = await services.ledger.revokeKey(
    params.key_id,
    body.reason,
    identity.principal.id,
  );
  audited?.noteEntries(entry_ids);
  await services.keysChanged();
  return resource('key', key.kid, key);
};

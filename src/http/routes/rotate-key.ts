import type { Handler } from '../context.ts';
import { resource } from '../reply.ts';

export const rotateKey: Handler<'rotateKey'> = async ({ services, body, identity, audited }) => {
  const { entry_ids, ...key } = await services.ledger.rotateKey(body.purpose, identity.principal.id);
  audited?.noteEntries(entry_ids);
  await services.keysChanged();
  return resource('key', key.kid, key);
};

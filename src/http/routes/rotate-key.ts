import type { Handler } from '../context.ts';
import { resource } from '../reply.ts';

export const rotateKey: Handler<'rotateKey'> = async ({ services, body, identity }) => {
  const key = await services.ledger.rotateKey(body.purpose, identity.principal.id);
  await services.keysChanged();
  return resource('key', key.kid, key);
};

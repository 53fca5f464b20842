import type { Handler } from '../context.ts';
import { noContent } from '../reply.ts';

export const logout: Handler<'logout'> = async ({ services, identity, audited }) => {
  await services.auth.logout(identity);
  audited?.noteEntries();
  if (identity.jti !== undefined) services.revoked(identity.jti);
  services.pokeOutbox();
  return noContent;
};

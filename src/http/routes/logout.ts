import type { Handler } from '../context.ts';
import { noContent } from '../reply.ts';

export const logout: Handler<'logout'> = async ({ services, identity }) => {
  await services.auth.logout(identity);
  if (identity.jti !== undefined) services.revoked(identity.jti);
  services.pokeOutbox();
  return noContent;
};

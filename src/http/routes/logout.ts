import type { Handler } from '../context.ts';
import { noContent } from '../reply.ts';

export const logout: Handler<'logout'> = async ({ services, identity }) => {
  await services.auth.logout(identity);
  services.revoked(identity.jti);
  services.pokeOutbox();
  return noContent;
};

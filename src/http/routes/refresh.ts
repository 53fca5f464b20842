import type { Handler } from '../context.ts';
import { bareJson } from '../reply.ts';

export const refresh: Handler<'refresh'> = async ({ services, body }) => {
  try {
    return bareJson(await services.auth.refresh(body.refresh_token, services.revoked));
  } finally {
    // A token that is used twice ends its session, which is a critical event.
    services.pokeOutbox();
  }
};

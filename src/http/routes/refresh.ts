import type { Handler } from '../context.ts';
import { bareJson } from '../reply.ts';

export const refresh: Handler<'refresh'> = async ({ services, body, audited }) => {
  const ended = (jti: string) => {
    audited?.noteEntries();
    services.revoked(jti);
  };
  try {
    return bareJson(await services.auth.refresh(body.refresh_token, ended, audited?.id));
  } finally {
    // A token that is used twice ends its session, which is a critical event.
    services.pokeOutbox();
  }
};

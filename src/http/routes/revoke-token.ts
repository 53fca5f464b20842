import { ServiceError } from '../../errors.ts';
import type { Handler } from '../context.ts';
import { noContent } from '../reply.ts';

export const revokeToken: Handler<'revokeToken'> = async ({ services, params, identity }) => {
  const revoked = await services.store.revokeToken(params.token_id, identity.principal);
  if (!revoked)
    throw new ServiceError('NOT_FOUND', `there is no token ${params.token_id}, or it was revoked`);
  services.revoked(params.token_id);
  services.pokeOutbox();
  return noContent;
};

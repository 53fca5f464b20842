import type { Caller } from '../../contract/resources/principal.ts';
import { operationIds } from '../../contract/routes.ts';
import { principalAttributes } from '../../contract/shown-attributes.ts';
import { ServiceError } from '../../errors.ts';
import { isAllowed } from '../access.ts';
import type { Handler } from '../context.ts';
import { resource } from '../reply.ts';

/** `roles` are those of the credentials, which may be fewer than the principal's. */
export const whoAmI: Handler<'whoAmI'> = ({ services, identity }) => {
  const principal = services.reader.principal(identity.principal.id);
  if (principal === undefined) throw new ServiceError('UNAUTHENTICATED', 'the principal is no more');
  const { policy } = services;
  const caller: Caller = {
    ...principalAttributes({ ...principal, roles: identity.roles }),
    operations: operationIds.filter((operation) => isAllowed(policy.accessOf(operation), identity)),
  };
  return resource('principal', principal.id, caller);
};

import { principalAttributes } from '../../contract/shown-attributes.ts';
import { ServiceError } from '../../errors.ts';
import type { Handler } from '../context.ts';
import { resource } from '../reply.ts';

/** `roles` are those of the credentials, which may be fewer than the principal's. */
export const whoAmI: Handler<'whoAmI'> = ({ services, identity }) => {
  const principal = services.reader.principal(identity.principal.id);
  if (principal === undefined) throw new ServiceError('UNAUTHENTICATED', 'the principal is no more');
  return resource('principal', principal.id, principalAttributes({ ...principal, roles: identity.roles }));
};

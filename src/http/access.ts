import type { Role } from '../contract/resources/principal.ts';
import { ServiceError } from '../errors.ts';
import type { Identity } from './endpoint.ts';

/** FORBIDDEN unless the credentials carry one of the roles. */
export function authorize(access: readonly Role[], identity: Identity): void {
  if (access.some((role) => identity.roles.includes(role))) return;
  const has = identity.roles.length === 0 ? 'no role' : identity.roles.join(', ');
  throw new ServiceError('FORBIDDEN', `these credentials carry ${has}, wanted one of ${access.join(', ')}`);
}

import type { Role } from '../contract/vocabulary.ts';
import { ServiceError } from '../errors.ts';
import type { Caller } from '../identities/access.ts';
import type { Authenticated } from './endpoint.ts';

/** Returns whether credentials suffice for an operation. */
export const isAllowed = (access: 'public' | readonly Role[], { roles }: Pick<Authenticated, 'roles'>): boolean =>
  access === 'public' || access.some((role) => roles.includes(role));

/** Throws FORBIDDEN unless the credentials have one of the roles; an empty list denies everyone. */
export function authorize(access: readonly Role[], identity: Authenticated): void {
  if (isAllowed(access, identity)) return;
  if (access.length === 0) throw new ServiceError('FORBIDDEN', 'the access policy denies this operation to everyone');
  const has = identity.roles.length === 0 ? 'no role' : identity.roles.join(', ');
  throw new ServiceError('FORBIDDEN', `these credentials have ${has}, but need one of ${access.join(', ')}`);
}

/** Returns the caller of an identity change, with the roles of the caller's credentials. */
export const callerOf = ({ principal, roles }: Authenticated): Caller => ({ ...principal, roles });

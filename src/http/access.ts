import type { Caller } from '../auth/access.ts';
import type { Role } from '../contract/vocabulary.ts';
import { ServiceError } from '../errors.ts';
import type { Identity } from './endpoint.ts';

/** Whether credentials suffice for what these may do. */
export const isAllowed = (access: 'public' | readonly Role[], { roles }: Pick<Identity, 'roles'>): boolean =>
  access === 'public' || access.some((role) => roles.includes(role));

/** FORBIDDEN unless the credentials carry one of the roles; without any, nobody's do. */
export function authorize(access: readonly Role[], identity: Identity): void {
  if (isAllowed(access, identity)) return;
  if (access.length === 0) throw new ServiceError('FORBIDDEN', 'the access policy denies this to everybody');
  const has = identity.roles.length === 0 ? 'no role' : identity.roles.join(', ');
  throw new ServiceError('FORBIDDEN', `these credentials carry ${has}, wanted one of ${access.join(', ')}`);
}

/** Who asks for a change of identities, with what these credentials may do. */
export const callerOf = ({ principal, roles }: Identity): Caller => ({ ...principal, roles });

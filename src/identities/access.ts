import { type Role, roles } from '../contract/vocabulary.ts';
import { ServiceError } from '../errors.ts';
import type { Actor } from '../store/store.ts';

/** Roles that a role includes: an administrator has all roles, an analyst is also a viewer. */
const included: Partial<Record<Role, readonly Role[]>> = { admin: roles, analyst: ['viewer'] };

/** Returns whether a principal with these roles may grant or use the given role. */
export function holds(principal: readonly Role[], role: Role): boolean {
  return principal.some((own) => own === role || included[own]?.includes(role));
}

/** Returns the effective roles of a token: its roles that the principal still holds. */
export function effectiveRoles(token: readonly Role[], principal: readonly Role[]): Role[] {
  return token.filter((role) => holds(principal, role));
}

/** The caller that changes identities, with the roles of its credentials. */
export interface Caller extends Actor {
  readonly roles: readonly Role[];
}

/**
 * Throws unless the caller holds all `wanted` roles.
 *
 * @param wanted - the roles to grant, or the roles of the principal whose credentials are created or replaced
 *
 * @throws FORBIDDEN
 */
export function requireHeld({ roles: own }: Caller, wanted: readonly Role[]): void {
  const beyond = wanted.filter((role) => !holds(own, role));
  if (beyond.length > 0)
    throw new ServiceError(
      'FORBIDDEN',
      `these credentials lack the roles ${beyond.join(', ')} and so cannot grant them`,
    );
}

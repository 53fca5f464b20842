import { type Role, roles } from '../contract/vocabulary.ts';
import { ServiceError } from '../errors.ts';
import type { Actor } from '../store/store.ts';

/** What a role includes besides itself: an administrator may do everything, an analyst what a viewer may. */
const included: Partial<Record<Role, readonly Role[]>> = { admin: roles, analyst: ['viewer'] };

/** True when a principal with these roles may hand out, or act in, the given one. */
export function holds(principal: readonly Role[], role: Role): boolean {
  return principal.some((own) => own === role || included[own]?.includes(role));
}

/** The roles that a token still has: those it was given, as far as its principal holds them. */
export function effectiveRoles(token: readonly Role[], principal: readonly Role[]): Role[] {
  return token.filter((role) => holds(principal, role));
}

/** Who asks for a change of identities, with what the credentials may do. */
export interface Caller extends Actor {
  readonly roles: readonly Role[];
}

/**
 * Nobody hands out, or takes over, what he may not do himself.
 *
 * @param wanted - the roles that are given to somebody, or that somebody has whose credentials are made or replaced
 * @throws FORBIDDEN
 */
export function requireHeld({ roles: own }: Caller, wanted: readonly Role[]): void {
  const beyond = wanted.filter((role) => !holds(own, role));
  if (beyond.length > 0)
    throw new ServiceError(
      'FORBIDDEN',
      `these credentials do not carry ${beyond.join(', ')}, and so cannot give it`,
    );
}

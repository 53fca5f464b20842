import { type Role, roles } from '../contract/resources/principal.ts';
import { ServiceError } from '../errors.ts';

/** Who may do an operation: everybody, or who has one of the roles. An empty list is nobody. */
export type Access = 'public' | readonly Role[];

/** True when one of the roles suffices. What isn't allowed is forbidden: no list, no access. */
export function mayAccess(access: Access | undefined, own: readonly Role[]): boolean {
  if (access === undefined) return false;
  return access === 'public' || own.some((role) => access.includes(role));
}

/**
 * @param identity - undefined for a caller without credentials
 * @throws UNAUTHENTICATED without credentials where they are needed, FORBIDDEN when the roles do not suffice.
 */
export function requireAccess(
  access: Access | undefined,
  identity: { readonly roles: readonly Role[] } | undefined,
): void {
  if (mayAccess(access, identity?.roles ?? [])) return;
  if (identity === undefined) throw new ServiceError('UNAUTHENTICATED', 'this needs credentials');
  throw new ServiceError('FORBIDDEN', `the role ${identity.roles.join(', ') || 'none'} may not do this`);
}

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

import { type Role, roles } from '../contract/resources/principal.ts';

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

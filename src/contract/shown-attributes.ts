/**
 * Attributes of stored records that the API returns. The store also has hashes of secrets, which must not be
 * returned.
 */
import type { Principal } from './resources/principal.ts';
import type { Token } from './resources/token.ts';
import type { Role } from './vocabulary.ts';

/** Returns the attributes of a principal without its password hash. */
export function principalAttributes(
  stored: Readonly<Omit<Principal, 'roles'>> & { readonly roles: readonly Role[] },
): Principal {
  const { name, kind, roles, status, created_at, last_login_at, version = 1 } = stored;
  return {
    name,
    kind,
    roles: [...roles],
    status,
    created_at,
    ...(last_login_at === undefined ? {} : { last_login_at }),
    version,
  };
}

/** Returns the attributes of a token without the hash of its secret. */
export function tokenAttributes(stored: Readonly<Omit<Token, 'scopes'>> & { readonly roles: readonly Role[] }): Token {
  const { jti, principal_id, kind, name, roles, issued_at, expires_at, revoked_at, last_used_at } = stored;
  return {
    jti,
    principal_id,
    kind,
    ...(name === undefined ? {} : { name }),
    scopes: [...roles],
    issued_at,
    ...(expires_at === undefined ? {} : { expires_at }),
    ...(revoked_at === undefined ? {} : { revoked_at }),
    ...(last_used_at === undefined ? {} : { last_used_at }),
  };
}

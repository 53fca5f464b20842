/** What is shown of what is stored, where the store has more than the interface: the hashes of secrets. */
import type { Principal } from './resources/principal.ts';
import type { Token } from './resources/token.ts';
import type { Role } from './vocabulary.ts';

/** Of a principal, not the hash of its password. */
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

/** Of a token, not the hash of its secret. */
export function tokenAttributes(
  stored: Readonly<Omit<Token, 'scopes'>> & { readonly roles: readonly Role[] },
): Token {
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

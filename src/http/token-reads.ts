import type { Token } from '../contract/resources/token.ts';
import type { Token as StoredToken } from '../store/store.ts';

/** Everything of a stored token but the hash of its secret. */
export function tokenAttributes(stored: StoredToken): Token {
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

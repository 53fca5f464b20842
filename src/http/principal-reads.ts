import type { Principal } from '../contract/resources/principal.ts';
import { ServiceError } from '../errors.ts';
import type { Principal as StoredPrincipal } from '../store/store.ts';
import type { Services } from './services.ts';

/** Everything of a stored principal but the hash of its password. */
export function principalAttributes(stored: StoredPrincipal): Principal {
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

/** @throws NOT_FOUND */
export function readPrincipal(id: string, { reader }: Pick<Services, 'reader'>): StoredPrincipal {
  const principal = reader.principal(id);
  if (principal === undefined) throw new ServiceError('NOT_FOUND', `there is no principal ${id}`);
  return principal;
}

import { principalProvisioned } from '../../contract/critical-events.ts';
import { ServiceError } from '../../errors.ts';
import type { Actor, Principal } from '../store.ts';
import { keyHash } from './key-hash.ts';
import type { Outbox } from './outbox.ts';
import type { Tables } from './tables.ts';

export function principalByName(tables: Tables, name: string): Principal | undefined {
  const id = tables.principalNames.get(keyHash(name));
  return id === undefined ? undefined : tables.principals.get(id);
}

/**
 * Plans the creation of a principal. The very first one belongs to the initialisation, which is no event of the log.
 *
 * @throws CONFLICT when the name or the id is taken.
 */
export function planPrincipal(
  tables: Tables,
  outbox: Outbox,
  principal: Principal,
  by: Actor,
  nowMs: number,
): () => void {
  if (tables.principalNames.doesExist(keyHash(principal.name)))
    throw new ServiceError('CONFLICT', `a principal named ${principal.name} exists`, {
      field: 'name',
      reason: 'is taken',
    });
  if (tables.principals.doesExist(principal.id))
    throw new ServiceError('CONFLICT', `a principal with id ${principal.id} exists`, {
      field: 'id',
      reason: 'is taken',
    });
  const logged = tables.principals.getKeysCount({ limit: 1 }) > 0;
  if (logged) outbox.requireRoom();
  return () => {
    tables.principals.putSync(principal.id, principal);
    tables.principalNames.putSync(keyHash(principal.name), principal.id);
    if (logged) outbox.add(principalProvisioned(principal.id, principal, by.id), nowMs);
  };
}

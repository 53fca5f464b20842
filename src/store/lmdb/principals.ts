import { principalProvisioned } from '../../contract/critical-events.ts';
import { ServiceError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { Actor, Principal } from '../store.ts';
import { indexAdministrator } from './administrators.ts';
import { keyHash } from './key-hash.ts';
import type { Outbox } from './outbox.ts';
import { entryCount, type Tables } from './tables.ts';

export function principalByName(tables: Tables, name: string): Principal | undefined {
  const id = tables.principalNames.get(keyHash(name));
  return id === undefined ? undefined : tables.principals.get(id);
}

/** Newest first: their keys are UUIDv7. */
export function listPrincipals(tables: Tables, page: number, perPage: number) {
  const total = entryCount(tables.principals);
  const offset = (page - 1) * perPage;
  const range = offset < total ? tables.principals.getRange({ reverse: true, offset, limit: perPage }) : [];
  return { principals: Array.from(range, ({ value }) => value), total };
}

/** @throws CONFLICT */
export function requireFreeName(tables: Tables, name: string): void {
  if (!tables.principalNames.doesExist(keyHash(name))) return;
  throw new ServiceError('CONFLICT', `a principal named ${name} exists`, {
    field: 'name',
    reason: 'is taken',
  });
}

/**
 * Plans the creation of a principal. The very first one belongs to the initialisation, which is no event of the log.
 *
 * @throws CONFLICT when the name or the id is taken, and when there are too many.
 */
export function planPrincipal(
  tables: Tables,
  outbox: Outbox,
  principal: Principal,
  by: Actor,
  nowMs: number,
): () => void {
  requireFreeName(tables, principal.name);
  if (tables.principals.doesExist(principal.id))
    throw new ServiceError('CONFLICT', `a principal with id ${principal.id} exists`, {
      field: 'id',
      reason: 'is taken',
    });
  const others = entryCount(tables.principals);
  if (others >= limits.maxPrincipals)
    throw new ServiceError('CONFLICT', `there are ${others} principals, the most there can be`, {
      reason: 'too many principals',
    });
  if (others > 0) outbox.requireRoom();
  return () => {
    tables.principals.putSync(principal.id, principal);
    tables.principalNames.putSync(keyHash(principal.name), principal.id);
    indexAdministrator(tables, principal);
    if (others > 0) outbox.add(principalProvisioned(principal.id, principal, by.id), nowMs);
  };
}

import { principalProvisioned } from '../../contract/critical-events.ts';
import { principalAttributes } from '../../contract/shown-attributes.ts';
import { isAllByTime, positionsById } from '../../database/id-pages.ts';
import { jsonPage } from '../../database/json-page.ts';
import { pageFrom, pageOf } from '../../database/lists/list.ts';
import { entryCount } from '../../database/rows.ts';
import { ServiceError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { Outbox } from '../../store/outbox.ts';
import type { Actor, ListPage, ListQuery, Principal } from '../../store/store.ts';
import { principalList } from '../lists.ts';
import { indexAdministrator } from './administrators.ts';
import { indexName, requireFreeName } from './principal-names.ts';
import type { IdentityTables } from './tables.ts';

/**
 * Returns one page of principals, without hashes, with the exact total. With a filter, every principal is
 * read.
 */
export function listPrincipals({ principals }: IdentityTables, query: ListQuery, cancelled: () => boolean): ListPage {
  const rows = principals.getRange().map(({ key, value }) => ({ id: key, item: value }));
  const { shown, ...rest } = isAllByTime(query, 'created_at')
    ? pageFrom(principalList, query, (after, offset) => positionsById(principals, query, after, offset))
    : pageOf(principalList, rows, query, cancelled);
  const resources = shown.map(({ id }) => ({
    id,
    type: principalList.type,
    attributes: principalAttributes(principals.get(id)!),
  }));
  return { json: jsonPage(resources, query), ...rest };
}

/** Returns stored principals, newest first, because their keys are UUIDv7. */
export function storedPrincipals(tables: IdentityTables, page: number, perPage: number) {
  const total = entryCount(tables.principals);
  const offset = (page - 1) * perPage;
  const range = offset < total ? tables.principals.getRange({ reverse: true, offset, limit: perPage }) : [];
  return { principals: Array.from(range, ({ value }) => value), total };
}

/**
 * Plans the creation of a principal. The first principal is part of the initialisation, which is not logged.
 *
 * @throws CONFLICT if the name or the id is taken, or if there are already limits.maxPrincipals principals; UNAVAILABLE
 * if the outbox is full
 */
export function planPrincipal(
  tables: IdentityTables,
  outbox: Outbox,
  principal: Principal,
  by: Actor,
  nowMs: number,
): () => void {
  requireFreeName(tables, principal.name, principal.id);
  if (tables.principals.doesExist(principal.id))
    throw new ServiceError('CONFLICT', `id: a principal with id ${principal.id} exists`, {
      field: 'id',
      reason: 'is taken',
    });
  const others = entryCount(tables.principals);
  if (others >= limits.maxPrincipals)
    throw new ServiceError('CONFLICT', `principal limit reached (${others})`, {
      reason: 'too many principals',
    });
  if (others > 0) outbox.requireRoom();
  return () => {
    tables.principals.putSync(principal.id, principal);
    indexName(tables, principal);
    indexAdministrator(tables, principal);
    if (others > 0) outbox.add(principalProvisioned(principal.id, principal, by.id), nowMs, by.call);
  };
}

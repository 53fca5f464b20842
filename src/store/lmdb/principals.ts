import { principalProvisioned } from '../../contract/critical-events.ts';
import { principalAttributes } from '../../contract/shown-attributes.ts';
import { ServiceError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { jsonPage } from '../json-page.ts';
import { pageFrom, pageOf } from '../lists/list.ts';
import { principalList } from '../lists/principals.ts';
import type { Actor, ListPage, ListQuery, Principal } from '../store.ts';
import { indexAdministrator } from './administrators.ts';
import { isAllByTime, placesById } from './id-pages.ts';
import type { Outbox } from './outbox.ts';
import { indexName, requireFreeName } from './principal-names.ts';
import { entryCount, type Tables } from './tables.ts';

/** Returns one page with the exact total, without hashes. With a filter, every principal is read. */
export function listPrincipals({ principals }: Tables, query: ListQuery, cancelled: () => boolean): ListPage {
  const rows = principals.getRange().map(({ key, value }) => ({ id: key, item: value }));
  const { shown, ...rest } = isAllByTime(query, 'created_at')
    ? pageFrom(principalList, query, (after, offset) => placesById(principals, query, after, offset))
    : pageOf(principalList, rows, query, cancelled);
  const resources = shown.map(({ id }) => ({
    id,
    type: principalList.type,
    attributes: principalAttributes(principals.get(id)!),
  }));
  return { json: jsonPage(resources, query), ...rest };
}

/** Returns stored principals, newest first: their keys are UUIDv7. */
export function storedPrincipals(tables: Tables, page: number, perPage: number) {
  const total = entryCount(tables.principals);
  const offset = (page - 1) * perPage;
  const range = offset < total ? tables.principals.getRange({ reverse: true, offset, limit: perPage }) : [];
  return { principals: Array.from(range, ({ value }) => value), total };
}

/** Reads from the index, oldest first. */
export function storedAdministrators({ administrators, principals }: Tables, limit: number): Principal[] {
  const ids = Array.from(administrators.getKeys({ limit }));
  return ids.map((id) => principals.get(id)).filter((principal) => principal !== undefined);
}

/**
 * Plans the creation of a principal. The first one is part of the initialisation, which is not logged.
 *
 * @throws CONFLICT when the name or the id is taken, and at limits.maxPrincipals.
 */
export function planPrincipal(
  tables: Tables,
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

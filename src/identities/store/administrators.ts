import { entryCount } from '../../database/rows.ts';
import type { Principal } from '../../store/store.ts';
import type { IdentityTables } from './tables.ts';

/**
 * Returns whether a principal can sign in and repair the access of others. A principal without a password
 * does not count, because the authority of its certificate may no longer exist.
 */
export const isAdministrator = ({ kind, status, roles, password_hash }: Principal): boolean =>
  kind === 'user' && status === 'active' && roles.includes('admin') && password_hash !== undefined;

/** Updates the index for a stored principal. Must be called in a transaction. */
export function indexAdministrator({ administrators }: IdentityTables, principal: Principal): void {
  if (isAdministrator(principal)) administrators.putSync(principal.id, true);
  else administrators.removeSync(principal.id);
}

/** Builds the index of administrators if the index is empty. Must be called in a transaction. */
export function completeAdministrators(tables: IdentityTables): void {
  if (entryCount(tables.administrators) > 0) return;
  for (const { value } of tables.principals.getRange())
    if (isAdministrator(value)) tables.administrators.putSync(value.id, true);
}

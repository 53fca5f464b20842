import type { Principal } from '../store.ts';
import { entryCount, type Tables } from './tables.ts';

/**
 * Whether a principal can sign in and repair the access of others. A certificate alone does not count: its
 * authority may be gone.
 */
export const isAdministrator = ({ kind, status, roles, password_hash }: Principal): boolean =>
  kind === 'user' && status === 'active' && roles.includes('admin') && password_hash !== undefined;

/** Updates the index for a stored principal. Runs within a transaction. */
export function indexAdministrator({ administrators }: Tables, principal: Principal): void {
  if (isAdministrator(principal)) administrators.putSync(principal.id, true);
  else administrators.removeSync(principal.id);
}

/** Builds the index of a file that has none. Runs within a transaction. */
export function completeAdministrators(tables: Tables): void {
  if (entryCount(tables.administrators) > 0) return;
  for (const { value } of tables.principals.getRange())
    if (isAdministrator(value)) tables.administrators.putSync(value.id, true);
}

import type { Principal } from '../store.ts';
import { entryCount, type Tables } from './tables.ts';

/** Who can sign in and repair whatever the others broke. A certificate alone doesn't count: its authority may be gone. */
export const isAdministrator = ({ kind, status, roles, password_hash }: Principal): boolean =>
  kind === 'user' && status === 'active' && roles.includes('admin') && password_hash !== undefined;

/** Keeps the index with what is stored of a principal. Within a transaction. */
export function indexAdministrator({ administrators }: Tables, principal: Principal): void {
  if (isAdministrator(principal)) administrators.putSync(principal.id, true);
  else administrators.removeSync(principal.id);
}

/** The index of a file that has none yet. Within a transaction. */
export function completeAdministrators(tables: Tables): void {
  if (entryCount(tables.administrators) > 0) return;
  for (const { value } of tables.principals.getRange())
    if (isAdministrator(value)) tables.administrators.putSync(value.id, true);
}

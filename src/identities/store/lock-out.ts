import type { AccessRule } from '../../contract/resources/policy.ts';
import type { OperationId } from '../../contract/routes.ts';
import { ServiceError } from '../../errors.ts';
import type { Principal } from '../../store/store.ts';
import { accessTable } from '../policy/access-table.ts';
import type { IdentityTables } from './tables.ts';

/** Operations that let an administrator restore all other access. */
export const restoring = [
  'getPolicy',
  'updatePolicy',
  'reloadPolicy',
  'listPrincipals',
  'updatePrincipal',
] as const satisfies readonly OperationId[];

/**
 * Throws unless at least one user could change these rules: an active user with a password and with roles for all
 * operations in `restoring`. Must be called in the transaction of the change, so that rules and principals do not
 * change concurrently.
 *
 * @param change - a change of a principal; without it, the rules change
 * @throws CONFLICT
 */
export function refuseLockOut(
  tables: IdentityTables,
  rules: readonly AccessRule[],
  change?: { readonly before: Principal; readonly after: Principal },
): void {
  const table = accessTable(rules);
  const mayCall = ({ roles }: Principal, operation: OperationId) => {
    const access = table.get(operation) ?? [];
    return access === 'public' || access.some((role) => roles.includes(role));
  };
  const mayRestore = (principal: Principal) => {
    const signsIn = principal.kind === 'user' && principal.password_hash !== undefined;
    return signsIn && principal.status === 'active' && restoring.every((one) => mayCall(principal, one));
  };
  if (change !== undefined && (!mayRestore(change.before) || mayRestore(change.after))) return;
  for (const stored of likeliestFirst(tables))
    if (mayRestore(stored.id === change?.after.id ? change.after : stored)) return;
  throw new ServiceError(
    'CONFLICT',
    `no active user with a password would be permitted all of ${restoring.join(', ')}, so the policy could not be changed again`,
    { reason: 'locks_out', operations: restoring },
  );
}

/**
 * Yields active administrators, then all principals. All principals are read only if no administrator qualifies:
 * 0.4 s at `limits.maxPrincipals`, during which the store commits nothing else.
 */
function* likeliestFirst({ administrators, principals }: IdentityTables): Generator<Principal> {
  for (const id of administrators.getKeys()) {
    const principal = principals.get(id);
    if (principal !== undefined) yield principal;
  }
  for (const { value } of principals.getRange()) yield value;
}

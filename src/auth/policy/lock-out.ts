import { setImmediate } from 'node:timers/promises';
import type { AccessRule } from '../../contract/resources/policy.ts';
import type { OperationId } from '../../contract/routes.ts';
import { ServiceError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { Principal, StoreReader } from '../../store/store.ts';
import { accessTable } from './check-rules.ts';

/** Operations with which an administrator can restore all other access. */
export const restoring = [
  'getPolicy',
  'updatePolicy',
  'reloadPolicy',
  'listPrincipals',
  'updatePrincipal',
] as const satisfies readonly OperationId[];

export type PrincipalsReader = Pick<StoreReader, 'storedPrincipals' | 'storedAdministrators'>;

/**
 * Requires that an administrator remains. Must be called in the queue of the policy, so that rules and
 * principals do not change concurrently.
 *
 * @param changed - a principal as it will be after the change
 * @throws CONFLICT if no active user with a password could change these rules, that is, has roles for all
 * operations in `restoring`
 */
export async function requireAdministrator(
  rules: readonly AccessRule[],
  reader: PrincipalsReader,
  changed?: Principal,
): Promise<void> {
  const table = accessTable(rules);
  const may = ({ roles }: Principal, operation: OperationId) => {
    const access = table.get(operation) ?? [];
    return access === 'public' || access.some((role) => roles.includes(role));
  };
  for await (const stored of likeliestFirst(reader)) {
    const principal = stored.id === changed?.id ? changed : stored;
    const signsIn = principal.kind === 'user' && principal.password_hash !== undefined;
    if (signsIn && principal.status === 'active' && restoring.every((operation) => may(principal, operation)))
      return;
  }
  throw new ServiceError(
    'CONFLICT',
    `no active user with a password would be permitted all of ${restoring.join(', ')}, so the policy could not be changed again`,
    { reason: 'locks_out', operations: restoring },
  );
}

/**
 * Yields principals with the role admin, then all principals: 400 ms at `limits.maxPrincipals`, yielding to
 * other work after each page. Pages are ordered from the newest, so principals added during the scan cannot
 * cause others to be skipped.
 */
async function* likeliestFirst(reader: PrincipalsReader): AsyncGenerator<Principal> {
  yield* reader.storedAdministrators(limits.maxPerPage);
  for (let page = 1; ; page++) {
    const { principals } = reader.storedPrincipals(page, limits.maxPerPage);
    yield* principals;
    if (principals.length < limits.maxPerPage) return;
    await setImmediate();
  }
}

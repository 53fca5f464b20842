import { setImmediate } from 'node:timers/promises';
import type { AccessRule } from '../../contract/resources/policy.ts';
import type { OperationId } from '../../contract/routes.ts';
import { ServiceError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { Principal, StoreReader } from '../../store/store.ts';
import { accessTable } from './check-rules.ts';

/** With these, whatever else a policy took away can be had back. */
export const restoring = [
  'getPolicy',
  'updatePolicy',
  'reloadPolicy',
  'listPrincipals',
  'updatePrincipal',
] as const satisfies readonly OperationId[];

export type PrincipalsReader = Pick<StoreReader, 'storedPrincipals' | 'storedAdministrators'>;

/**
 * Holds only as long as nobody else changes rules or principals: to be asked in the policy's turn.
 *
 * @param changed - a principal as it is going to be
 * @throws CONFLICT where under these rules nobody could change them any more: no active user with a password holds
 * roles that may do all of `restoring`
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
    `then no active user with a password may do all of ${restoring.join(', ')}: nobody could change it any more`,
    { reason: 'locks_out', operations: restoring },
  );
}

/**
 * Those with the role admin, then everybody: 400 ms at `limits.maxPrincipals`, a page at a time with room for others
 * between. Pages count from the newest, so that who is added meanwhile shifts nobody out of sight.
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

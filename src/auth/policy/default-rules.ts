import type { AccessRule } from '../../contract/resources/policy.ts';
import { type OperationId, operationIds, routeOf } from '../../contract/routes.ts';
import type { Role } from '../../contract/vocabulary.ts';
import { inOrder } from './check-rules.ts';

/** Settings that shape the default, and nothing later: from then on the policy is what it says. */
export interface PolicyDefaults {
  /** `metrics.require_auth` */
  readonly metricsNeedRole: boolean;
  /** `transparency.public_entries` */
  readonly publicEntries: boolean;
}

/** Who reads metrics where they are not for everybody. */
const metricsReaders: readonly Role[] = ['viewer', 'analyst', 'admin'];

/** A rule for each operation of the contract, in its order. */
export function defaultRules(defaults: PolicyDefaults): AccessRule[] {
  const rules = operationIds.map((operation): AccessRule => {
    const access = defaultAccess(operation, defaults);
    return access === 'public'
      ? { operation, access, roles: [] }
      : { operation, access: 'roles', roles: [...access] };
  });
  return inOrder(rules);
}

function defaultAccess(
  operation: OperationId,
  { metricsNeedRole, publicEntries }: PolicyDefaults,
): 'public' | readonly Role[] {
  const { access, tag } = routeOf(operation);
  if (operation === 'getMetrics' && metricsNeedRole) return metricsReaders;
  // What the transparency interface keeps to some roles is what shows entries.
  if (tag === 'transparency' && publicEntries) return 'public';
  return access;
}

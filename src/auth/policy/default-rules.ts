import type { AccessRule } from '../../contract/resources/policy.ts';
import { type OperationId, operationIds, routeOf } from '../../contract/routes.ts';
import type { Role } from '../../contract/vocabulary.ts';
import { inOrder } from './check-rules.ts';

/**
 * Settings that determine the default policy, and that are applied again at a start after they have changed.
 */
export interface PolicyDefaults {
  /** `metrics.require_auth` */
  readonly metricsNeedRole: boolean;
  /** `transparency.public_entries` */
  readonly publicEntries: boolean;
}

/** Roles that may read metrics if metrics are not public. */
const metricsReaders: readonly Role[] = ['viewer', 'analyst', 'admin'];

/** Returns a rule for each operation, in the order of the contract. */
export function defaultRules(defaults: PolicyDefaults): AccessRule[] {
  const rules = operationIds.map((operation): AccessRule => {
    const access = defaultAccess(operation, defaults);
    return access === 'public'
      ? { operation, access, roles: [] }
      : { operation, access: 'roles', roles: [...access] };
  });
  return inOrder(rules);
}

/** Returns the setting that decides whether an operation is public, if there is one. */
function settingOf(operation: OperationId): keyof PolicyDefaults | undefined {
  if (operation === 'getMetrics') return 'metricsNeedRole';
  const { access, tag } = routeOf(operation);
  return tag === 'transparency' && access !== 'public' ? 'publicEntries' : undefined;
}

/**
 * Applies changed settings: makes the operations that they control public or restricted. Other rules are kept
 * as administrators made them, and so are the roles of operations that are already restricted as required.
 */
export function withSettings(
  rules: readonly AccessRule[],
  hasChanged: (setting: keyof PolicyDefaults) => boolean,
  settings: PolicyDefaults,
): AccessRule[] {
  const wanted = new Map(defaultRules(settings).map((rule) => [rule.operation, rule]));
  return rules.map((rule) => {
    const setting = settingOf(rule.operation as OperationId);
    if (setting === undefined || !hasChanged(setting)) return rule;
    const other = wanted.get(rule.operation)!;
    return (rule.access === 'public') === (other.access === 'public') ? rule : other;
  });
}

/**
 * Returns a message for each setting that the policy overrides. A policy that is stricter than the default
 * roles is not reported.
 */
export function contradictions(
  accessOf: (operation: OperationId) => 'public' | readonly Role[],
  { metricsNeedRole, publicEntries }: PolicyDefaults,
): string[] {
  const isPublic = (operation: OperationId) => accessOf(operation) === 'public';
  const ofEntries = operationIds.filter((operation) => settingOf(operation) === 'publicEntries');
  return [
    ...(metricsNeedRole && isPublic('getMetrics')
      ? [`metrics.require_auth is on, but the access policy makes /metrics public. ${decides}`]
      : []),
    ...(publicEntries && !ofEntries.every(isPublic)
      ? [
          `transparency.public_entries is on, but the access policy restricts log entries to roles. ${decides}`,
        ]
      : []),
    ...(!publicEntries && ofEntries.some(isPublic)
      ? [`transparency.public_entries is off, but the access policy makes log entries public. ${decides}`]
      : []),
  ];
}

const decides = 'The policy takes precedence: change the policy or the setting.';

function defaultAccess(
  operation: OperationId,
  { metricsNeedRole, publicEntries }: PolicyDefaults,
): 'public' | readonly Role[] {
  const { access, tag } = routeOf(operation);
  if (operation === 'getMetrics' && metricsNeedRole) return metricsReaders;
  // In the transparency API, only operations that return entries are restricted.
  if (tag === 'transparency' && publicEntries) return 'public';
  return access;
}

import type { AccessRule } from '../../contract/resources/policy.ts';
import { type OperationId, operationIds, routeOf } from '../../contract/routes.ts';
import type { Role } from '../../contract/vocabulary.ts';
import { inOrder } from './check-rules.ts';

/** Settings that shape the policy: the default, and again at each start at which one of them has changed. */
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

/** The setting that decides whether an operation is public, where one does. */
function settingOf(operation: OperationId): keyof PolicyDefaults | undefined {
  if (operation === 'getMetrics') return 'metricsNeedRole';
  const { access, tag } = routeOf(operation);
  return tag === 'transparency' && access !== 'public' ? 'publicEntries' : undefined;
}

/**
 * Opens and closes what settings decide that have changed. Other rules stay as administrators made them, and so do the
 * roles of operations that are as open as the settings want them.
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

/** Where the policy, which decides, is not what a setting says. A policy that is stricter than the defaults is not named. */
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

const decides = 'The policy decides: change it, or the setting.';

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

import type { AccessRule } from '../../contract/resources/policy.ts';
import { type OperationId, operationIds, routeOf } from '../../contract/routes.ts';
import type { Role } from '../../contract/vocabulary.ts';
import type { StoredPolicy } from '../store/policy.ts';
import { checkRules, inOrder } from './access-rules.ts';

/**
 * Settings that determine the default policy. If they change, they are applied to the policy at the next
 * start.
 */
export interface PolicyDefaults {
  /** Value of `metrics.require_auth`. */
  readonly metricsNeedRole: boolean;
  /** Value of `transparency.public_entries`. */
  readonly publicEntries: boolean;
}

/** Roles that may read metrics if metrics are not public. */
const metricsReaders: readonly Role[] = ['viewer', 'analyst', 'admin'];

/** Returns the default rule of each operation, in the order of the contract. */
export function defaultRules(defaults: PolicyDefaults): AccessRule[] {
  const rules = operationIds.map((operation): AccessRule => {
    const access = defaultAccess(operation, defaults);
    return access === 'public' ? { operation, access, roles: [] } : { operation, access: 'roles', roles: [...access] };
  });
  return inOrder(rules);
}

/** Returns the setting that decides whether an operation is public; undefined if there is no such setting. */
function settingOf(operation: OperationId): keyof PolicyDefaults | undefined {
  if (operation === 'getMetrics') return 'metricsNeedRole';
  const { access, tag } = routeOf(operation);
  return tag === 'transparency' && access !== 'public' ? 'publicEntries' : undefined;
}

/**
 * Applies changed settings: makes the operations that they control public or restricted. Other rules stay as
 * administrators set them, and so do the roles of operations that are already restricted as required.
 */
function withSettings(
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
 * Returns the rules for a start with a stored policy. Rules of operations that no longer exist are removed,
 * new operations get their default rule, and settings that changed since the last start are applied. With the
 * same contract and settings, the policy is unchanged.
 */
export function startingRules(
  rules: readonly AccessRule[],
  { operations, settings, version }: Pick<StoredPolicy, 'operations' | 'settings' | 'version'>,
  defaults: PolicyDefaults,
): AccessRule[] {
  const known = new Set(operations);
  const ruled = new Set(rules.map(({ operation }) => operation));
  const exists = new Set<string>(operationIds);
  // Earlier versions of the program did not store the settings. Without stored settings, the current settings
  // apply only to a policy that was never changed.
  const hasChanged = (setting: keyof PolicyDefaults) =>
    settings === undefined ? version === 1 : settings[setting] !== defaults[setting];
  const stay = rules.filter(({ operation }) => exists.has(operation));
  return checkRules([
    ...withSettings(stay, hasChanged, defaults),
    ...defaultRules(defaults).filter(({ operation }) => !known.has(operation) && !ruled.has(operation)),
  ]);
}

/** Returns the operations of a stored policy that no longer exist. */
export function goneSince({ operations }: Pick<StoredPolicy, 'operations'>): ReadonlySet<string> {
  const exist = new Set<string>(operationIds);
  return new Set(operations.filter((operation) => !exist.has(operation)));
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
      ? [`transparency.public_entries is on, but the access policy restricts log entries to roles. ${decides}`]
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
  // Only operations that return entries are restricted in the transparency API.
  if (tag === 'transparency' && publicEntries) return 'public';
  return access;
}

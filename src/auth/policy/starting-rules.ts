import type { AccessRule } from '../../contract/resources/policy.ts';
import { operationIds } from '../../contract/routes.ts';
import { checkRules } from './check-rules.ts';
import { defaultRules, type PolicyDefaults, withSettings } from './default-rules.ts';
import type { KeptPolicy } from './kept-policy.ts';

/**
 * What a start makes of the policy that an earlier program kept: rules for operations that there are no more go, and
 * operations that are new get their default rule. Settings apply that have changed since the last start. Otherwise,
 * between programs of the same contract, it is the same policy.
 */
export function startingRules(
  rules: readonly AccessRule[],
  { operations, settings, version }: Pick<KeptPolicy, 'operations' | 'settings' | 'version'>,
  defaults: PolicyDefaults,
): AccessRule[] {
  const known = new Set(operations);
  const ruled = new Set(rules.map(({ operation }) => operation));
  const exists = new Set<string>(operationIds);
  // Earlier programs did not record the settings: then only a policy that was never changed follows them.
  const hasChanged = (setting: keyof PolicyDefaults) =>
    settings === undefined ? version === 1 : settings[setting] !== defaults[setting];
  const stay = rules.filter(({ operation }) => exists.has(operation));
  return checkRules([
    ...withSettings(stay, hasChanged, defaults),
    ...defaultRules(defaults).filter(({ operation }) => !known.has(operation) && !ruled.has(operation)),
  ]);
}

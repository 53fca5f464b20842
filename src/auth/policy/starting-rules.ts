import type { AccessRule } from '../../contract/resources/policy.ts';
import { operationIds } from '../../contract/routes.ts';
import { checkRules } from './check-rules.ts';
import { defaultRules, type PolicyDefaults, withSettings } from './default-rules.ts';
import type { KeptPolicy } from './kept-policy.ts';

/**
 * Returns the rules for a start with a stored policy. Rules of operations that no longer exist are removed,
 * new operations get their default rule, and settings that changed since the last start are applied. With the
 * same contract and settings, the policy is unchanged.
 */
export function startingRules(
  rules: readonly AccessRule[],
  { operations, settings, version }: Pick<KeptPolicy, 'operations' | 'settings' | 'version'>,
  defaults: PolicyDefaults,
): AccessRule[] {
  const known = new Set(operations);
  const ruled = new Set(rules.map(({ operation }) => operation));
  const exists = new Set<string>(operationIds);
  // Earlier versions of the program did not store the settings. Then they apply only to a policy that was
  // never changed.
  const hasChanged = (setting: keyof PolicyDefaults) =>
    settings === undefined ? version === 1 : settings[setting] !== defaults[setting];
  const stay = rules.filter(({ operation }) => exists.has(operation));
  return checkRules([
    ...withSettings(stay, hasChanged, defaults),
    ...defaultRules(defaults).filter(({ operation }) => !known.has(operation) && !ruled.has(operation)),
  ]);
}

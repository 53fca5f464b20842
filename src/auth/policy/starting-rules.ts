import type { AccessRule } from '../../contract/resources/policy.ts';
import { operationIds } from '../../contract/routes.ts';
import { checkRules } from './check-rules.ts';
import { defaultRules, type PolicyDefaults } from './default-rules.ts';
import type { KeptPolicy } from './kept-policy.ts';

/**
 * What a start makes of the policy that an earlier program kept: rules for operations that there are no more go, and
 * operations that are new get their default rule. Between programs of the same contract it is the same policy.
 */
export function startingRules(
  rules: readonly AccessRule[],
  { operations }: Pick<KeptPolicy, 'operations'>,
  defaults: PolicyDefaults,
): AccessRule[] {
  const known = new Set(operations);
  const ruled = new Set(rules.map(({ operation }) => operation));
  const exists = new Set<string>(operationIds);
  return checkRules([
    ...rules.filter(({ operation }) => exists.has(operation)),
    ...defaultRules(defaults).filter(({ operation }) => !known.has(operation) && !ruled.has(operation)),
  ]);
}

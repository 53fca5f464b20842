import type { AccessRule } from '../../contract/resources/policy.ts';

export interface Difference {
  readonly added: readonly AccessRule[];
  readonly removed: readonly AccessRule[];
  readonly changed: readonly { readonly before: AccessRule; readonly after: AccessRule }[];
}

/**
 * Returns the difference between two sets of rules by operation. Both sets must be in the form that `checkRules`
 * returns.
 */
export function differenceOf(before: readonly AccessRule[], after: readonly AccessRule[]): Difference {
  const old = new Map(before.map((rule) => [rule.operation, rule]));
  const kept = new Set(after.map(({ operation }) => operation));
  const added: AccessRule[] = [];
  const changed: { before: AccessRule; after: AccessRule }[] = [];
  for (const rule of after) {
    const was = old.get(rule.operation);
    if (was === undefined) added.push(rule);
    else if (!isSame(was, rule)) changed.push({ before: was, after: rule });
  }
  return { added, removed: before.filter(({ operation }) => !kept.has(operation)), changed };
}

export function isEmpty({ added, removed, changed }: Difference): boolean {
  return added.length + removed.length + changed.length === 0;
}

const isSame = (a: AccessRule, b: AccessRule): boolean =>
  a.access === b.access && a.roles.length === b.roles.length && a.roles.every((role, n) => role === b.roles[n]);

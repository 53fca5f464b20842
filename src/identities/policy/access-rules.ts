import type { AccessRule } from '../../contract/resources/policy.ts';
import { type OperationId, operationIds, type Route, routeOf } from '../../contract/routes.ts';
import { roles } from '../../contract/vocabulary.ts';
import { invalidField } from '../../errors.ts';

interface Difference {
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

const known: ReadonlyMap<string, number> = new Map(operationIds.map((operation, n) => [operation, n]));

/**
 * Validates rules. Returns the rules in the order of the contract, each with its roles in a fixed order, so
 * that equivalent policies are equal.
 *
 * @throws INVALID_REQUEST whose field is a dotted path, such as `rules.3.operation`
 */
export function checkRules(rules: readonly AccessRule[]): AccessRule[] {
  const seen = new Set<string>();
  for (const [n, { operation, access, roles }] of rules.entries()) {
    const at = `rules.${n}`;
    if (!known.has(operation)) throw invalidField(`${at}.operation`, 'is not the id of an operation');
    if (seen.has(operation)) throw invalidField(`${at}.operation`, `is ${operation}, which already has a rule`);
    seen.add(operation);
    const route = routeOf(operation as OperationId);
    if (access === 'public' && roles.length > 0) throw invalidField(`${at}.roles`, 'must be empty for public access');
    if (access === 'public' && !mayBePublic(route))
      throw invalidField(`${at}.access`, `must be roles: ${operation} depends on the identity of the caller`);
    if (access === 'roles' && route.alwaysPublic)
      throw invalidField(`${at}.access`, `must be public: ${operation} must work without credentials`);
  }
  const missing = operationIds.find((operation) => routeOf(operation).alwaysPublic && !seen.has(operation));
  if (missing !== undefined) throw invalidField('rules', `must have ${missing}, which is always public`);
  return inOrder(rules);
}

/** Returns whether a route works without an identity. */
const mayBePublic = ({ access, partlyPublic, mayBePublic }: Route): boolean =>
  access === 'public' || partlyPublic === true || mayBePublic === true;

export function inOrder(rules: readonly AccessRule[]): AccessRule[] {
  const place = ({ operation }: AccessRule) => known.get(operation) ?? known.size;
  return rules
    .map(({ operation, access, roles: given }) => ({
      operation,
      access,
      roles: roles.filter((role) => given.includes(role)),
    }))
    .sort((a, b) => place(a) - place(b));
}

import type { AccessRule } from '../../contract/resources/policy.ts';
import { type OperationId, operationIds, type Route, routeOf } from '../../contract/routes.ts';
import { type Role, roles } from '../../contract/vocabulary.ts';
import { invalidField } from '../../errors.ts';

const known: ReadonlyMap<string, number> = new Map(operationIds.map((operation, n) => [operation, n]));

/** Who may do what, for lookups. */
export type AccessTable = ReadonlyMap<string, 'public' | readonly Role[]>;

/**
 * Rules that can be a policy, in the order of the contract, roles too: two policies that mean the same look the same.
 *
 * @throws INVALID_REQUEST whose field is a dotted path, such as `rules.3.operation`
 */
export function checkRules(rules: readonly AccessRule[]): AccessRule[] {
  const seen = new Set<string>();
  for (const [n, { operation, access, roles }] of rules.entries()) {
    const at = `rules.${n}`;
    if (!known.has(operation)) throw invalidField(`${at}.operation`, 'is not the id of an operation');
    if (seen.has(operation))
      throw invalidField(`${at}.operation`, `is ${operation}, which has a rule already`);
    seen.add(operation);
    const route = routeOf(operation as OperationId);
    if (access === 'public' && roles.length > 0)
      throw invalidField(`${at}.roles`, 'must be empty where access is public');
    if (access === 'public' && !mayBePublic(route))
      throw invalidField(`${at}.access`, `must be roles: ${operation} is answered by who asks`);
    if (access === 'roles' && route.alwaysPublic)
      throw invalidField(`${at}.access`, `must be public: ${operation} is for who has no credentials yet`);
  }
  const missing = operationIds.find((operation) => routeOf(operation).alwaysPublic && !seen.has(operation));
  if (missing !== undefined) throw invalidField('rules', `must have ${missing}, which is always public`);
  return inOrder(rules);
}

/** What needs no identity to be answered. */
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

export function accessTable(rules: readonly AccessRule[]): AccessTable {
  return new Map(
    rules.map(({ operation, access, roles }) => [operation, access === 'public' ? access : roles]),
  );
}

import type { AccessRule } from '../../contract/resources/policy.ts';
import { type OperationId, operationIds, type Route, routeOf } from '../../contract/routes.ts';
import { type Role, roles } from '../../contract/vocabulary.ts';
import { invalidField } from '../../errors.ts';

const known: ReadonlyMap<string, number> = new Map(operationIds.map((operation, n) => [operation, n]));

/** Access by operation. */
export type AccessTable = ReadonlyMap<string, 'public' | readonly Role[]>;

/**
 * Validates rules and returns them in the order of the contract, roles too, so that equivalent policies are
 * equal.
 *
 * @throws INVALID_REQUEST whose field is a dotted path, such as `rules.3.operation`
 */
export function checkRules(rules: readonly AccessRule[]): AccessRule[] {
  const seen = new Set<string>();
  for (const [n, { operation, access, roles }] of rules.entries()) {
    const at = `rules.${n}`;
    if (!known.has(operation)) throw invalidField(`${at}.operation`, 'is not the id of an operation');
    if (seen.has(operation))
      throw invalidField(`${at}.operation`, `is ${operation}, which already has a rule`);
    seen.add(operation);
    const route = routeOf(operation as OperationId);
    if (access === 'public' && roles.length > 0)
      throw invalidField(`${at}.roles`, 'must be empty for public access');
    if (access === 'public' && !mayBePublic(route))
      throw invalidField(`${at}.access`, `must be roles: ${operation} depends on the identity of the caller`);
    if (access === 'roles' && route.alwaysPublic)
      throw invalidField(`${at}.access`, `must be public: ${operation} must work without credentials`);
  }
  const missing = operationIds.find((operation) => routeOf(operation).alwaysPublic && !seen.has(operation));
  if (missing !== undefined) throw invalidField('rules', `must have ${missing}, which is always public`);
  return inOrder(rules);
}

/** Reports whether a route works without an identity. */
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

import type { AccessRule } from '../../../../contract/resources/policy.ts';
import { type OperationId, operationIds, routeOf } from '../../../../contract/routes.ts';
import { type Role, roles } from '../../../../contract/vocabulary.ts';

/** The rules of a policy while the user edits them. */
export type Rules = readonly AccessRule[];

/** A row of the table: an operation and the roles allowed to call it. Without a rule, no role may call it. */
export interface Row {
  readonly operation: OperationId;
  readonly summary: string;
  readonly tag: string;
  readonly isPublic: boolean;
  readonly roles: readonly Role[];
  /** Whether the operation is always public, because signing in or health checks depend on it. */
  readonly isFixed: boolean;
  /** Whether the operation can serve unauthenticated callers. */
  readonly mayBePublic: boolean;
}

/** Returns a row for each operation, in the order of the contract. */
export function rowsOf(rules: Rules): Row[] {
  const byOperation = new Map(rules.map((rule) => [rule.operation, rule]));
  return operationIds.map((operation) => {
    const route = routeOf(operation);
    const rule = byOperation.get(operation);
    return {
      operation,
      summary: route.summary,
      tag: route.tag,
      isPublic: rule?.access === 'public',
      roles: rule?.access === 'roles' ? rule.roles : [],
      isFixed: route.alwaysPublic === true,
      mayBePublic: route.access === 'public' || route.partlyPublic === true || route.mayBePublic === true,
    };
  });
}

/** Adds or removes a role. Adding a role to a public operation makes it non-public. */
export const withRole = (rules: Rules, operation: string, role: Role): AccessRule[] =>
  changed(rules, operation, (before) => {
    const held = before?.roles ?? [];
    const next = roles.filter((one) => (one === role ? !held.includes(role) : held.includes(one)));
    return { operation, access: 'roles', roles: next };
  });

/** Makes an operation public, or removes all access to it. */
export const withPublic = (rules: Rules, operation: string, isPublic: boolean): AccessRule[] =>
  changed(rules, operation, () => ({ operation, access: isPublic ? 'public' : 'roles', roles: [] }));

function changed(
  rules: Rules,
  operation: string,
  change: (before: AccessRule | undefined) => AccessRule,
): AccessRule[] {
  const before = rules.find((rule) => rule.operation === operation);
  const after = change(before);
  return before === undefined ? [...rules, after] : rules.map((rule) => (rule === before ? after : rule));
}

export interface Difference {
  readonly operation: string;
  /** The previously allowed roles in words; undefined if there was no rule. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

const inWords = (rule: AccessRule | undefined): string | undefined =>
  rule && (rule.access === 'public' ? 'public' : [...rule.roles].sort().join(', ') || 'no roles');

/** Returns the changes, by operation. */
export function differences(before: Rules, after: Rules): Difference[] {
  const old = new Map(before.map((rule) => [rule.operation, rule]));
  const next = new Map(after.map((rule) => [rule.operation, rule]));
  return [...new Set([...old.keys(), ...next.keys()])]
    .map((operation) => ({
      operation,
      before: inWords(old.get(operation)),
      after: inWords(next.get(operation)),
    }))
    .filter((one) => one.before !== one.after);
}

/**
 * Applies the user's edits to a policy that was changed in the meantime. If both versions changed an operation, the
 * user's version is used.
 *
 * @param base - the version from which both edits started
 */
export function rebased(base: Rules, mine: Rules, theirs: Rules): AccessRule[] {
  const own = new Set(differences(base, mine).map(({ operation }) => operation));
  const wanted = new Map(mine.map((rule) => [rule.operation, rule]));
  const known = new Set(theirs.map(({ operation }) => operation));
  return [
    ...theirs.flatMap((rule) => (own.has(rule.operation) ? (wanted.get(rule.operation) ?? []) : rule)),
    ...mine.filter(({ operation }) => own.has(operation) && !known.has(operation)),
  ];
}

/** Returns the policy as JSON for the text editor, one rule per line. */
export const textOf = (rules: Rules): string =>
  `{ "rules": [\n${rules.map((rule) => `  ${JSON.stringify(rule)}`).join(',\n')}\n] }\n`;

/** Parses the text of the editor and checks its shape. Only the service validates the rules. */
export function readRules(text: string): { readonly rules: AccessRule[] } | { readonly fault: string } {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch (error) {
    return { fault: `Invalid JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  const rules = (read as { rules?: unknown } | null)?.rules;
  if (!Array.isArray(rules)) return { fault: 'Must be an object with an array "rules".' };
  const at = rules.findIndex((rule) => !isRule(rule));
  if (at >= 0) return { fault: `Rule ${at + 1} must have operation, access and roles.` };
  return { rules: rules as AccessRule[] };
}

function isRule(value: unknown): value is AccessRule {
  if (typeof value !== 'object' || value === null) return false;
  const { operation, access, roles: held } = value as Record<string, unknown>;
  return (
    typeof operation === 'string' &&
    typeof access === 'string' &&
    Array.isArray(held) &&
    held.every((one) => typeof one === 'string')
  );
}

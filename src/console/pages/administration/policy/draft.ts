import type { AccessRule } from '../../../../contract/resources/policy.ts';
import { type OperationId, operationIds, routeOf } from '../../../../contract/routes.ts';
import { type Role, roles } from '../../../../contract/vocabulary.ts';

/** A policy as it is changed before it is saved; pure. */
export type Rules = readonly AccessRule[];

/** One row of the table: an operation and who may do it; nobody where there is no rule. */
export interface Row {
  readonly operation: OperationId;
  readonly summary: string;
  readonly tag: string;
  readonly isPublic: boolean;
  readonly roles: readonly Role[];
  /** Public whatever anybody wants: nobody could sign in. */
  readonly isFixed: boolean;
  /** Whether it can be answered without knowing who asks. */
  readonly mayBePublic: boolean;
}

/** All operations, in the order of the contract. */
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

/** Gives a role what it had not, or takes it; of what is public, the first role makes it no longer so. */
export const withRole = (rules: Rules, operation: string, role: Role): AccessRule[] =>
  changed(rules, operation, (before) => {
    const held = before?.roles ?? [];
    const next = roles.filter((one) => (one === role ? !held.includes(role) : held.includes(one)));
    return { operation, access: 'roles', roles: next };
  });

/** Makes it public, or nobody's. */
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
  /** Who might, in words; undefined where there was no rule. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

const inWords = (rule: AccessRule | undefined): string | undefined =>
  rule && (rule.access === 'public' ? 'everybody' : [...rule.roles].sort().join(', ') || 'nobody');

/** What would be different, by operation. */
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
 * One's own changes put upon a policy that somebody else changed meanwhile; what both changed is as one wants it oneself.
 *
 * @param began - what both of them changed
 */
export function rebased(began: Rules, mine: Rules, theirs: Rules): AccessRule[] {
  const own = new Set(differences(began, mine).map(({ operation }) => operation));
  const wanted = new Map(mine.map((rule) => [rule.operation, rule]));
  const known = new Set(theirs.map(({ operation }) => operation));
  return [
    ...theirs.flatMap((rule) => (own.has(rule.operation) ? (wanted.get(rule.operation) ?? []) : rule)),
    ...mine.filter(({ operation }) => own.has(operation) && !known.has(operation)),
  ];
}

/** The text that is edited: what the interface is given, a rule a line. */
export const textOf = (rules: Rules): string =>
  `{ "rules": [\n${rules.map((rule) => `  ${JSON.stringify(rule)}`).join(',\n')}\n] }\n`;

/** The rules of a text. Whether they can be a policy, the service says; here, whether they have its shape. */
export function readRules(text: string): { readonly rules: AccessRule[] } | { readonly fault: string } {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch (error) {
    return { fault: `Is no JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  const rules = (read as { rules?: unknown } | null)?.rules;
  if (!Array.isArray(rules)) return { fault: 'Must be an object with a list of rules.' };
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

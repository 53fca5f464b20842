import { principalRoleChanged, principalStatusChanged } from '../../contract/critical-events.ts';
import { ServiceError } from '../../errors.ts';
import { canonicalUuid } from '../../uuid.ts';
import type { Actor, Principal, PrincipalChange, PrincipalChanged } from '../store.ts';
import { indexAdministrator, isAdministrator } from './administrators.ts';
import type { Outbox } from './outbox.ts';
import { indexName, requireFreeName } from './principal-names.ts';
import { entryCount, type Tables } from './tables.ts';
import { liveSessions, revoke } from './tokens.ts';

export interface ChangeTerms {
  /** The version that the caller expects. */
  readonly version?: number;
  /** The session that a new password does not end. */
  readonly keptSession?: string;
}

/**
 * Plans a change of a principal with its log entries: one for the status, one for the roles, one for each
 * session that a new password ends.
 *
 * @throws NOT_FOUND; VERSION_MISMATCH; CONFLICT for a name that is taken and for the last administrator;
 * UNAVAILABLE when the change must be logged and the outbox has no room.
 */
export function planPrincipalChange(
  tables: Tables,
  outbox: Outbox,
  { id, change, by, terms }: { id: string; change: PrincipalChange; by: Actor; terms: ChangeTerms },
  nowMs: number,
): () => PrincipalChanged {
  const before = requirePrincipal(tables, id);
  requireVersion(before, terms.version);
  const differs = differences(before, change);
  if (Object.keys(differs).length === 0) return () => ({ principal: before, ended: [] });
  const after: Principal = { ...before, ...differs, version: (before.version ?? 1) + 1 };
  if (differs.name !== undefined) requireFreeName(tables, differs.name, before.id);
  requireAdministrator(tables, before, after);
  const events = [
    ...(differs.status === undefined
      ? []
      : [principalStatusChanged(before.id, { from: before.status, to: differs.status }, by.id)]),
    ...(differs.roles === undefined
      ? []
      : [principalRoleChanged(before.id, { from: before.roles, to: differs.roles }, by.id)]),
  ];
  const ending =
    differs.password_hash === undefined
      ? []
      : liveSessions(tables, before.id, nowMs).filter(({ jti }) => jti !== terms.keptSession);
  const rows = events.length + ending.length;
  if (rows > 0) outbox.requireRoom(rows);
  return () => {
    tables.principals.putSync(after.id, after);
    if (differs.name !== undefined) indexName(tables, after, before.name);
    indexAdministrator(tables, after);
    for (const event of events) outbox.add(event, nowMs, by.call);
    for (const session of ending) revoke(tables, outbox, session, by, nowMs);
    return { principal: after, ended: ending.map(({ jti }) => jti) };
  };
}

function requirePrincipal(tables: Tables, id: string): Principal {
  const key = canonicalUuid(id);
  const principal = key === undefined ? undefined : tables.principals.get(key);
  if (principal === undefined)
    throw new ServiceError('NOT_FOUND', `there is no principal ${id}`, { field: 'principal_id' });
  return principal;
}

function requireVersion({ id, version = 1 }: Principal, wanted: number | undefined): void {
  if (wanted === undefined || wanted === version) return;
  throw new ServiceError('VERSION_MISMATCH', `principal ${id} has version ${version}, not ${wanted}`, {
    version,
  });
}

/** Returns the fields that really change. The order of roles does not matter. */
function differences(before: Principal, { name, roles, status, password_hash }: PrincipalChange) {
  return {
    ...(name === undefined || name === before.name ? {} : { name }),
    ...(roles === undefined || sameSet(roles, before.roles) ? {} : { roles: [...new Set(roles)] }),
    ...(status === undefined || status === before.status ? {} : { status }),
    ...(password_hash === undefined || password_hash === before.password_hash ? {} : { password_hash }),
  };
}

const sameSet = (a: readonly string[], b: readonly string[]): boolean =>
  new Set([...a, ...b]).size === new Set(a).size && new Set(a).size === new Set(b).size;

/** @throws CONFLICT naming the field, if the change would leave no administrator. */
function requireAdministrator(tables: Tables, before: Principal, after: Principal): void {
  if (!isAdministrator(before) || isAdministrator(after)) return;
  if (entryCount(tables.administrators) > 1) return;
  const [field, loss] = after.roles.includes('admin')
    ? (['status', 'be suspended'] as const)
    : (['roles', 'lose the role admin'] as const);
  const reason = `the last administrator cannot ${loss}`;
  throw new ServiceError('CONFLICT', `${reason}: no account could restore access`, { field, reason });
}

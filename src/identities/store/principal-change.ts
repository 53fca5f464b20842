import { criticalEvent } from '../../contract/critical-events.ts';
import type { Role } from '../../contract/vocabulary.ts';
import { entryCount } from '../../database/rows.ts';
import { ServiceError } from '../../errors.ts';
import type { Outbox } from '../../store/outbox.ts';
import type { Actor, Principal, PrincipalChange, PrincipalChanged } from '../../store/store.ts';
import { canonicalUuid } from '../../uuid.ts';
import { requireHeld } from '../access.ts';
import { indexAdministrator, isAdministrator } from './administrators.ts';
import { refuseLockOut } from './lock-out.ts';
import { indexName, requireFreeName } from './principal-names.ts';
import type { IdentityTables } from './tables.ts';
import { liveSessions, revoke } from './tokens.ts';

export interface PrincipalChangeOptions {
  /** Roles of the caller, which must include all roles of the principal. */
  readonly callerRoles?: readonly Role[];
  /** The version that the caller expects. */
  readonly version?: number;
  /** The session that a new password does not end. */
  readonly keptSession?: string;
}

/**
 * Plans a change of a principal with its log entries: one for the status, one for the roles, one for each
 * session that a new password ends.
 *
 * @throws NOT_FOUND; FORBIDDEN; VERSION_MISMATCH; CONFLICT for a name that is taken, for the last
 * administrator, and for the last user with access to the policy; UNAVAILABLE if the change must be logged
 * and the outbox has no room
 */
export function planPrincipalChange(
  tables: IdentityTables,
  outbox: Outbox,
  { id, change, by, options }: { id: string; change: PrincipalChange; by: Actor; options: PrincipalChangeOptions },
  nowMs: number,
): () => PrincipalChanged {
  const before = requirePrincipal(tables, id);
  if (options.callerRoles !== undefined) requireHeld({ ...by, roles: options.callerRoles }, before.roles);
  requireVersion(before, options.version);
  const differs = differences(before, change);
  if (Object.keys(differs).length === 0) return () => ({ principal: before, ended: [] });
  const after: Principal = { ...before, ...differs, version: (before.version ?? 1) + 1 };
  if (differs.name !== undefined) requireFreeName(tables, differs.name, before.id);
  requireAdministrator(tables, before, after);
  const policy = tables.accessPolicy.get('current');
  if (policy !== undefined) refuseLockOut(tables, policy.rules, { before, after });
  const events = [
    ...(differs.status === undefined
      ? []
      : [criticalEvent('principal.status_changed', before.id, { from: before.status, to: differs.status }, by.id)]),
    ...(differs.roles === undefined
      ? []
      : [criticalEvent('principal.role_changed', before.id, { from: before.roles, to: differs.roles }, by.id)]),
  ];
  const ending =
    differs.password_hash === undefined
      ? []
      : liveSessions(tables, before.id, nowMs).filter(({ jti }) => jti !== options.keptSession);
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

function requirePrincipal(tables: IdentityTables, id: string): Principal {
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

/** Returns the fields that differ from the stored values. The order of roles does not matter. */
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

/** Throws CONFLICT that names the field if the change would leave no administrator. */
function requireAdministrator(tables: IdentityTables, before: Principal, after: Principal): void {
  if (!isAdministrator(before) || isAdministrator(after)) return;
  if (entryCount(tables.administrators) > 1) return;
  const [field, loss] = after.roles.includes('admin')
    ? (['status', 'be suspended'] as const)
    : (['roles', 'lose the role admin'] as const);
  const reason = `the last administrator cannot ${loss}`;
  throw new ServiceError('CONFLICT', `${reason}: no account could restore access`, { field, reason });
}

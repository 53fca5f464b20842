import { parameterOf } from '../../contract/filter-term.ts';
import type { PrincipalUpdateInput } from '../../contract/resources/principal.ts';
import type { identitiesRoutes } from '../../contract/routes/identities.ts';
import { operationIds } from '../../contract/routes.ts';
import { principalAttributes, tokenAttributes } from '../../contract/shown-attributes.ts';
import { invalidField, ServiceError } from '../../errors.ts';
import { severalOperations } from '../audit-caps.ts';
import { callerOf } from '../caller.ts';
import type { Handlers } from '../context.ts';
import { withLimitMetrics } from '../limit-metrics.ts';
import { listReply, pooledList } from '../list-reply.ts';
import { found, requireLog } from '../preconditions.ts';
import { created, noContent, resource } from '../reply.ts';
import type { Services } from '../services.ts';

const passwordLimits = { OVERLOADED: 'maxPasswordChecksInFlight' } as const;

/**
 * The names of operations in audit records. The schema cannot list them, because it is part of the table of
 * operations.
 */
const recordedOperations: ReadonlySet<unknown> = new Set([...operationIds, severalOperations]);

export const identitiesHandlers = {
  listPrincipals: (context) => pooledList(context, 'listPrincipals'),

  async createPrincipal({ services, body, identity }) {
    await requireLog(services);
    const creating = services.auth.createPrincipal(body, callerOf(identity));
    const principal = await withLimitMetrics(services.metrics, passwordLimits, creating);
    const location = `/api/v1/principals/${principal.id}`;
    return created('principal', principal.id, principalAttributes(principal), location);
  },

  getPrincipal({ services, params }) {
    const principal = readPrincipal(params.principal_id, services);
    return resource('principal', principal.id, principalAttributes(principal));
  },

  async updatePrincipal(context) {
    const { services, params, body, identity, audited } = context;
    if (mustBeLogged(body)) await requireLog(services);
    const { version } = context; // a malformed version is refused even if there is no such principal
    const known = readPrincipal(params.principal_id, services);
    const changing = services.auth.changePrincipal(known, body, callerOf(identity), version);
    const { principal } = await withLimitMetrics(services.metrics, passwordLimits, changing);
    if (principal.version === known.version) audited?.noteNoChange();
    services.principalChanged(principal.id);
    return resource('principal', principal.id, principalAttributes(principal));
  },

  getPolicy: ({ services: { policy } }) => resource('policy', policy.id, policy.current),

  async updatePolicy(context) {
    const { services, body, identity, audited } = context;
    await requireLog(services);
    const { policy } = services;
    const before = policy.current.version;
    const replaced = await policy.replace(body.rules, identity.principal, context.version);
    if (replaced.version === before) audited?.noteNoChange();
    return resource('policy', policy.id, replaced);
  },

  async reloadPolicy({ services, identity, audited }) {
    await requireLog(services);
    const { policy } = services;
    const before = policy.current.version;
    const reloaded = await policy.reload(identity.principal);
    if (reloaded.version === before) audited?.noteNoChange();
    return resource('policy', policy.id, reloaded);
  },

  listAuditRecords(context) {
    for (const term of context.query.filter.terms)
      if (term.field === 'operation' && !term.values.every((operation) => recordedOperations.has(operation)))
        throw invalidField(parameterOf(term), 'must be an operation id of the OpenAPI document');
    return pooledList(context, 'listAudit');
  },

  listTokens: (context) => pooledList(context, 'listTokens'),

  async issueToken({ services, body, identity }) {
    await requireLog(services);
    const { name, scopes: roles, principal_id = identity.principal.id, expires_at } = body;
    const principal = services.reader.principal(principal_id);
    if (principal === undefined) throw invalidField('principal_id', 'is not the id of a principal');
    const terms = { name, roles, ...(expires_at === undefined ? {} : { expires_at }) };
    const { token, record } = await services.auth.issueLongLived(principal, terms, callerOf(identity));
    return created('token', record.jti, { ...tokenAttributes(record), token }, `/api/v1/tokens/${record.jti}`);
  },

  getToken({ services, params }) {
    const token = found('token', params.token_id, services.reader.token(params.token_id));
    return resource('token', token.jti, tokenAttributes(token));
  },

  async revokeToken({ services, params, identity }) {
    const revoked = await services.store.revokeToken(params.token_id, identity.principal);
    if (!revoked) throw new ServiceError('NOT_FOUND', `there is no token ${params.token_id}, or it was revoked`);
    services.revoked(params.token_id);
    return noContent;
  },

  listKeys: (context) => listReply(context, context.services.listKeys),

  async rotateKey({ services, body, identity, audited }) {
    const { entry_ids, ...key } = await services.ledger.rotateKey(body.purpose, identity.principal.id);
    audited?.noteEntries(entry_ids);
    await services.keysChanged();
    return resource('key', key.kid, key);
  },

  async retireKey({ services, params, identity, audited }) {
    const { entry_ids, ...key } = await services.ledger.retireKey(params.key_id, identity.principal.id);
    audited?.noteEntries(entry_ids);
    return resource('key', key.kid, key);
  },

  async revokeKey({ services, params, body, identity, audited }) {
    const { entry_ids, ...key } = await services.ledger.revokeKey(params.key_id, body.reason, identity.principal.id);
    audited?.noteEntries(entry_ids);
    await services.keysChanged();
    return resource('key', key.kid, key);
  },
} satisfies Handlers<typeof identitiesRoutes>;

/**
 * Returns whether a change may grant access, and must therefore be logged first. A suspension must work while the
 * log accepts no entries; its entry waits in the outbox.
 */
function mustBeLogged({ roles, status }: PrincipalUpdateInput): boolean {
  return roles !== undefined || status === 'active';
}

/** Returns the principal. Throws NOT_FOUND. */
const readPrincipal = (id: string, { reader }: Pick<Services, 'reader'>) =>
  found('principal', id, reader.principal(id));

import type { Caller } from '../../contract/resources/principal.ts';
import type { authRoutes } from '../../contract/routes/auth.ts';
import { operationIds } from '../../contract/routes.ts';
import { principalAttributes } from '../../contract/shown-attributes.ts';
import { ServiceError } from '../../errors.ts';
import { addressGroup } from '../../net/address-group.ts';
import { isAllowed } from '../caller.ts';
import type { Handlers } from '../context.ts';
import { withLimitMetrics } from '../limit-metrics.ts';
import { bareJson, noContent, resource } from '../reply.ts';

const passwordLimits = {
  RATE_LIMITED: 'maxLoginFailuresPerMinute',
  OVERLOADED: 'maxPasswordChecksInFlight',
} as const;

export const authHandlers = {
  async login({ services, body, remoteAddress, audited }) {
    const ended = (jti: string) => {
      audited?.noteEntries();
      services.revoked(jti);
    };
    const session = services.auth.login(body, addressGroup(remoteAddress), ended, audited?.id);
    const tokens = await withLimitMetrics(services.metrics, passwordLimits, session);
    audited?.noteEntries();
    return bareJson(tokens);
  },

  async refresh({ services, body, audited }) {
    const ended = (jti: string) => {
      audited?.noteEntries();
      services.revoked(jti);
    };
    return bareJson(await services.auth.refresh(body.refresh_token, ended, audited?.id));
  },

  async logout({ services, identity, audited }) {
    await services.auth.logout(identity);
    audited?.noteEntries();
    if (identity.jti !== undefined) services.revoked(identity.jti);
    return noContent;
  },

  /** Returns the caller with the roles of the credentials, which may be fewer than the principal's roles. */
  whoAmI({ services, identity }) {
    const principal = services.reader.principal(identity.principal.id);
    if (principal === undefined) throw new ServiceError('UNAUTHENTICATED', 'the principal no longer exists');
    const { policy } = services;
    const caller: Caller = {
      ...principalAttributes({ ...principal, roles: identity.roles }),
      operations: operationIds.filter((operation) => isAllowed(policy.accessOf(operation), identity)),
    };
    return resource('principal', principal.id, caller);
  },

  async changePassword(context) {
    const { services, body, identity, remoteAddress } = context;
    const changing = services.auth.changePassword(identity, body, addressGroup(remoteAddress));
    await withLimitMetrics(services.metrics, passwordLimits, changing);
    services.principalChanged(identity.principal.id);
    return noContent;
  },
} satisfies Handlers<typeof authRoutes>;

import { isLive } from '../contract/token-life.ts';
import type { Role } from '../contract/vocabulary.ts';
import { RefusedCredentials, ServiceError } from '../errors.ts';
import type { Token } from '../store/store.ts';
import { effectiveRoles } from './access.ts';
import type { AccessTokens } from './access-token.ts';
import { type ClientCertificate, certificatePrincipal } from './client-certificate.ts';
import type { IdentityReader } from './identities.ts';
import { isSecret, matchesSecret, parseSecret } from './secrets.ts';

/** The principal of the credentials, with their roles. */
export interface AuthenticatedIdentity {
  readonly principal: { readonly id: string; readonly name: string };
  readonly roles: readonly Role[];
  /** Id of the session or the long-lived token; absent for client certificates. */
  readonly jti?: string;
  /** When the credentials expire, epoch milliseconds; absent if they do not expire. */
  readonly expiresAt?: number;
}

/** The credentials of a request: the `Authorization` header and the client certificate of the connection. */
export interface PresentedCredentials {
  readonly authorization: string | undefined;
  readonly certificate?: ClientCertificate | undefined;
}

/**
 * Returns a function that authenticates requests. It accepts `Authorization: Bearer …` (RFC 6750) with an
 * access token or a long-lived token. The stored token and its principal decide: a revoked token or a
 * suspended principal is rejected immediately, and a removed role is no longer effective. A client
 * certificate is used only without this header; an invalid header is rejected even with a certificate. With a
 * certificate, the principal has all of its roles.
 *
 * @param onTokenUse - called for each valid token that was presented
 * @returns a function of the credentials and the time (epoch milliseconds), which rejects missing, invalid,
 * expired and revoked credentials with UNAUTHENTICATED
 */
export function createAuthenticator(
  reader: IdentityReader,
  tokens: AccessTokens,
  onTokenUse: (jti: string, nowMs: number) => void = () => undefined,
) {
  const accept = (held: Held, nowMs: number, expiresAt: number | undefined): AuthenticatedIdentity => {
    const found = identity(held, nowMs, expiresAt);
    onTokenUse(held.token.jti, nowMs);
    return found;
  };
  return async (
    { authorization, certificate }: PresentedCredentials,
    nowMs: number,
  ): Promise<AuthenticatedIdentity> => {
    if (certificate !== undefined && (authorization === undefined || authorization === ''))
      return holder(reader, certificate, nowMs);
    const bearer = bearerToken(authorization);
    if (isSecret('long_lived', bearer)) {
      const held = longLived(reader, bearer);
      return accept(held, nowMs, endOf(held.token));
    }
    const claims = await tokens.verify(bearer, nowMs);
    const held = reader.holder(claims.jti);
    if (held?.token.kind !== 'session' || held.token.principal_id !== claims.sub) throw refused();
    return accept(held, nowMs, claims.expiresAt);
  };
}

function bearerToken(authorization: string | undefined): string {
  if (authorization === undefined || authorization === '')
    throw new ServiceError('UNAUTHENTICATED', 'credentials are required');
  const match = /^Bearer +([A-Za-z0-9._~+/=-]+)$/i.exec(authorization);
  if (match === null) throw new ServiceError('UNAUTHENTICATED', 'Authorization must be a bearer token');
  return match[1]!;
}

type Held = NonNullable<ReturnType<IdentityReader['holder']>>;

function longLived(reader: IdentityReader, text: string): Held {
  const presented = parseSecret('long_lived', text);
  const held = presented === undefined ? undefined : reader.holder(presented.jti);
  if (presented === undefined || held?.token.kind !== 'long_lived') throw refused();
  if (!matchesSecret(presented.secret, held.token.secret_hash)) throw refused();
  return held;
}

function identity({ token, principal }: Held, nowMs: number, expiresAt: number | undefined): AuthenticatedIdentity {
  if (principal === undefined) throw refused();
  if (token.revoked_at !== undefined) throw new RefusedCredentials(principal, 'the token was revoked');
  if (!isLive(token, nowMs)) throw new RefusedCredentials(principal, 'the token has expired');
  if (principal.status !== 'active') throw new RefusedCredentials(principal, 'the principal is suspended');
  return {
    principal: { id: principal.id, name: principal.name },
    roles: effectiveRoles(token.roles, principal.roles),
    jti: token.jti,
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}

function holder(reader: IdentityReader, certificate: ClientCertificate, nowMs: number): AuthenticatedIdentity {
  const { id, name, roles } = certificatePrincipal(reader, certificate, nowMs);
  return { principal: { id, name }, roles: [...roles], expiresAt: certificate.validTo };
}

const endOf = (token: Token): number | undefined =>
  token.expires_at === undefined ? undefined : Date.parse(token.expires_at);

const refused = () => new ServiceError('UNAUTHENTICATED', 'the token is not valid');

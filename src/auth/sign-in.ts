import type { LoginInput, SessionTokens } from '../contract/resources/session.ts';
import { ServiceError } from '../errors.ts';
import type { Principal, Token } from '../store/store.ts';
import { effectiveRoles } from './access.ts';
import { type AccessTokens, accessTokenTtlMs } from './access-token.ts';
import type { IdentityReader, IdentityWriter, Sources } from './identities.ts';
import { LoginThrottle } from './login-throttle.ts';
import { verifyPassword } from './passwords.ts';
import {
  familyOf,
  matchesSecret,
  newSecret,
  parseSecret,
  renewSecret,
  secretHash,
  writeSecret,
} from './secrets.ts';

/** A session ends this long after its login, however often it is refreshed. */
export const sessionTtlMs = 7 * 24 * 3600 * 1000;

export interface SignInParts {
  readonly reader: IdentityReader;
  readonly writer: IdentityWriter;
  readonly tokens: AccessTokens;
  readonly sources: Sources;
}

export interface SignIn {
  /**
   * Begins a session. UNAUTHENTICATED says neither whether the name, the password or the account is at fault;
   * RATE_LIMITED after too many failures of the account or from the address.
   */
  login(input: LoginInput, remoteAddress: string): Promise<SessionTokens>;
  /**
   * Renews a session's tokens. A refresh token that was used before ends its session, of which `ended` is told. One that
   * was made up does nothing: identifiers of sessions are in the log for others to read.
   */
  refresh(refreshToken: string, ended: (jti: string) => void): Promise<SessionTokens>;
  /** Ends the session, or revokes the long-lived token, with these credentials. */
  logout(identity: { readonly jti: string; readonly principal: { id: string; name: string } }): Promise<void>;
}

export function createSignIn({ reader, writer, tokens, sources }: SignInParts): SignIn {
  const throttle = new LoginThrottle();

  const answer = async (principal: Principal, session: Session, secret: string, nowMs: number) => ({
    access_token: await tokens.issue(
      { sub: principal.id, jti: session.jti, roles: effectiveRoles(session.roles, principal.roles) },
      nowMs,
    ),
    token_type: 'Bearer' as const,
    expires_in: accessTokenTtlMs / 1000,
    refresh_token: writeSecret('session', { jti: session.jti, secret }),
    refresh_expires_in: Math.max(1, Math.floor((Date.parse(session.expires_at) - nowMs) / 1000)),
  });

  return {
    login: async ({ username, password }, remoteAddress) => {
      const takeBack = throttle.begin([`name ${username}`, `address ${remoteAddress}`], sources.now());
      const principal = reader.principalByName(username);
      const right = await verifyPassword(principal?.password_hash, password).catch((error: unknown) => {
        takeBack(); // it was never checked
        throw error;
      });
      if (principal === undefined || !right || principal.status !== 'active') throw wrongPassword();
      takeBack();
      const nowMs = sources.now();
      const secret = newSecret();
      const session = beginSession(principal, secret, sources.newId(), nowMs);
      await writer.addToken(session, principal);
      return answer(principal, session, secret, nowMs);
    },

    refresh: async (refreshToken, ended) => {
      const presented = parseSecret('session', refreshToken);
      const session = presented === undefined ? undefined : reader.token(presented.jti);
      const principal = session === undefined ? undefined : reader.principal(session.principal_id);
      if (presented === undefined || principal?.status !== 'active' || !isSession(session))
        throw badRefreshToken();
      if (!matchesSecret(familyOf(presented.secret), session.family_hash)) throw badRefreshToken();
      const secret = renewSecret(presented.secret);
      const { id, name } = principal;
      const hashes = [secretHash(presented.secret), secretHash(secret)] as const;
      if (!(await writer.rotateSession(session.jti, ...hashes, { id, name }))) {
        ended(session.jti);
        throw badRefreshToken();
      }
      return answer(principal, session, secret, sources.now());
    },

    logout: async ({ jti, principal }) => {
      await writer.revokeToken(jti, { id: principal.id, name: principal.name });
    },
  };
}

type Session = Token & { readonly expires_at: string; readonly family_hash: string };

function beginSession(principal: Principal, secret: string, jti: string, nowMs: number): Session {
  return {
    jti,
    principal_id: principal.id,
    kind: 'session',
    roles: principal.roles,
    secret_hash: secretHash(secret),
    family_hash: secretHash(familyOf(secret)),
    issued_at: new Date(nowMs).toISOString(),
    expires_at: new Date(nowMs + sessionTtlMs).toISOString(),
  };
}

const isSession = (token: Token | undefined): token is Session =>
  token?.kind === 'session' && token.expires_at !== undefined && token.family_hash !== undefined;

const wrongPassword = () => new ServiceError('UNAUTHENTICATED', 'wrong name or password');
const badRefreshToken = () => new ServiceError('UNAUTHENTICATED', 'the refresh token is not valid');

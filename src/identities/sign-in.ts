import type { LoginThrottle } from '../admission/login-throttle.ts';
import type { LoginInput, SessionTokens } from '../contract/resources/session.ts';
import { invalidField, ServiceError } from '../errors.ts';
import type { Actor, Principal, Token } from '../store/store.ts';
import { effectiveRoles } from './access.ts';
import { type AccessTokens, accessTokenTtlMs } from './access-token.ts';
import type { IdentityReader, IdentityWriter, Sources } from './identities.ts';
import { verifyPassword } from './passwords.ts';
import { nameAsStored } from './principal-name.ts';
import { familyOf, matchesSecret, newSecret, parseSecret, renewSecret, secretHash, writeSecret } from './secrets.ts';

/** Lifetimes of credentials, in milliseconds. */
export interface Lifetimes {
  /** Lifetime of access tokens. */
  readonly accessTokenMs: number;
  /** Lifetime of a session since its login, regardless of refreshes. */
  readonly sessionMs: number;
}

export const sessionTtlMs = 7 * 24 * 3600 * 1000;

export const usualLives: Lifetimes = { accessTokenMs: accessTokenTtlMs, sessionMs: sessionTtlMs };

export interface SignInParts {
  readonly reader: IdentityReader;
  readonly writer: IdentityWriter;
  readonly tokens: AccessTokens;
  readonly throttle: LoginThrottle;
  readonly sources: Sources;
  /** Lifetimes of credentials. Default: `usualLives`. */
  readonly lives?: Lifetimes | undefined;
}

export interface SignIn {
  /**
   * Starts a session. `ended` is called for sessions that end because the principal has too many sessions,
   * and for the new session if the principal was changed concurrently. `call` is as in `Actor`.
   *
   * @throws UNAUTHENTICATED, which does not reveal whether the name, the password or the account is invalid;
   * RATE_LIMITED after too many failures of the account or from the address
   */
  login(input: LoginInput, remoteAddress: string, ended: (jti: string) => void, call?: string): Promise<SessionTokens>;
  /**
   * Refreshes the tokens of a session. Reuse of a refresh token ends its session and calls `ended`. A made-up
   * token has no effect, because readers of the log know the identifiers of sessions.
   */
  refresh(refreshToken: string, ended: (jti: string) => void, call?: string): Promise<SessionTokens>;
  /**
   * Ends the session, or revokes the long-lived token, of these credentials. Throws INVALID_REQUEST for a
   * client certificate, which cannot be revoked here.
   */
  logout(identity: { readonly jti?: string; readonly principal: Actor }): Promise<void>;
}

export function createSignIn({ reader, writer, tokens, throttle, sources, lives = usualLives }: SignInParts): SignIn {
  const answer = async (principal: Principal, session: Session, secret: string, nowMs: number) => ({
    access_token: await tokens.issue(
      { sub: principal.id, jti: session.jti, roles: effectiveRoles(session.roles, principal.roles) },
      nowMs,
    ),
    token_type: 'Bearer' as const,
    expires_in: lives.accessTokenMs / 1000,
    refresh_token: writeSecret('session', { jti: session.jti, secret }),
    refresh_expires_in: Math.max(1, Math.floor((Date.parse(session.expires_at) - nowMs) / 1000)),
  });

  return {
    login: async ({ username, password }, remoteAddress, ended, call) => {
      const name = nameAsStored(username);
      const principal = reader.principalByName(name);
      const right = await throttle.check(name, remoteAddress, sources.now(), async () => {
        const matches = await verifyPassword(principal?.password_hash, password);
        return matches && principal?.status === 'active';
      });
      if (principal === undefined || !right) throw wrongPassword();
      const nowMs = sources.now();
      const secret = newSecret();
      const session = beginSession(principal, secret, sources.newId(nowMs), nowMs, lives.sessionMs);
      const by = actorOf(principal, call);
      const displaced = await writer.addToken(session, by);
      for (const jti of displaced.ended) ended(jti);
      // A change of the principal during the password check could not end this session, which did not exist
      // yet.
      const { password_hash, status } = reader.principal(principal.id) ?? {};
      if (password_hash !== principal.password_hash || status !== 'active') {
        ended(session.jti);
        await writer.revokeToken(session.jti, by);
        throw wrongPassword();
      }
      return answer(principal, session, secret, nowMs);
    },

    refresh: async (refreshToken, ended, call) => {
      const presented = parseSecret('session', refreshToken);
      const session = presented === undefined ? undefined : reader.token(presented.jti);
      const principal = session === undefined ? undefined : reader.principal(session.principal_id);
      if (presented === undefined || principal?.status !== 'active' || !isSession(session)) throw badRefreshToken();
      if (!matchesSecret(familyOf(presented.secret), session.family_hash)) throw badRefreshToken();
      const secret = renewSecret(presented.secret);
      const hashes = [secretHash(presented.secret), secretHash(secret)] as const;
      if (!(await writer.rotateSession(session.jti, ...hashes, actorOf(principal, call)))) {
        ended(session.jti);
        throw badRefreshToken();
      }
      return answer(principal, session, secret, sources.now());
    },

    logout: async ({ jti, principal }) => {
      if (jti === undefined)
        throw invalidField('authorization', 'must have the token to revoke; a client certificate cannot be revoked');
      await writer.revokeToken(jti, principal);
    },
  };
}

/** Returns the principal that signs in, as the actor of its changes. */
const actorOf = ({ id, name }: Principal, call: string | undefined): Actor =>
  call === undefined ? { id, name } : { id, name, call };

type Session = Token & { readonly expires_at: string; readonly family_hash: string };

function beginSession(principal: Principal, secret: string, jti: string, nowMs: number, sessionMs: number): Session {
  return {
    jti,
    principal_id: principal.id,
    kind: 'session',
    roles: principal.roles,
    secret_hash: secretHash(secret),
    family_hash: secretHash(familyOf(secret)),
    issued_at: new Date(nowMs).toISOString(),
    expires_at: new Date(nowMs + sessionMs).toISOString(),
  };
}

const isSession = (token: Token | undefined): token is Session =>
  token?.kind === 'session' && token.expires_at !== undefined && token.family_hash !== undefined;

const wrongPassword = () => new ServiceError('UNAUTHENTICATED', 'wrong name or password');
const badRefreshToken = () => new ServiceError('UNAUTHENTICATED', 'the refresh token is not valid');

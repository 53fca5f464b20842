import type { LimitName } from '../limits.ts';
import type { Principal } from '../store/store.ts';
import type { Caller } from './access.ts';
import { accessTokens, type TokenKeys } from './access-token.ts';
import { createAuthenticator } from './authenticate.ts';
import { createChangePassword } from './change-password.ts';
import type { IdentityReader, IdentityWriter, Sources } from './identities.ts';
import { LoginThrottle } from './login-throttle.ts';
import { issueLongLived, type TokenTerms } from './long-lived.ts';
import { createProvision } from './provision.ts';
import { createSignIn, type Lives, usualLives } from './sign-in.ts';
import { TokenUses } from './token-uses.ts';

export interface AuthParts {
  readonly reader: IdentityReader;
  readonly writer: IdentityWriter;
  readonly tokenKeys: TokenKeys;
  readonly sources: Sources;
  readonly lives?: Lives;
  /** As in `LoginThrottle`. */
  readonly loginFailuresPerAddress?: number;
  readonly limitReached?: (limit: LimitName) => void;
}

/** Assembles everything about credentials: sessions, passwords, long-lived tokens and authentication. */
export function createAuth({
  reader,
  writer,
  tokenKeys,
  sources,
  lives = usualLives,
  loginFailuresPerAddress,
  limitReached = () => undefined,
}: AuthParts) {
  const tokens = accessTokens(tokenKeys, {
    ...{ issuer: 'candor', audience: 'candor' },
    ttlMs: lives.accessTokenMs,
  });
  const throttle = new LoginThrottle(loginFailuresPerAddress);
  const uses = new TokenUses(writer, limitReached);
  return {
    ...createSignIn({ reader, writer, tokens, throttle, sources, lives }),
    ...createChangePassword({ reader, writer, throttle, now: sources.now }),
    ...createProvision({ writer, sources }),
    authenticate: createAuthenticator(reader, tokens, (jti, nowMs) => uses.note(jti, nowMs)),
    issueLongLived: (principal: Principal, terms: TokenTerms, by: Caller) =>
      issueLongLived({ writer, sources }, principal, terms, by),
    /** Replaces the keys with which access tokens are signed and verified. */
    useTokenKeys: tokens.use,
    /** Stores the times at which tokens were last used. */
    writeTokenUses: () => uses.write(),
  };
}

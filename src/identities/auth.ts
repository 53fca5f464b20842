import { LoginThrottle } from '../admission/login-throttle.ts';
import type { LimitName } from '../limits.ts';
import type { Principal } from '../store/store.ts';
import type { Caller } from './access.ts';
import { accessTokens, type TokenKeys } from './access-token.ts';
import { createAuthenticator } from './authenticate.ts';
import { createChangePassword } from './change-password.ts';
import type { IdentityReader, IdentityWriter, Sources } from './identities.ts';
import { issueLongLived, type TokenOptions } from './long-lived.ts';
import { createProvision } from './provision.ts';
import { createSignIn, type Lifetimes, usualLives } from './sign-in.ts';
import { TokenUses } from './token-uses.ts';

export interface AuthParts {
  readonly reader: IdentityReader;
  readonly writer: IdentityWriter;
  readonly tokenKeys: TokenKeys;
  readonly sources: Sources;
  readonly lives?: Lifetimes;
  /** Maximum login failures from one address, as in `LoginThrottle`. */
  readonly loginFailuresPerAddress?: number;
  readonly limitReached?: (limit: LimitName) => void;
}

/** Creates the components for credentials: sessions, passwords, long-lived tokens and authentication. */
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
    issueLongLived: (principal: Principal, options: TokenOptions, by: Caller) =>
      issueLongLived({ writer, sources }, principal, options, by),
    /** Replaces the keys that sign and verify access tokens. */
    useTokenKeys: tokens.use,
    /** Stores when tokens were last used. */
    writeTokenUses: () => uses.write(),
  };
}

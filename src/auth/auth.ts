import type { Actor, Principal } from '../store/store.ts';
import { accessTokens, type TokenKeys } from './access-token.ts';
import { createAuthenticator } from './authenticate.ts';
import type { IdentityReader, IdentityWriter, Sources } from './identities.ts';
import { issueLongLived, type TokenTerms } from './long-lived.ts';
import { createSignIn } from './sign-in.ts';

export interface AuthParts {
  readonly reader: IdentityReader;
  readonly writer: IdentityWriter;
  readonly tokenKeys: TokenKeys;
  readonly sources: Sources;
}

/** Everything about credentials, put together: sessions, long-lived tokens, and what a header means. */
export function createAuth({ reader, writer, tokenKeys, sources }: AuthParts) {
  const tokens = accessTokens(tokenKeys, { issuer: 'candor', audience: 'candor' });
  return {
    ...createSignIn({ reader, writer, tokens, sources }),
    authenticate: createAuthenticator(reader, tokens),
    issueLongLived: (principal: Principal, terms: TokenTerms, by: Actor) =>
      issueLongLived({ writer, sources }, principal, terms, by),
    /** From now on access tokens are signed and verified with these. */
    useTokenKeys: tokens.use,
  };
}

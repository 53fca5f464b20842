import type { Actor, Principal } from '../store/store.ts';
import { accessTokens } from './access-token.ts';
import { createAuthenticator } from './authenticate.ts';
import type { IdentityReader, IdentityWriter, Sources } from './identities.ts';
import { issueLongLived, type TokenTerms } from './long-lived.ts';
import { createSignIn } from './sign-in.ts';

export interface AuthParts {
  readonly reader: IdentityReader;
  readonly writer: IdentityWriter;
  /** The private JWK that signs access tokens. */
  readonly accessTokenKey: Readonly<Record<string, string | number>>;
  readonly sources: Sources;
}

/** Everything about credentials, put together: sessions, long-lived tokens, and what a header means. */
export function createAuth({ reader, writer, accessTokenKey, sources }: AuthParts) {
  const tokens = accessTokens(accessTokenKey, { issuer: 'candor', audience: 'candor' });
  return {
    ...createSignIn({ reader, writer, tokens, sources }),
    authenticate: createAuthenticator(reader, tokens),
    issueLongLived: (principal: Principal, terms: TokenTerms, by: Actor) =>
      issueLongLived({ writer, sources }, principal, terms, by),
  };
}

import type { Token } from '../store.ts';
import { entryCount, type Tables } from './tables.ts';

/** Where a token stands in the index of its principal's tokens: revoked ones are kept only to be seen. */
export type TokenState = Token['kind'] | 'ended';

const stateOf = (token: Token): TokenState => (token.revoked_at === undefined ? token.kind : 'ended');

const rangeOf = (principalId: string, state: TokenState) => ({
  start: [principalId, state, ''] as [string, TokenState, string],
  end: [principalId, state, '\uffff'] as [string, TokenState, string],
});

/** Tokens of a principal, oldest first, as their keys are UUIDv7; at most `limit`. */
export function tokensOf(tables: Tables, principalId: string, state: TokenState, limit?: number): Token[] {
  const range = { ...rangeOf(principalId, state), ...(limit === undefined ? {} : { limit }) };
  const keys = [...tables.principalTokens.getKeys(range)];
  return keys.flatMap(([, , jti]) => tables.tokens.get(jti) ?? []);
}

/** Counted at 0.06 µs each. */
export function tokenCount(tables: Tables, principalId: string, state: TokenState): number {
  return tables.principalTokens.getKeysCount(rangeOf(principalId, state));
}

/** Stores a token, new or changed, and its place in the indexes. Within a transaction. */
export function putToken(tables: Tables, token: Token, before?: Token): void {
  const { tokens, tokenTimes, principalTokens } = tables;
  tokens.putSync(token.jti, token);
  if (before === undefined && token.kind === 'session' && token.expires_at !== undefined)
    tokenTimes.putSync([Date.parse(token.expires_at), token.jti], true);
  const state = stateOf(token);
  if (before !== undefined && stateOf(before) === state) return;
  if (before !== undefined) principalTokens.removeSync([token.principal_id, stateOf(before), token.jti]);
  principalTokens.putSync([token.principal_id, state, token.jti], true);
}

/** Forgets a token. Within a transaction. */
export function removeToken({ tokens, tokenTimes, principalTokens }: Tables, token: Token): void {
  tokens.removeSync(token.jti);
  principalTokens.removeSync([token.principal_id, stateOf(token), token.jti]);
  if (token.kind === 'session' && token.expires_at !== undefined)
    tokenTimes.removeSync([Date.parse(token.expires_at), token.jti]);
}

/** The index by principal of a file that has none yet, or not of all tokens. Within a transaction. */
export function completeTokenIndex({ tokens, principalTokens }: Tables): void {
  if (entryCount(principalTokens) === entryCount(tokens)) return;
  principalTokens.clearSync();
  for (const { value: token } of tokens.getRange())
    principalTokens.putSync([token.principal_id, stateOf(token), token.jti], true);
}

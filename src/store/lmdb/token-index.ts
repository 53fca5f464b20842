import type { Token } from '../store.ts';
import { entryCount, type Tables } from './tables.ts';

/** State of a token in the index of its principal's tokens: revoked ones are stored only for display. */
export type TokenState = Token['kind'] | 'ended';

const stateOf = (token: Token): TokenState => (token.revoked_at === undefined ? token.kind : 'ended');

const rangeOf = (principalId: string, state: TokenState) => ({
  start: [principalId, state, ''] as [string, TokenState, string],
  end: [principalId, state, '\uffff'] as [string, TokenState, string],
});

/** Returns tokens of a principal, oldest first, as their keys are UUIDv7; at most `limit`. */
export function tokensOf(tables: Tables, principalId: string, state: TokenState, limit?: number): Token[] {
  const range = { ...rangeOf(principalId, state), ...(limit === undefined ? {} : { limit }) };
  const keys = [...tables.principalTokens.getKeys(range)];
  return keys.flatMap(([, , jti]) => tables.tokens.get(jti) ?? []);
}

/** Counts tokens, at 0.06 µs each. */
export function tokenCount(tables: Tables, principalId: string, state: TokenState): number {
  return tables.principalTokens.getKeysCount(rangeOf(principalId, state));
}

/** Stores a token, new or changed, and updates the indexes. Runs within a transaction. */
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

/** Removes a token. Runs within a transaction. */
export function removeToken({ tokens, tokenTimes, principalTokens }: Tables, token: Token): void {
  tokens.removeSync(token.jti);
  principalTokens.removeSync([token.principal_id, stateOf(token), token.jti]);
  if (token.kind === 'session' && token.expires_at !== undefined)
    tokenTimes.removeSync([Date.parse(token.expires_at), token.jti]);
}

/** Builds the index by principal if it is missing or incomplete. Runs within a transaction. */
export function completeTokenIndex({ tokens, principalTokens }: Tables): void {
  if (entryCount(principalTokens) === entryCount(tokens)) return;
  principalTokens.clearSync();
  for (const { value: token } of tokens.getRange())
    principalTokens.putSync([token.principal_id, stateOf(token), token.jti], true);
}

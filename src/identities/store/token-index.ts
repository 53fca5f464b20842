import { entryCount } from '../../database/rows.ts';
import type { Token } from '../../store/store.ts';
import type { IdentityTables } from './tables.ts';

/** State of a token in the index of its principal's tokens. Revoked tokens are stored only for display. */
export type TokenState = Token['kind'] | 'ended';

const stateOf = (token: Token): TokenState => (token.revoked_at === undefined ? token.kind : 'ended');

const rangeOf = (principalId: string, state: TokenState) => ({
  start: [principalId, state, ''] as [string, TokenState, string],
  end: [principalId, state, '\uffff'] as [string, TokenState, string],
});

/** Returns tokens of a principal, at most `limit`, oldest first, because their keys are UUIDv7. */
export function tokensOf(tables: IdentityTables, principalId: string, state: TokenState, limit?: number): Token[] {
  const range = { ...rangeOf(principalId, state), ...(limit === undefined ? {} : { limit }) };
  const keys = [...tables.principalTokens.getKeys(range)];
  return keys.flatMap(([, , jti]) => tables.tokens.get(jti) ?? []);
}

/** Returns the number of tokens of a principal in a state. Takes 0.06 µs per token. */
export function tokenCount(tables: IdentityTables, principalId: string, state: TokenState): number {
  return tables.principalTokens.getKeysCount(rangeOf(principalId, state));
}

/** Stores a new or changed token and updates the indexes. Must be called in a transaction. */
export function putToken(tables: IdentityTables, token: Token, before?: Token): void {
  const { tokens, tokenTimes, principalTokens } = tables;
  tokens.putSync(token.jti, token);
  if (before === undefined && token.kind === 'session' && token.expires_at !== undefined)
    tokenTimes.putSync([Date.parse(token.expires_at), token.jti], true);
  const state = stateOf(token);
  if (before !== undefined && stateOf(before) === state) return;
  if (before !== undefined) principalTokens.removeSync([token.principal_id, stateOf(before), token.jti]);
  principalTokens.putSync([token.principal_id, state, token.jti], true);
}

/** Removes a token from the table and the indexes. Must be called in a transaction. */
export function removeToken({ tokens, tokenTimes, principalTokens }: IdentityTables, token: Token): void {
  tokens.removeSync(token.jti);
  principalTokens.removeSync([token.principal_id, stateOf(token), token.jti]);
  if (token.kind === 'session' && token.expires_at !== undefined)
    tokenTimes.removeSync([Date.parse(token.expires_at), token.jti]);
}

/** Builds the index by principal if it is missing or incomplete. Must be called in a transaction. */
export function completeTokenIndex({ tokens, principalTokens }: IdentityTables): void {
  if (entryCount(principalTokens) === entryCount(tokens)) return;
  principalTokens.clearSync();
  for (const { value: token } of tokens.getRange())
    principalTokens.putSync([token.principal_id, stateOf(token), token.jti], true);
}

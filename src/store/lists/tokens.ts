import { isExpired } from '../../contract/token-life.ts';
import { roles, tokenKinds, tokenStatuses } from '../../contract/vocabulary.ts';
import type { Token } from '../store.ts';
import { oneOf, someOf, text } from './filter.ts';
import type { ListSpec } from './list.ts';
import { timeOrder } from './order.ts';

/** Tokens as of `nowMs`, because they expire automatically. */
export function tokenListAt(nowMs: number): ListSpec<Token> {
  return {
    type: 'token',
    terms: {
      jti: text((token) => token.jti),
      principal_id: text((token) => token.principal_id),
      kind: oneOf(tokenKinds, (token) => token.kind),
      name: text((token) => token.name),
      role: someOf(roles, (token) => token.roles),
      scopes: someOf(roles, (token) => token.roles),
      status: oneOf(tokenStatuses, (token) => statusOf(token, nowMs)),
    },
    sorts: {
      issued_at: (token) => timeOrder(token.issued_at),
      expires_at: (token) => timeOrder(token.expires_at),
      last_used_at: (token) => timeOrder(token.last_used_at),
      name: (token) => token.name,
    },
    time: (token) => token.issued_at,
    names: (token) => [token.name],
  };
}

function statusOf(token: Token, nowMs: number): (typeof tokenStatuses)[number] {
  if (token.revoked_at !== undefined) return 'revoked';
  return isExpired(token, nowMs) ? 'expired' : 'active';
}

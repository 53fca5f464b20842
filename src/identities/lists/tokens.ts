import { tokenAttributes } from '../../contract/list-attributes.ts';
import { isExpired } from '../../contract/token-life.ts';
import { roles, tokenStatuses } from '../../contract/vocabulary.ts';
import { attributeList } from '../../database/lists/attributes.ts';
import { oneOf, someOf } from '../../database/lists/filter.ts';
import type { ListSpec } from '../../database/lists/list.ts';
import type { Token } from '../../store/store.ts';

/** Returns the specification of token lists as of `nowMs`, because tokens expire automatically. */
export const tokenListAt = (nowMs: number): ListSpec<Token> =>
  attributeList(tokenAttributes, {
    type: 'token',
    terms: {
      role: someOf(roles, (token) => token.roles),
      scopes: someOf(roles, (token) => token.roles),
      status: oneOf(tokenStatuses, (token) => statusOf(token, nowMs)),
    },
    time: (token) => token.issued_at,
    names: (token) => [token.name],
  });

function statusOf(token: Token, nowMs: number): (typeof tokenStatuses)[number] {
  if (token.revoked_at !== undefined) return 'revoked';
  return isExpired(token, nowMs) ? 'expired' : 'active';
}

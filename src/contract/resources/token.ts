import { oneOf, type Static } from './common.ts';
import { list, optional, shape, text, timestamp, uuid } from './fields.ts';
import { type Role, role } from './principal.ts';

export const tokenKinds = ['session', 'long_lived'] as const;
/** As of now; a token that was revoked is not looked at further. */
export const tokenStatuses = ['active', 'expired', 'revoked'] as const;

const attributes = {
  jti: uuid('Identifier of the token; all of it that is ever logged.'),
  principal_id: uuid('Whose it is.'),
  kind: oneOf(tokenKinds, { description: 'From login to logout, or issued for a machine.' }),
  name: optional(text('What it is for.')),
  scopes: list(role, 'The roles that it carries.'),
  issued_at: timestamp('When it was issued.'),
  expires_at: optional(timestamp('When it ends by itself; absent for never.')),
  revoked_at: optional(timestamp('When it was revoked.')),
  last_used_at: optional(timestamp('When it was last presented.')),
};

export const Token = shape('Token', attributes);
export type Token = Static<typeof Token>;

/** What is shown of a token as it is stored: not the hash of its secret. */
export function tokenAttributes(
  stored: Readonly<Omit<Token, 'scopes'>> & { readonly roles: readonly Role[] },
): Token {
  const { jti, principal_id, kind, name, roles, issued_at, expires_at, revoked_at, last_used_at } = stored;
  return {
    jti,
    principal_id,
    kind,
    ...(name === undefined ? {} : { name }),
    scopes: [...roles],
    issued_at,
    ...(expires_at === undefined ? {} : { expires_at }),
    ...(revoked_at === undefined ? {} : { revoked_at }),
    ...(last_used_at === undefined ? {} : { last_used_at }),
  };
}

/** The one answer that shows the secret. */
export const IssuedToken = shape('IssuedToken', {
  ...attributes,
  token: text('The bearer token. Shown this once; only its hash is kept.'),
});
export type IssuedToken = Static<typeof IssuedToken>;

export const TokenInput = shape('TokenInput', {
  name: text('What it is for.', { minLength: 1, maxLength: 200 }),
  scopes: list(role, 'The roles that it carries: some of those of its principal.', {
    minItems: 1,
    maxItems: 5,
  }),
  principal_id: optional(uuid('Whose it is; default: the caller.')),
  expires_at: optional(timestamp('When it ends by itself; default: never.')),
});
export type TokenInput = Static<typeof TokenInput>;

import { roles, tokenKinds } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { list, optional, shape, text, timestamp, uuid } from './fields.ts';
import { role } from './principal.ts';

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
    maxItems: roles.length,
    uniqueItems: true,
  }),
  principal_id: optional(uuid('Whose it is; default: the caller.')),
  expires_at: optional(timestamp('When it ends by itself; default: never.')),
});
export type TokenInput = Static<typeof TokenInput>;

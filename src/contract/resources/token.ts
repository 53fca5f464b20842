import { roles, tokenKinds } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { list, optional, shape, text, timestamp, uuid } from './fields.ts';
import { role } from './principal.ts';

const attributes = {
  jti: uuid('Identifier of the token; the only part of a token that is logged.'),
  principal_id: uuid('Identifier of the principal that owns the token.'),
  kind: oneOf(tokenKinds, 'Kind of token: a session from login to logout, or a long-lived token for a machine.'),
  name: optional(text('Name of the token, which states its purpose.')),
  scopes: list(role, 'Roles that the token carries.'),
  issued_at: timestamp('Time at which the token was issued.'),
  expires_at: optional(timestamp('Time at which the token expires; absent if it never expires.')),
  revoked_at: optional(timestamp('Time at which the token was revoked.')),
  last_used_at: optional(timestamp('Time at which the token was last used.')),
};

export const Token = shape('Token', attributes);
export type Token = Static<typeof Token>;

/** An issued token: the only response that includes the secret. */
export const IssuedToken = shape('IssuedToken', {
  ...attributes,
  token: text('The bearer token. It is returned only once; the service stores only its hash.'),
});
export type IssuedToken = Static<typeof IssuedToken>;

export const TokenInput = shape('TokenInput', {
  name: text('Name of the token, which states its purpose.', { minLength: 1, maxLength: 200 }),
  scopes: list(role, 'Roles that the token carries: a subset of the roles of its principal.', {
    minItems: 1,
    maxItems: roles.length,
    uniqueItems: true,
  }),
  principal_id: optional(uuid('Identifier of the principal that owns the token. Default: the caller.')),
  expires_at: optional(timestamp('Time at which the token expires. Default: never.')),
});
export type TokenInput = Static<typeof TokenInput>;

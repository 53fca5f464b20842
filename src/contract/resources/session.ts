import { oneOf, type Static } from './common.ts';
import { ordinal, shape, text } from './fields.ts';
import { password } from './principal.ts';

const secret = (description: string) => text(description, { minLength: 1, maxLength: 4096 });

export const LoginInput = shape('LoginInput', {
  username: text('Name of the principal.', { minLength: 1, maxLength: 200 }),
  password: text('Password of the principal.', { minLength: 1, maxLength: 1024 }),
});
export type LoginInput = Static<typeof LoginInput>;

export const RefreshInput = shape('RefreshInput', {
  refresh_token: secret('The newest refresh token of the session; using an older one ends the session.'),
});
export type RefreshInput = Static<typeof RefreshInput>;

export const PasswordInput = shape('PasswordInput', {
  current_password: text('Current password.', { minLength: 1, maxLength: 1024 }),
  new_password: password('New password. Other sessions of the principal end.'),
});
export type PasswordInput = Static<typeof PasswordInput>;

/** Response to login and refresh, in the format of RFC 6749, section 5.1. */
export const SessionTokens = shape('SessionTokens', {
  access_token: secret('EdDSA JWT, verifiable with /.well-known/jwks.json.'),
  token_type: oneOf(['Bearer']),
  expires_in: ordinal('Lifetime of the access token, in seconds.'),
  refresh_token: secret('Refresh token, valid for one refresh.'),
  refresh_expires_in: ordinal('Lifetime of the refresh token, in seconds.'),
});
export type SessionTokens = Static<typeof SessionTokens>;

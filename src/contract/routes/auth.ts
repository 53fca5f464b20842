import { successWith } from '../envelopes.ts';
import { Caller } from '../resources/principal.ts';
import { LoginInput, PasswordInput, RefreshInput, SessionTokens } from '../resources/session.ts';
import { get, json, none, post, put, sharing } from './route.ts';

const anyone = ['viewer', 'analyst', 'admin', 'sensor', 'auditor'] as const;

/** Sessions and the identity of the caller. */
export const authRoutes = sharing({ tag: 'auth' })({
  login: post('/auth/login', 'Sign in with username and password', {
    access: 'public',
    alwaysPublic: true,
    audited: true,
    body: { kind: 'json', schema: LoginInput },
    responses: { 200: json(SessionTokens) },
    errors: ['UNAUTHENTICATED'],
  }),
  refresh: post('/auth/refresh', 'Refresh the tokens of a session', {
    access: 'public',
    alwaysPublic: true,
    audited: true,
    body: { kind: 'json', schema: RefreshInput },
    responses: { 200: json(SessionTokens) },
    errors: ['UNAUTHENTICATED'],
  }),
  logout: post('/auth/logout', 'End the session of the access token', {
    access: anyone,
    audited: true,
    responses: { 204: none },
  }),
  whoAmI: get('/auth/me', 'Get the principal of the credentials and its permitted operations', {
    access: anyone,
    responses: { 200: json(successWith('principal', Caller)) },
  }),
  changePassword: put('/auth/password', 'Change the password of the caller and end its other sessions', {
    access: anyone,
    audited: 'each',
    body: { kind: 'json', schema: PasswordInput },
    responses: { 204: none },
    errors: ['CONFLICT'],
  }),
});

import { auditQuery, keyQuery, principalQuery, tokenQuery } from '../administration-parameters.ts';
import { successWith } from '../envelopes.ts';
import { KeyRevocationInput, KeyRotationInput } from '../resources/key.ts';
import { Policy, PolicyInput } from '../resources/policy.ts';
import { Principal, PrincipalInput, PrincipalUpdateInput } from '../resources/principal.ts';
import { IssuedToken, Token, TokenInput } from '../resources/token.ts';
import { admins, created, del, get, ifMatch, json, none, one, page, post, put, sharing } from './route.ts';

/** Principals, tokens, keys, the access policy and the audit log. */
export const identitiesRoutes = sharing({ tag: 'identities', access: admins, audited: true })({
  listPrincipals: get('/api/v1/principals', 'List users, sensors and auditors, newest first', {
    query: principalQuery,
    responses: page('principal'),
  }),
  createPrincipal: post('/api/v1/principals', 'Create a principal', {
    body: { kind: 'json', schema: PrincipalInput, resource: Principal },
    responses: created('principal'),
    errors: ['CONFLICT'],
  }),
  getPrincipal: get('/api/v1/principals/:principal_id', 'Get a principal', { responses: one('principal') }),
  updatePrincipal: put(
    '/api/v1/principals/:principal_id',
    'Update the name, roles, status or password of a principal',
    {
      headers: ifMatch,
      body: { kind: 'json', schema: PrincipalUpdateInput, resource: Principal },
      responses: one('principal'),
      errors: ['CONFLICT'],
    },
  ),
  getPolicy: get('/api/v1/policy', 'Get the access policy', { responses: one('policy') }),
  updatePolicy: put('/api/v1/policy', 'Replace the access policy', {
    headers: ifMatch,
    body: { kind: 'json', schema: PolicyInput, resource: Policy },
    responses: one('policy'),
    errors: ['CONFLICT'],
  }),
  reloadPolicy: post('/api/v1/policy/reload', 'Reload the access policy from its file', {
    responses: one('policy'),
    errors: ['CONFLICT'],
  }),
  listAuditRecords: get('/api/v1/audit', 'List audit records, newest first', {
    query: auditQuery,
    responses: page('audit_record'),
  }),
  listTokens: get('/api/v1/tokens', 'List sessions and long-lived tokens, newest first', {
    query: tokenQuery,
    responses: page('token'),
  }),
  issueToken: post('/api/v1/tokens', 'Issue a long-lived token', {
    body: { kind: 'json', schema: TokenInput, resource: Token },
    responses: { 201: json(successWith('token', IssuedToken)) },
    errors: ['NOT_FOUND'],
  }),
  getToken: get('/api/v1/tokens/:token_id', 'Get a token or session', { responses: one('token') }),
  revokeToken: del('/api/v1/tokens/:token_id', 'Revoke a token or end a session', { responses: { 204: none } }),
  listKeys: get('/api/v1/keys', 'List the keys of the service, newest first', {
    query: keyQuery,
    responses: page('key'),
  }),
  rotateKey: post('/api/v1/keys/rotate', 'Rotate to a new key', {
    body: { kind: 'json', schema: KeyRotationInput },
    responses: one('key'),
    errors: ['CONFLICT'],
  }),
  retireKey: post('/api/v1/keys/:key_id/retire', 'Retire a pending key', {
    responses: one('key'),
    errors: ['INVALID_TRANSITION', 'CONFLICT'],
  }),
  revokeKey: post('/api/v1/keys/:key_id/revoke', 'Revoke a compromised key and replace it', {
    body: { kind: 'json', schema: KeyRevocationInput },
    responses: one('key'),
    errors: ['INVALID_TRANSITION', 'CONFLICT'],
  }),
});

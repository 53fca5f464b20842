import { auditQuery, keyQuery, principalQuery, tokenQuery } from '../administration-parameters.ts';
import { paginated, success, successWith } from '../envelopes.ts';
import { parameters, uuid } from '../resources/fields.ts';
import { KeyRevocationInput, KeyRotationInput } from '../resources/key.ts';
import { Policy, PolicyInput } from '../resources/policy.ts';
import { Principal, PrincipalInput, PrincipalUpdateInput } from '../resources/principal.ts';
import { IssuedToken, Token, TokenInput } from '../resources/token.ts';
import { admins, ifMatch, json, list, none, type RoutesWithout, sharing } from './route.ts';

const keyParams = parameters({ key_id: uuid('Identifier (kid) of the key.') });
const tokenParams = parameters({ token_id: uuid('Identifier (jti) of the token.') });
const principalParams = parameters({ principal_id: uuid('Identifier of the principal.') });

/** Principals, tokens, keys, the access policy and the audit log. */
export const identitiesRoutes = sharing({ tag: 'identities', access: admins, audited: true, method: 'GET' }, {
  listPrincipals: {
    path: '/api/v1/principals',
    summary: 'List users, sensors and auditors, newest first',
    query: principalQuery,
    responses: { 200: list(paginated('principal')) },
  },
  createPrincipal: {
    method: 'POST',
    path: '/api/v1/principals',
    summary: 'Create a principal',
    body: { kind: 'json', schema: PrincipalInput, resource: Principal },
    responses: { 201: json(success('principal')) },
    errors: ['CONFLICT'],
  },
  getPrincipal: {
    path: '/api/v1/principals/:principal_id',
    summary: 'Get a principal',
    params: principalParams,
    responses: { 200: json(success('principal')) },
    errors: ['NOT_FOUND'],
  },
  updatePrincipal: {
    method: 'PUT',
    path: '/api/v1/principals/:principal_id',
    summary: 'Update the name, roles, status or password of a principal',
    params: principalParams,
    headers: ifMatch,
    body: { kind: 'json', schema: PrincipalUpdateInput, resource: Principal },
    responses: { 200: json(success('principal')) },
    errors: ['NOT_FOUND', 'CONFLICT', 'VERSION_MISMATCH'],
  },
  getPolicy: {
    path: '/api/v1/policy',
    summary: 'Get the access policy',
    responses: { 200: json(success('policy')) },
  },
  updatePolicy: {
    method: 'PUT',
    path: '/api/v1/policy',
    summary: 'Replace the access policy',
    headers: ifMatch,
    body: { kind: 'json', schema: PolicyInput, resource: Policy },
    responses: { 200: json(success('policy')) },
    errors: ['CONFLICT', 'VERSION_MISMATCH'],
  },
  reloadPolicy: {
    method: 'POST',
    path: '/api/v1/policy/reload',
    summary: 'Reload the access policy from its file',
    responses: { 200: json(success('policy')) },
    errors: ['CONFLICT'],
  },
  listAuditRecords: {
    path: '/api/v1/audit',
    summary: 'List audit records, newest first',
    query: auditQuery,
    responses: { 200: list(paginated('audit_record')) },
  },
  listTokens: {
    path: '/api/v1/tokens',
    summary: 'List sessions and long-lived tokens, newest first',
    query: tokenQuery,
    responses: { 200: list(paginated('token')) },
  },
  issueToken: {
    method: 'POST',
    path: '/api/v1/tokens',
    summary: 'Issue a long-lived token',
    body: { kind: 'json', schema: TokenInput, resource: Token },
    responses: { 201: json(successWith('token', IssuedToken)) },
    errors: ['NOT_FOUND'],
  },
  getToken: {
    path: '/api/v1/tokens/:token_id',
    summary: 'Get a token or session',
    params: tokenParams,
    responses: { 200: json(success('token')) },
    errors: ['NOT_FOUND'],
  },
  revokeToken: {
    method: 'DELETE',
    path: '/api/v1/tokens/:token_id',
    summary: 'Revoke a token or end a session',
    params: tokenParams,
    responses: { 204: none },
    errors: ['NOT_FOUND'],
  },
  listKeys: {
    path: '/api/v1/keys',
    summary: 'List the keys of the service, newest first',
    query: keyQuery,
    responses: { 200: list(paginated('key')) },
  },
  rotateKey: {
    method: 'POST',
    path: '/api/v1/keys/rotate',
    summary: 'Rotate to a new key',
    body: { kind: 'json', schema: KeyRotationInput },
    responses: { 200: json(success('key')) },
    errors: ['CONFLICT'],
  },
  retireKey: {
    method: 'POST',
    path: '/api/v1/keys/:key_id/retire',
    summary: 'Retire a pending key',
    params: keyParams,
    responses: { 200: json(success('key')) },
    errors: ['NOT_FOUND', 'INVALID_TRANSITION', 'CONFLICT'],
  },
  revokeKey: {
    method: 'POST',
    path: '/api/v1/keys/:key_id/revoke',
    summary: 'Revoke a compromised key and replace it',
    params: keyParams,
    body: { kind: 'json', schema: KeyRevocationInput },
    responses: { 200: json(success('key')) },
    errors: ['NOT_FOUND', 'INVALID_TRANSITION', 'CONFLICT'],
  },
} as const satisfies RoutesWithout<'tag' | 'access' | 'audited' | 'method'>);

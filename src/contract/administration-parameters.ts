import { errorCodes } from '../errors.ts';
import { listParameters, many, network, word } from './parameters.ts';
import { oneOf } from './resources/common.ts';
import { uuid } from './resources/fields.ts';
import { role } from './resources/principal.ts';
import {
  auditOutcomes,
  backupStates,
  keyPurposes,
  keyStates,
  principalKinds,
  principalStatuses,
  tokenKinds,
  tokenStatuses,
} from './vocabulary.ts';

/** Query parameters of lists that are restricted to administrators. */

/** `from` and `to` bound `created_at`. */
export const principalFilters = {
  name: many(word('Exact name of the principal.')),
  kind: many(oneOf(principalKinds, { description: 'Kind of principal.' })),
  role: many(role),
  roles: many(role),
  status: many(oneOf(principalStatuses, { description: 'Status of the principal.' })),
};
export const principalQuery = listParameters(
  ['created_at', 'name', 'kind', 'status', 'last_login_at'],
  principalFilters,
);

/** `from` and `to` bound `issued_at`. */
export const tokenFilters = {
  jti: many(uuid('Identifier of the token.')),
  principal_id: many(uuid('Identifier of the principal that owns the token.')),
  kind: many(oneOf(tokenKinds, { description: 'Kind of token: session or long-lived.' })),
  name: many(word('Exact name of the token.')),
  role: many(role),
  scopes: many(role),
  status: many(
    oneOf(tokenStatuses, {
      description: 'Current status of the token. A revoked token is not listed as expired.',
    }),
  ),
};
export const tokenQuery = listParameters(['issued_at', 'expires_at', 'last_used_at', 'name'], tokenFilters);

/** `from` and `to` bound `time`. */
export const auditFilters = {
  actor: many(word('Identifier of a principal, or anonymous.')),
  actor_name: many(word('Exact name of the principal at that time.')),
  operation: many(word('Operation id.')),
  outcome: many(oneOf(auditOutcomes, { description: 'Outcome of the call.' })),
  code: many(oneOf(Object.keys(errorCodes), { description: 'Error code.' })),
  resource_type: many(word('Type of the resource.')),
  resource_id: many(word('Identifier of the resource.')),
  request_id: many(word('X-Request-Id of the response.')),
  source_address: many(network('Address of the caller: an address or a CIDR block.')),
  entry_id: many(uuid('Identifier of an entry of the transparency log that the call caused.')),
};
export const auditQuery = listParameters(['time'], auditFilters);

/** `from` and `to` bound `created_at`. */
export const keyFilters = {
  kid: many(uuid('Identifier of the key.')),
  purpose: many(oneOf(keyPurposes, { description: 'Purpose of the key.' })),
  state: many(oneOf(keyStates, { description: 'State of the key.' })),
};
export const keyQuery = listParameters(
  ['created_at', 'activated_at', 'retired_at', 'purpose', 'state'],
  keyFilters,
);

/** `from` and `to` bound `created_at`. */
export const backupFilters = {
  state: many(oneOf(backupStates, { description: 'State of the backup.' })),
};
export const backupQuery = listParameters(['created_at'], backupFilters);

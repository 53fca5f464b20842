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

/** Query parameters of what only administrators list. */

/** `from` and `to` bound `created_at`. */
export const principalFilters = {
  name: many(word('Name, whole.')),
  kind: many(oneOf(principalKinds, { description: 'What it is.' })),
  role: many(role),
  roles: many(role),
  status: many(oneOf(principalStatuses, { description: 'Whether it is refused.' })),
};
export const principalQuery = listParameters(
  ['created_at', 'name', 'kind', 'status', 'last_login_at'],
  principalFilters,
);

/** `from` and `to` bound `issued_at`. */
export const tokenFilters = {
  jti: many(uuid('Identifier of the token.')),
  principal_id: many(uuid('Whose it is.')),
  kind: many(oneOf(tokenKinds, { description: 'A session, or issued for a machine.' })),
  name: many(word('What it is for, whole.')),
  role: many(role),
  scopes: many(role),
  status: many(
    oneOf(tokenStatuses, { description: 'Whether it is good now: what was revoked has not expired.' }),
  ),
};
export const tokenQuery = listParameters(['issued_at', 'expires_at', 'last_used_at', 'name'], tokenFilters);

/** `from` and `to` bound `time`. */
export const auditFilters = {
  actor: many(word('Id of a principal, or anonymous.')),
  actor_name: many(word('Its name at that time, whole.')),
  operation: many(word('Operation id.')),
  outcome: many(oneOf(auditOutcomes, { description: 'How it ended.' })),
  code: many(oneOf(Object.keys(errorCodes), { description: 'Error code.' })),
  resource_type: many(word('Kind of what it was on.')),
  resource_id: many(word('Identifier of what it was on.')),
  request_id: many(word('X-Request-Id of the answer.')),
  source_address: many(network('From where: an address or a CIDR block.')),
  entry_id: many(uuid('An entry of the transparency log that it caused.')),
};
export const auditQuery = listParameters(['time'], auditFilters);

/** `from` and `to` bound `created_at`. */
export const keyFilters = {
  kid: many(uuid('Names the key.')),
  purpose: many(oneOf(keyPurposes, { description: 'The one thing that it signs.' })),
  state: many(oneOf(keyStates, { description: 'Where it is in its life.' })),
};
export const keyQuery = listParameters(
  ['created_at', 'activated_at', 'retired_at', 'purpose', 'state'],
  keyFilters,
);

/** `from` and `to` bound `created_at`. */
export const backupFilters = {
  state: many(oneOf(backupStates, { description: 'Whether it is running, completed or failed.' })),
};
export const backupQuery = listParameters(['created_at'], backupFilters);

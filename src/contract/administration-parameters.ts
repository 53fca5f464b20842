import { errorCodes } from '../errors.ts';
import {
  attributesTo,
  backupAttributes,
  keyAttributes,
  principalAttributes,
  tokenAttributes,
} from './list-attributes.ts';
import { filtersOf, listParameters, many, word } from './parameters.ts';
import { AuditRecord } from './resources/audit-record.ts';
import { Backup } from './resources/backup.ts';
import { oneOf } from './resources/common.ts';
import { uuid } from './resources/fields.ts';
import { Key } from './resources/key.ts';
import { Principal, role } from './resources/principal.ts';
import { Token } from './resources/token.ts';
import { tokenStatuses } from './vocabulary.ts';

/** Query parameters of lists that are restricted to administrators. */

/** Filters of principals. `from` and `to` select a range of `created_at`. */
export const principalFilters = {
  ...filtersOf(Principal, attributesTo('filter', principalAttributes)),
  role: many(role),
  roles: many(role),
};
export const principalQuery = listParameters(attributesTo('sort', principalAttributes), principalFilters);

/** Filters of tokens. `from` and `to` select a range of `issued_at`. */
export const tokenFilters = {
  ...filtersOf(Token, attributesTo('filter', tokenAttributes)),
  role: many(role),
  scopes: many(role),
  status: many(oneOf(tokenStatuses, 'Current status of the token. A revoked token is not listed as expired.')),
};
export const tokenQuery = listParameters(attributesTo('sort', tokenAttributes), tokenFilters);

/** Filters of audit records. `from` and `to` select a range of `time`. */
export const auditFilters = {
  ...filtersOf(AuditRecord, ['actor', 'actor_name', 'operation', 'outcome', 'request_id', 'source_address']),
  code: many(oneOf(Object.keys(errorCodes), 'Error code.')),
  resource_type: many(word('Type of the resource.')),
  resource_id: many(word('Identifier of the resource.')),
  entry_id: many(uuid('Identifier of an entry of the transparency log that the call caused.')),
};
export const auditQuery = listParameters(['time'], auditFilters);

/** Filters of keys. `from` and `to` select a range of `created_at`. */
export const keyFilters = filtersOf(Key, attributesTo('filter', keyAttributes));
export const keyQuery = listParameters(attributesTo('sort', keyAttributes), keyFilters);

/** Filters of backups. `from` and `to` select a range of `created_at`. */
export const backupFilters = filtersOf(Backup, attributesTo('filter', backupAttributes));
export const backupQuery = listParameters(attributesTo('sort', backupAttributes), backupFilters);

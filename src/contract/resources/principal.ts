import { principalKinds, principalStatuses, roles } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { list, optional, ordinal, shape, text, timestamp } from './fields.ts';

export const role = oneOf(
  roles,
  'Role: viewer reads; analyst also works on alerts; auditor reads log entries; sensor only ingests; admin has all of these roles and administers the service.',
);

const attributes = {
  name: text('Unique name; for users, the username.', { minLength: 1, maxLength: 200 }),
  kind: oneOf(principalKinds, 'Kind of principal.'),
  roles: list(role, 'Roles of the principal.'),
  status: oneOf(principalStatuses, 'Status of the principal. Requests of a suspended principal are rejected.'),
  created_at: timestamp('Time at which the principal was created.'),
  last_login_at: optional(timestamp('Time of the last successful login.')),
  version: optional(ordinal('Version, increased by every change; use it with If-Match.')),
};

export const Principal = shape('Principal', attributes);
export type Principal = Static<typeof Principal>;

/** The calling principal. */
export const Caller = shape('Caller', {
  ...attributes,
  operations: list(
    text('Operation id of this document.'),
    'Operations that the current access policy permits with these credentials, public ones included.',
  ),
});
export type Caller = Static<typeof Caller>;

/**
 * Minimum and maximum length of a password: long enough to make guessing infeasible at the throttled rate (NIST SP
 * 800-63B, section 3.1.1.2).
 */
export const passwordLength = { minLength: 8, maxLength: 1024 } as const;
export const password = (description: string) => text(description, passwordLength);

const name = text('Unique name; for users, the username.', { minLength: 1, maxLength: 200 });
const newRoles = list(role, 'Roles of the principal.', { maxItems: roles.length, uniqueItems: true });

export const PrincipalInput = shape('PrincipalInput', {
  name,
  kind: oneOf(principalKinds, 'Kind of principal.'),
  roles: newRoles,
  status: optional(oneOf(principalStatuses, 'Status of the principal. Default: active.')),
  password: optional(password('Password, for principals that sign in; others use tokens or certificates.')),
});
export type PrincipalInput = Static<typeof PrincipalInput>;

export const PrincipalUpdateInput = shape('PrincipalUpdateInput', {
  name: optional(name),
  roles: optional(newRoles),
  status: optional(
    oneOf(principalStatuses, 'Status of the principal. Requests of a suspended principal are rejected.'),
  ),
  password: optional(password('New password, set by an administrator. All sessions of the principal end.')),
});
export type PrincipalUpdateInput = Static<typeof PrincipalUpdateInput>;

import { principalKinds, principalStatuses, roles } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { list, optional, ordinal, shape, text, timestamp } from './fields.ts';

export const role = oneOf(roles, {
  description: 'viewer reads; analyst also works on alerts; sensor ingests only.',
});

const attributes = {
  name: text('Unique name; for users the login.', { minLength: 1, maxLength: 200 }),
  kind: oneOf(principalKinds, { description: 'What it is.' }),
  roles: list(role, 'What it may do.'),
  status: oneOf(principalStatuses, { description: 'A suspended principal is refused.' }),
  created_at: timestamp('When it was provisioned.'),
  last_login_at: optional(timestamp('Last successful login.')),
  version: optional(ordinal('Grows with every change; for If-Match.')),
};

export const Principal = shape('Principal', attributes);
export type Principal = Static<typeof Principal>;

/** A principal as it is told to itself. */
export const Caller = shape('Caller', {
  ...attributes,
  operations: list(
    text('An operation id of this document.'),
    'What these credentials may do by the access policy as it is now, with what is public.',
  ),
});
export type Caller = Static<typeof Caller>;

/** Long enough that guessing is hopeless at the rate that the throttle leaves (NIST SP 800-63B, section 3.1.1.2). */
export const passwordLength = { minLength: 8, maxLength: 1024 } as const;
export const password = (description: string) => text(description, passwordLength);

const name = text('Unique name; for users the login.', { minLength: 1, maxLength: 200 });
const newRoles = list(role, 'What it may do.', { maxItems: roles.length, uniqueItems: true });

export const PrincipalInput = shape('PrincipalInput', {
  name,
  kind: oneOf(principalKinds, { description: 'What it is.' }),
  roles: newRoles,
  status: optional(oneOf(principalStatuses, { description: 'Default: active.' })),
  password: optional(password('For principals that sign in; others have tokens or certificates.')),
});
export type PrincipalInput = Static<typeof PrincipalInput>;

export const PrincipalUpdateInput = shape('PrincipalUpdateInput', {
  name: optional(name),
  roles: optional(newRoles),
  status: optional(oneOf(principalStatuses, { description: 'A suspended principal is refused.' })),
  password: optional(password('A new one, set by an administrator: all sessions end.')),
});
export type PrincipalUpdateInput = Static<typeof PrincipalUpdateInput>;

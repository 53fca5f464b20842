import { oneOf, type Static } from './common.ts';
import { list, optional, ordinal, shape, text, timestamp } from './fields.ts';

export const roles = ['viewer', 'analyst', 'admin', 'sensor', 'auditor'] as const;
export type Role = (typeof roles)[number];

export const principalKinds = ['user', 'sensor', 'auditor_client'] as const;

export const role = oneOf(roles, {
  description: 'viewer reads; analyst also works on alerts; sensor ingests only.',
});

export const Principal = shape('Principal', {
  name: text('Unique name; for users the login.', { minLength: 1, maxLength: 200 }),
  kind: oneOf(principalKinds, { description: 'What it is.' }),
  roles: list(role, 'What it may do.'),
  status: oneOf(['active', 'suspended'], { description: 'A suspended principal is refused.' }),
  created_at: timestamp('When it was provisioned.'),
  last_login_at: optional(timestamp('Last successful login.')),
  version: optional(ordinal('Grows with every change; for If-Match.')),
});
export type Principal = Static<typeof Principal>;

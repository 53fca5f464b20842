import { roles } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { list, optional, ordinal, part, shape, text, timestamp } from './fields.ts';
import { role } from './principal.ts';

export const AccessRule = part('Access rule of one operation.', {
  operation: text('Operation id of the OpenAPI document.', { minLength: 1, maxLength: 100 }),
  access: oneOf(['public', 'roles'], 'Whether the operation is public or restricted to roles.'),
  roles: list(role, 'Roles that may call the operation; empty for public access.', {
    maxItems: roles.length,
    uniqueItems: true,
  }),
});
export type AccessRule = Static<typeof AccessRule>;

const rules = list(
  AccessRule,
  'Access rules, at most one per operation. Operations without a rule are denied to all callers.',
  {
    maxItems: 500,
  },
);

export const Policy = shape('Policy', {
  version: ordinal('Version, increased by every change; use it with If-Match.'),
  rules,
  loaded_at: timestamp('Time at which the policy took effect.'),
  file_refused: optional(text('Why the policy file was rejected and is not in effect; absent if it is in effect.')),
});
export type Policy = Static<typeof Policy>;

/** Body of a change that replaces all rules. */
export const PolicyInput = shape('PolicyInput', { rules });
export type PolicyInput = Static<typeof PolicyInput>;

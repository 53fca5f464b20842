import { roles } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { list, optional, ordinal, part, shape, text, timestamp } from './fields.ts';
import { role } from './principal.ts';

export const AccessRule = part(
  {
    operation: text('Operation id of the OpenAPI document.', { minLength: 1, maxLength: 100 }),
    access: oneOf(['public', 'roles'], { description: 'Whether credentials are needed.' }),
    roles: list(role, 'Who may, where credentials are needed; empty where access is public.', {
      maxItems: roles.length,
      uniqueItems: true,
    }),
  },
  'Who may do one operation.',
);
export type AccessRule = Static<typeof AccessRule>;

const rules = list(
  AccessRule,
  'The rules, at most one for an operation. What has none is denied to everybody.',
  {
    maxItems: 500,
  },
);

export const Policy = shape('Policy', {
  version: ordinal('Grows with every change; for If-Match.'),
  rules,
  loaded_at: timestamp('When it took effect.'),
  file_refused: optional(
    text('Why the file of the policy is not in effect, until a good one is; absent where it is.'),
  ),
});
export type Policy = Static<typeof Policy>;

/** Replaces all rules. */
export const PolicyInput = shape('PolicyInput', { rules });
export type PolicyInput = Static<typeof PolicyInput>;

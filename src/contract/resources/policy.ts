import { oneOf, type Static } from './common.ts';
import { list, ordinal, part, shape, text, timestamp } from './fields.ts';
import { role } from './principal.ts';

export const Policy = shape('Policy', {
  version: ordinal('Grows with every reload that changed it; for If-Match.'),
  rules: list(
    part(
      {
        operation: text('Operation id of the OpenAPI document.'),
        access: oneOf(['public', 'roles'], { description: 'Whether credentials are needed.' }),
        roles: list(role, 'Who may, where credentials are needed.'),
      },
      'Who may do one operation.',
    ),
    'The rules.',
  ),
  loaded_at: timestamp('When it took effect.'),
});
export type Policy = Static<typeof Policy>;

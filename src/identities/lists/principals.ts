import { principalAttributes } from '../../contract/list-attributes.ts';
import { roles } from '../../contract/vocabulary.ts';
import { attributeList } from '../../database/lists/attributes.ts';
import { someOf } from '../../database/lists/filter.ts';
import type { ListSpec } from '../../database/lists/list.ts';
import type { Principal } from '../../store/store.ts';

export const principalList: ListSpec<Principal> = attributeList(principalAttributes, {
  type: 'principal',
  terms: {
    role: someOf(roles, (principal) => principal.roles),
    roles: someOf(roles, (principal) => principal.roles),
  },
  time: (principal) => principal.created_at,
  names: (principal) => [principal.name],
});

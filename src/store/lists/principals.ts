import { principalKinds, principalStatuses, roles } from '../../contract/vocabulary.ts';
import type { Principal } from '../store.ts';
import { oneOf, someOf, text } from './filter.ts';
import type { ListSpec } from './list.ts';
import { timeOrder } from './order.ts';

export const principalList: ListSpec<Principal> = {
  type: 'principal',
  terms: {
    name: text((principal) => principal.name),
    kind: oneOf(principalKinds, (principal) => principal.kind),
    role: someOf(roles, (principal) => principal.roles),
    roles: someOf(roles, (principal) => principal.roles),
    status: oneOf(principalStatuses, (principal) => principal.status),
  },
  sorts: {
    created_at: (principal) => timeOrder(principal.created_at),
    name: (principal) => principal.name,
    kind: (principal) => principal.kind,
    status: (principal) => principal.status,
    last_login_at: (principal) => timeOrder(principal.last_login_at),
  },
  time: (principal) => principal.created_at,
  names: (principal) => [principal.name],
};

import type { Key } from '../../contract/resources/key.ts';
import { keyPurposes, keyStates } from '../../contract/vocabulary.ts';
import { jsonPage } from '../json-page.ts';
import type { ListPage, ListQuery } from '../store.ts';
import { oneOf, text } from './filter.ts';
import { type ListSpec, pageOf } from './list.ts';
import { rank, timeOrder } from './order.ts';

export const keyList: ListSpec<Key> = {
  type: 'key',
  terms: {
    kid: text((key) => key.kid),
    purpose: oneOf(keyPurposes, (key) => key.purpose),
    state: oneOf(keyStates, (key) => key.state),
  },
  sorts: {
    created_at: (key) => timeOrder(key.created_at),
    activated_at: (key) => timeOrder(key.activated_at),
    retired_at: (key) => timeOrder(key.retired_at),
    purpose: (key) => key.purpose,
    state: (key) => rank(keyStates, key.state),
  },
  time: (key) => key.created_at,
  names: (key) => [key.kid, key.purpose, key.fingerprint],
};

/** Returns one page of the service's keys. There are about five hundred new ones per year. */
export function listKeys(keys: readonly Key[], query: ListQuery): ListPage {
  const byId = new Map(keys.map((key) => [key.kid, key]));
  const { shown, ...rest } = pageOf(
    keyList,
    keys.map((item) => ({ id: item.kid, item })),
    query,
  );
  const resources = shown.map(({ id }) => ({ id, type: keyList.type, attributes: byId.get(id)! }));
  return { json: jsonPage(resources, query), ...rest };
}

import { keyAttributes } from '../../contract/list-attributes.ts';
import type { Key } from '../../contract/resources/key.ts';
import { keyStates } from '../../contract/vocabulary.ts';
import { jsonPage } from '../../database/json-page.ts';
import { attributeList } from '../../database/lists/attributes.ts';
import { type ListSpec, pageOf } from '../../database/lists/list.ts';
import { rank } from '../../database/lists/order.ts';
import type { ListPage, ListQuery } from '../../store/store.ts';

export const keyList: ListSpec<Key> = attributeList(keyAttributes, {
  type: 'key',
  sorts: { state: (key) => rank(keyStates, key.state) },
  time: (key) => key.created_at,
  names: (key) => [key.kid, key.purpose, key.fingerprint],
});

/** Returns one page of the service's keys. About five hundred keys are created per year. */
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

import type { Silence } from '../../contract/resources/silence.ts';
import { canonicalUuid } from '../../uuid.ts';
import { jsonPage } from '../json-page.ts';
import { pageOf } from '../lists/list.ts';
import { silenceList } from '../lists/silences.ts';
import { silenceAt } from '../silence-row.ts';
import type { ListPage, ListQuery } from '../store.ts';
import type { Tables } from './tables.ts';

type SilenceTable = Pick<Tables, 'silences'>;

export function getSilence({ silences }: SilenceTable, id: string, nowMs: number): Silence | undefined {
  const key = canonicalUuid(id);
  const row = key === undefined ? undefined : silences.getStrict(key);
  return row && silenceAt(row, nowMs);
}

/** Returns one page of silences as of `nowMs`; there are few, and all are read. */
export function listSilences(
  { silences }: SilenceTable,
  query: ListQuery,
  nowMs: number,
  cancelled: () => boolean,
): ListPage {
  const found = new Map<string, Silence>();
  for (const { key, value } of silences.getRange()) found.set(key, silenceAt(value, nowMs));
  const rows = Array.from(found, ([id, item]) => ({ id, item }));
  const { shown, ...rest } = pageOf(silenceList, rows, query, cancelled);
  const resources = shown.map(({ id }) => ({ id, type: silenceList.type, attributes: found.get(id)! }));
  return { json: jsonPage(resources, query), ...rest };
}

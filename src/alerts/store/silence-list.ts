import type { Silence } from '../../contract/resources/silence.ts';
import { jsonPage } from '../../database/json-page.ts';
import { pageOf } from '../../database/lists/list.ts';
import type { ListPage, ListQuery } from '../../store/store.ts';
import { canonicalUuid } from '../../uuid.ts';
import { silenceList } from '../lists/silences.ts';
import { silenceAt } from '../silence-row.ts';
import type { AlertTables } from './tables.ts';

type SilenceTable = Pick<AlertTables, 'silences'>;

export function getSilence({ silences }: SilenceTable, id: string, nowMs: number): Silence | undefined {
  const key = canonicalUuid(id);
  const row = key === undefined ? undefined : silences.getStrict(key);
  return row && silenceAt(row, nowMs);
}

/** Returns one page of silences as of `nowMs`. All silences are read, because there are few. */
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

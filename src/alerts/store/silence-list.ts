import type { Silence } from '../../contract/resources/silence.ts';
import { jsonPage } from '../../database/json-page.ts';
import { pageOf } from '../../database/lists/list.ts';
import type { ListPage, ListQuery } from '../../store/store.ts';
import { canonicalUuid } from '../../uuid.ts';
import { silenceList } from '../lists/alerts.ts';
import type { AlertTables } from './tables.ts';

/** A stored silence, without its state, which depends on the time of the read. */
export type SilenceRow = Omit<Silence, 'state'>;

/** Returns the resource as of `nowMs`, epoch milliseconds. */
export function silenceAt(row: SilenceRow, nowMs: number): Silence {
  const { matcher, reason, owner, ...rest } = row;
  return { matcher, reason, owner, state: hasEnded(row, nowMs) ? 'expired' : 'active', ...rest };
}

export const hasEnded = ({ expires_at }: Pick<SilenceRow, 'expires_at'>, nowMs: number): boolean =>
  Date.parse(expires_at) <= nowMs;

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

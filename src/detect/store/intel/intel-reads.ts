import type { IntelIndicator, IntelList } from '../../../contract/resources/intel-list.ts';
import { jsonPage } from '../../../database/json-page.ts';
import { pageOf } from '../../../database/lists/list.ts';
import type { ListPage, ListQuery } from '../../../store/store.ts';
import { canonicalUuid } from '../../../uuid.ts';
import { IntelIndex } from '../../intel/intel-index.ts';
import { indicatorsOf, intelLists } from '../../lists.ts';
import type { DetectTables } from '../tables.ts';
import { endOfEndless, type IntelRow, intelIndicatorOf, intelListOf } from './intel-row.ts';
import { readIndex } from './intel-tables.ts';

/**
 * Returns a list with its hits.
 *
 * @param nowMs - epoch milliseconds
 */
export const intelOf = ({ intelHits }: DetectTables, id: string, row: IntelRow, nowMs: number): IntelList =>
  intelListOf(row, intelHits.get(id), nowMs);

export function getIntel(
  tables: DetectTables,
  text: string,
  nowMs: number,
): { readonly id: string; readonly list: IntelList } | undefined {
  const id = canonicalUuid(text);
  const row = id === undefined ? undefined : tables.intelLists.getStrict(id);
  return id === undefined || row === undefined ? undefined : { id, list: intelOf(tables, id, row, nowMs) };
}

/**
 * Returns one page of the lists.
 *
 * @param nowMs - epoch milliseconds
 */
export function listIntel(tables: DetectTables, query: ListQuery, nowMs: number, cancelled: () => boolean): ListPage {
  const lists = new Map(
    Array.from(tables.intelLists.getRange(), ({ key, value }) => [key, intelOf(tables, key, value, nowMs)]),
  );
  const rows = Array.from(lists, ([id, item]) => ({ id, item }));
  const { shown, ...rest } = pageOf(intelLists, rows, query, cancelled);
  const resources = shown.map(({ id }) => ({ id, type: 'intel_list', attributes: lists.get(id)! }));
  return { json: jsonPage(resources, query), ...rest };
}

/**
 * Returns one page of a list's indicators; undefined if there is no such list. Takes half a second for the
 * longest list.
 */
export function listIndicators(
  tables: DetectTables,
  listId: string,
  query: ListQuery,
  cancelled: () => boolean,
): ListPage | undefined {
  const id = canonicalUuid(listId);
  const row = id === undefined ? undefined : tables.intelLists.getStrict(id);
  if (id === undefined || row === undefined) {
    // A cursor of another list is rejected even if the list does not exist.
    pageOf(indicatorsOf(listId), [], query, cancelled);
    return undefined;
  }
  const index = new IntelIndex(readIndex(tables, id));
  const endless = endOfEndless(row);
  const indicator = (place: number) => intelIndicatorOf(index.at(place), endless);
  const { shown, ...rest } = pageOf(indicatorsOf(id), indicatorsIn(index.size, indicator), query, cancelled);
  const resources = shown.map((place) => {
    const attributes = indicator(Number(place.id));
    return { id: attributes.value, type: 'intel_indicator', attributes };
  });
  return { json: jsonPage(resources, query), ...rest };
}

/** Yields the indicators. Their ids are positions, padded to one length so that the ids sort as texts. */
function* indicatorsIn(size: number, indicator: (place: number) => IntelIndicator) {
  for (let place = 0; place < size; place++)
    yield { id: String(place).padStart(placeDigits, '0'), item: indicator(place) };
}

const placeDigits = 10;

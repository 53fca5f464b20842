import { parameterOf } from '../../contract/filter-term.ts';
import { jsonPage } from '../../database/json-page.ts';
import { pageOf, type Row } from '../../database/lists/list.ts';
import type { ListPage, ListQuery } from '../../store/store.ts';
import { canonicalUuid } from '../../uuid.ts';
import { serviceList } from '../lists.ts';
import { rangeOf } from './known-service.ts';
import { type ServiceRow, serviceOf } from './service-row.ts';
import type { InventoryTables } from './tables.ts';

/**
 * Returns one page of services. If the filter names assets, their services are read by key; otherwise all
 * services are read.
 *
 * @throws INVALID_REQUEST for unknown fields, values, and cursors of another list.
 */
export function listServices(tables: InventoryTables, query: ListQuery, cancelled: () => boolean): ListPage {
  const { shown, ...rest } = pageOf(serviceList, rows(tables, query), query, cancelled);
  const services = shown.map(({ id }) => ({
    id,
    type: serviceList.type,
    attributes: serviceOf(tables.services.get(id)!),
  }));
  return { json: jsonPage(services, query), ...rest };
}

function* rows(tables: InventoryTables, { terms }: ListQuery): Generator<Row<ServiceRow>> {
  const ofAssets = terms.find((term) => parameterOf(term) === 'asset_id');
  if (ofAssets === undefined) {
    for (const { key: id, value: item } of tables.services.getRange()) yield { id, item };
    return;
  }
  const assets = new Set(ofAssets.values.map(canonicalUuid).filter((id) => id !== undefined));
  for (const asset of assets)
    for (const { value: id } of tables.serviceKeys.getRange(rangeOf(asset))) {
      const item = tables.services.get(id);
      if (item !== undefined) yield { id, item };
    }
}

import { serviceSources, serviceStates } from '../../contract/vocabulary.ts';
import { address, number, oneOf, since, text } from '../../database/lists/filter.ts';
import type { ListSpec } from '../../database/lists/list.ts';
import { addressOrder } from '../../database/lists/order.ts';
import { canonicalUuid } from '../../uuid.ts';
import { serviceName } from '../model/service-names.ts';
import { at, type ServiceRow, sourceOf, stateOf } from '../store/service-row.ts';

/** Definition of the list of services, which works on stored rows. `from` and `to` bound `last_seen`. */
export const serviceList: ListSpec<ServiceRow> = {
  type: 'service',
  terms: {
    asset_id: (field, values) =>
      text<ServiceRow>((row) => row[at.assetId])(
        field,
        values.map((id) => canonicalUuid(id) ?? id),
      ),
    ip: address((row) => row[at.ip]),
    port: number((row) => row[at.port]),
    transport: text((row) => row[at.transport]),
    name: (field, values) =>
      text<ServiceRow>((row) => row[at.name] ?? undefined)(
        field,
        values.map((name) => serviceName(String(name))),
      ),
    product: text((row) => row[at.product] ?? undefined),
    version: text((row) => row[at.version] ?? undefined),
    state: oneOf(serviceStates, stateOf),
    source: oneOf(serviceSources, sourceOf),
    connections: number((row) => row[at.connections]),
    clients: number((row) => row[at.clients]),
    first_seen_from: since((row) => row[at.firstSeen]),
  },
  sorts: {
    first_seen: (row) => row[at.firstSeen],
    last_seen: (row) => row[at.lastSeen],
    name: (row) => row[at.name] ?? undefined,
    product: (row) => row[at.product] ?? undefined,
    version: (row) => row[at.version] ?? undefined,
    transport: (row) => row[at.transport],
    port: (row) => row[at.port],
    ip: (row) => addressOrder(row[at.ip]),
    state: stateOf,
    source: sourceOf,
    connections: (row) => row[at.connections],
    clients: (row) => row[at.clients],
  },
  time: (row) => row[at.lastSeen],
  names: (row) => [row[at.name] ?? undefined, row[at.product] ?? undefined, row[at.version] ?? undefined, row[at.ip]],
};

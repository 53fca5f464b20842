import { listed, paginated, success } from '../envelopes.ts';
import { attributesTo, indicatorAttributes, intelAttributes } from '../list-attributes.ts';
import { filtersOf, listParameters } from '../parameters.ts';
import { parameters, text, uuid } from '../resources/fields.ts';
import { IntelIndicator, IntelList, IntelListInput, IntelListUpdateInput } from '../resources/intel-list.ts';
import { admins, ifMatch, json, list, none, type RoutesWithout, readers, sharing } from './route.ts';

const intelParams = parameters({ intel_id: uuid('Identifier of the list.') });

/** Parameters of lists. `from` and `to` select a range of `changed_at`. */
export const intelQuery = listParameters(
  attributesTo('sort', intelAttributes),
  filtersOf(IntelList, attributesTo('filter', intelAttributes)),
);
/** Parameters of indicators. `from` and `to` select a range of `valid_until`. */
export const indicatorQuery = listParameters(
  attributesTo('sort', indicatorAttributes),
  filtersOf(IntelIndicator, attributesTo('filter', indicatorAttributes)),
  'End of validity',
);

/** Threat intelligence lists of known-bad addresses and domains. */
export const intelRoutes = sharing({ tag: 'intel', access: readers, method: 'GET' }, {
  listIntel: {
    path: '/api/v1/intel',
    summary: 'List threat intelligence lists',
    query: intelQuery,
    responses: { 200: list(paginated('intel_list')) },
  },
  createIntel: {
    method: 'POST',
    path: '/api/v1/intel',
    summary: 'Create a threat intelligence list',
    access: admins,
    audited: true,
    body: { kind: 'json', schema: IntelListInput, resource: IntelList, large: true },
    responses: { 201: json(success('intel_list')) },
    errors: ['CONFLICT'],
  },
  getIntel: {
    path: '/api/v1/intel/:intel_id',
    summary: 'Get a threat intelligence list',
    params: intelParams,
    responses: { 200: json(success('intel_list')) },
    errors: ['NOT_FOUND'],
  },
  listIndicators: {
    path: '/api/v1/intel/:intel_id/indicators',
    summary: 'List the indicators of a threat intelligence list',
    params: intelParams,
    query: indicatorQuery,
    responses: { 200: list(listed('intel_indicator', text('Value of the indicator.'), IntelIndicator)) },
    errors: ['NOT_FOUND'],
  },
  updateIntel: {
    method: 'PUT',
    path: '/api/v1/intel/:intel_id',
    summary: 'Update a threat intelligence list; new content replaces all its indicators',
    access: admins,
    audited: true,
    params: intelParams,
    headers: ifMatch,
    body: { kind: 'json', schema: IntelListUpdateInput, resource: IntelList, large: true },
    responses: { 200: json(success('intel_list')) },
    errors: ['NOT_FOUND', 'CONFLICT', 'VERSION_MISMATCH'],
  },
  deleteIntel: {
    method: 'DELETE',
    path: '/api/v1/intel/:intel_id',
    summary: 'Delete a threat intelligence list',
    access: admins,
    audited: true,
    params: intelParams,
    headers: ifMatch,
    responses: { 204: none },
    errors: ['NOT_FOUND', 'VERSION_MISMATCH'],
  },
} as const satisfies RoutesWithout<'tag' | 'access' | 'method'>);

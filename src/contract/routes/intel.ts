import { listed } from '../envelopes.ts';
import { attributesTo, indicatorAttributes, intelAttributes } from '../list-attributes.ts';
import { filtersOf, listParameters } from '../parameters.ts';
import { text } from '../resources/fields.ts';
import { IntelIndicator, IntelList, IntelListInput, IntelListUpdateInput } from '../resources/intel-list.ts';
import { admins, created, del, get, ifMatch, list, none, one, page, post, put, readers, sharing } from './route.ts';

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
export const intelRoutes = sharing({ tag: 'intel', access: readers })({
  listIntel: get('/api/v1/intel', 'List threat intelligence lists', {
    query: intelQuery,
    responses: page('intel_list'),
  }),
  createIntel: post('/api/v1/intel', 'Create a threat intelligence list', {
    access: admins,
    audited: true,
    body: { kind: 'json', schema: IntelListInput, resource: IntelList, large: true },
    responses: created('intel_list'),
    errors: ['CONFLICT'],
  }),
  getIntel: get('/api/v1/intel/:intel_id', 'Get a threat intelligence list', { responses: one('intel_list') }),
  listIndicators: get('/api/v1/intel/:intel_id/indicators', 'List the indicators of a threat intelligence list', {
    query: indicatorQuery,
    responses: { 200: list(listed('intel_indicator', text('Value of the indicator.'), IntelIndicator)) },
  }),
  updateIntel: put(
    '/api/v1/intel/:intel_id',
    'Update a threat intelligence list; new content replaces all its indicators',
    {
      access: admins,
      audited: true,
      headers: ifMatch,
      body: { kind: 'json', schema: IntelListUpdateInput, resource: IntelList, large: true },
      responses: one('intel_list'),
      errors: ['CONFLICT'],
    },
  ),
  deleteIntel: del('/api/v1/intel/:intel_id', 'Delete a threat intelligence list', {
    access: admins,
    audited: true,
    headers: ifMatch,
    responses: { 204: none },
  }),
});

import { Type } from 'typebox';
import { listed, paginated, success } from '../envelopes.ts';
import { listParameters, many, word } from '../parameters.ts';
import { oneOf } from '../resources/common.ts';
import { flag, text, uuid } from '../resources/fields.ts';
import { IntelIndicator, IntelList, IntelListInput, IntelListUpdateInput } from '../resources/intel-list.ts';
import { indicatorKinds, intelFormats, severities } from '../vocabulary.ts';
import { admins, closed, ifMatch, json, list, none, type Route, readers } from './route.ts';

const intelParams = Type.Object({ intel_id: uuid('Identifier of the list.') }, closed);

/** `from` and `to` bound `changed_at`. */
export const intelFilters = {
  enabled: many(flag('Whether the list is enabled.')),
  severity: many(oneOf(severities, { description: 'Severity of the findings of the list.' })),
  format: many(oneOf(intelFormats, { description: 'Format of the list: plain lines or STIX.' })),
  name: many(word('Exact name of the list.')),
};
const intelQuery = listParameters(['changed_at', 'name', 'severity', 'indicators', 'hits'], intelFilters);

/** `from` and `to` bound `valid_until`. */
export const indicatorFilters = {
  kind: many(oneOf(indicatorKinds, { description: 'Kind of indicator: address or domain.' })),
};
const indicatorQuery = listParameters(['value', 'valid_until'], indicatorFilters, 'End of validity');

/** Threat intelligence lists of known-bad addresses and domains. */
export const intelRoutes = {
  listIntel: {
    method: 'GET',
    path: '/api/v1/intel',
    summary: 'List threat intelligence lists',
    tag: 'intel',
    access: readers,
    query: intelQuery,
    responses: { 200: list(paginated('intel_list')) },
  },
  createIntel: {
    method: 'POST',
    path: '/api/v1/intel',
    summary: 'Create a threat intelligence list',
    tag: 'intel',
    access: admins,
    audited: true,
    body: { kind: 'json', schema: IntelListInput, resource: IntelList, large: true },
    responses: { 201: json(success('intel_list')) },
    errors: ['CONFLICT'],
  },
  getIntel: {
    method: 'GET',
    path: '/api/v1/intel/:intel_id',
    summary: 'Get a threat intelligence list',
    tag: 'intel',
    access: readers,
    params: intelParams,
    responses: { 200: json(success('intel_list')) },
    errors: ['NOT_FOUND'],
  },
  listIndicators: {
    method: 'GET',
    path: '/api/v1/intel/:intel_id/indicators',
    summary: 'List the indicators of a threat intelligence list',
    tag: 'intel',
    access: readers,
    params: intelParams,
    query: indicatorQuery,
    responses: { 200: list(listed('intel_indicator', text('Value of the indicator.'), IntelIndicator)) },
    errors: ['NOT_FOUND'],
  },
  updateIntel: {
    method: 'PUT',
    path: '/api/v1/intel/:intel_id',
    summary: 'Update a threat intelligence list; new content replaces all its indicators',
    tag: 'intel',
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
    tag: 'intel',
    access: admins,
    audited: true,
    params: intelParams,
    headers: ifMatch,
    responses: { 204: none },
    errors: ['NOT_FOUND', 'VERSION_MISMATCH'],
  },
} as const satisfies Record<string, Route>;

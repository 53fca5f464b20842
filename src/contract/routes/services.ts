import { Type } from 'typebox';
import { paginated, success } from '../envelopes.ts';
import { assetServiceQuery, serviceQuery } from '../parameters.ts';
import { uuid } from '../resources/fields.ts';
import { closed, json, list, type Route, readers } from './route.ts';

const serviceParams = Type.Object({ service_id: uuid('Identifier of the service.') }, closed);
const assetParams = Type.Object({ asset_id: uuid('Identifier of the asset.') }, closed);

/** Network services of assets. */
export const servicesRoutes = {
  listServices: {
    method: 'GET',
    path: '/api/v1/services',
    summary: 'List services',
    tag: 'services',
    access: readers,
    query: serviceQuery,
    responses: { 200: list(paginated('service')) },
  },
  getService: {
    method: 'GET',
    path: '/api/v1/services/:service_id',
    summary: 'Get a service',
    tag: 'services',
    access: readers,
    params: serviceParams,
    responses: { 200: json(success('service')) },
    errors: ['NOT_FOUND'],
  },
  listAssetServices: {
    method: 'GET',
    path: '/api/v1/services/asset/:asset_id',
    summary: 'List the services of an asset',
    tag: 'services',
    access: readers,
    params: assetParams,
    query: assetServiceQuery,
    responses: { 200: list(paginated('service')) },
    errors: ['NOT_FOUND'],
  },
} as const satisfies Record<string, Route>;

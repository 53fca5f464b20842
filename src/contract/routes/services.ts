import { paginated, success } from '../envelopes.ts';
import { assetServiceQuery, serviceQuery } from '../parameters.ts';
import { parameters, uuid } from '../resources/fields.ts';
import { json, list, type RoutesWithout, readers, sharing } from './route.ts';

const serviceParams = parameters({ service_id: uuid('Identifier of the service.') });
const assetParams = parameters({ asset_id: uuid('Identifier of the asset.') });

/** Network services of assets. */
export const servicesRoutes = sharing({ tag: 'services', access: readers, method: 'GET' }, {
  listServices: {
    path: '/api/v1/services',
    summary: 'List services',
    query: serviceQuery,
    responses: { 200: list(paginated('service')) },
  },
  getService: {
    path: '/api/v1/services/:service_id',
    summary: 'Get a service',
    params: serviceParams,
    responses: { 200: json(success('service')) },
    errors: ['NOT_FOUND'],
  },
  listAssetServices: {
    path: '/api/v1/services/asset/:asset_id',
    summary: 'List the services of an asset',
    params: assetParams,
    query: assetServiceQuery,
    responses: { 200: list(paginated('service')) },
    errors: ['NOT_FOUND'],
  },
} as const satisfies RoutesWithout<'tag' | 'access' | 'method'>);

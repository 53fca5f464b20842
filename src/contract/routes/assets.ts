import { paginated, success } from '../envelopes.ts';
import { assetHistoryQuery, assetQuery, assetServiceQuery, serviceQuery, windowQuery } from '../parameters.ts';
import { Asset, AssetInput, AssetMergeInput, AssetSplitInput, AssetUpdateInput } from '../resources/asset.ts';
import { parameters, uuid } from '../resources/fields.ts';
import { analysts, ifMatch, json, list, none, type RoutesWithout, readers, sharing } from './route.ts';

const assetParams = parameters({ asset_id: uuid('Identifier of the asset.') });

/** Hosts of the home networks, with what users recorded about them. */
export const assetsRoutes = sharing({ tag: 'assets', access: analysts, method: 'GET' }, {
  listAssets: {
    path: '/api/v1/assets',
    summary: 'List assets',
    access: readers,
    query: assetQuery,
    responses: { 200: list(paginated('asset')) },
  },
  createAsset: {
    method: 'POST',
    path: '/api/v1/assets',
    summary: 'Create an asset',
    audited: true,
    body: { kind: 'json', schema: AssetInput, resource: Asset },
    responses: { 201: json(success('asset')) },
    errors: ['CONFLICT'],
  },
  getAsset: {
    path: '/api/v1/assets/:asset_id',
    summary: 'Get an asset',
    access: readers,
    params: assetParams,
    responses: { 200: json(success('asset')) },
    errors: ['NOT_FOUND'],
  },
  updateAsset: {
    method: 'PUT',
    path: '/api/v1/assets/:asset_id',
    summary: 'Update an asset',
    audited: true,
    params: assetParams,
    headers: ifMatch,
    body: { kind: 'json', schema: AssetUpdateInput, resource: Asset },
    responses: { 200: json(success('asset')) },
    errors: ['NOT_FOUND', 'CONFLICT', 'INVALID_TRANSITION', 'VERSION_MISMATCH'],
  },
  deleteAsset: {
    method: 'DELETE',
    path: '/api/v1/assets/:asset_id',
    summary: 'Delete an asset; if the host is seen again, it becomes a new asset',
    audited: 'each',
    params: assetParams,
    headers: ifMatch,
    responses: { 204: none },
    errors: ['NOT_FOUND', 'VERSION_MISMATCH'],
  },
  mergeAsset: {
    method: 'POST',
    path: '/api/v1/assets/:asset_id/merge',
    summary: 'Merge an asset into another asset and return the other asset',
    audited: true,
    params: assetParams,
    headers: ifMatch,
    body: { kind: 'json', schema: AssetMergeInput },
    responses: { 200: json(success('asset')) },
    errors: ['NOT_FOUND', 'CONFLICT', 'VERSION_MISMATCH'],
  },
  splitAsset: {
    method: 'POST',
    path: '/api/v1/assets/:asset_id/split',
    summary: 'Split some identifiers of an asset into a new asset and return the new asset',
    audited: true,
    params: assetParams,
    headers: ifMatch,
    body: { kind: 'json', schema: AssetSplitInput },
    responses: { 201: json(success('asset')) },
    errors: ['NOT_FOUND', 'CONFLICT', 'VERSION_MISMATCH'],
  },
  listAssetHistory: {
    path: '/api/v1/assets/:asset_id/history',
    summary: 'List the history of an asset, newest first',
    access: readers,
    params: assetParams,
    query: assetHistoryQuery,
    responses: { 200: list(paginated('asset_history')) },
    errors: ['NOT_FOUND'],
  },
  getAssetRiskHistory: {
    path: '/api/v1/assets/:asset_id/risk',
    summary: 'Get the risk history of an asset',
    access: readers,
    params: assetParams,
    query: windowQuery,
    responses: { 200: json(success('risk_history')) },
    errors: ['NOT_FOUND'],
  },
} as const satisfies RoutesWithout<'tag' | 'access' | 'method'>);

const serviceParams = parameters({ service_id: uuid('Identifier of the service.') });

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

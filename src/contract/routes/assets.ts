import { assetHistoryQuery, assetQuery, assetServiceQuery, serviceQuery, windowQuery } from '../parameters.ts';
import { Asset, AssetInput, AssetMergeInput, AssetSplitInput, AssetUpdateInput } from '../resources/asset.ts';
import { analysts, created, del, get, ifMatch, none, one, page, post, put, readers, sharing } from './route.ts';

/** Hosts of the home networks, with what users recorded about them. */
export const assetsRoutes = sharing({ tag: 'assets', access: analysts })({
  listAssets: get('/api/v1/assets', 'List assets', { access: readers, query: assetQuery, responses: page('asset') }),
  createAsset: post('/api/v1/assets', 'Create an asset', {
    audited: true,
    body: { kind: 'json', schema: AssetInput, resource: Asset },
    responses: created('asset'),
    errors: ['CONFLICT'],
  }),
  getAsset: get('/api/v1/assets/:asset_id', 'Get an asset', { access: readers, responses: one('asset') }),
  updateAsset: put('/api/v1/assets/:asset_id', 'Update an asset', {
    audited: true,
    headers: ifMatch,
    body: { kind: 'json', schema: AssetUpdateInput, resource: Asset },
    responses: one('asset'),
    errors: ['CONFLICT', 'INVALID_TRANSITION'],
  }),
  deleteAsset: del('/api/v1/assets/:asset_id', 'Delete an asset; if the host is seen again, it becomes a new asset', {
    audited: 'each',
    headers: ifMatch,
    responses: { 204: none },
  }),
  mergeAsset: post('/api/v1/assets/:asset_id/merge', 'Merge an asset into another asset and return the other asset', {
    audited: true,
    headers: ifMatch,
    body: { kind: 'json', schema: AssetMergeInput },
    responses: one('asset'),
    errors: ['CONFLICT'],
  }),
  splitAsset: post(
    '/api/v1/assets/:asset_id/split',
    'Split some identifiers of an asset into a new asset and return the new asset',
    {
      audited: true,
      headers: ifMatch,
      body: { kind: 'json', schema: AssetSplitInput },
      responses: created('asset'),
      errors: ['CONFLICT'],
    },
  ),
  listAssetHistory: get('/api/v1/assets/:asset_id/history', 'List the history of an asset, newest first', {
    access: readers,
    query: assetHistoryQuery,
    responses: page('asset_history'),
  }),
  getAssetRiskHistory: get('/api/v1/assets/:asset_id/risk', 'Get the risk history of an asset', {
    access: readers,
    query: windowQuery,
    responses: one('risk_history'),
  }),
});

/** Network services of assets. */
export const servicesRoutes = sharing({ tag: 'services', access: readers })({
  listServices: get('/api/v1/services', 'List services', { query: serviceQuery, responses: page('service') }),
  getService: get('/api/v1/services/:service_id', 'Get a service', { responses: one('service') }),
  listAssetServices: get('/api/v1/services/asset/:asset_id', 'List the services of an asset', {
    query: assetServiceQuery,
    responses: page('service'),
  }),
});

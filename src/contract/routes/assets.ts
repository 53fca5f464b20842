import { Type } from 'typebox';
import { paginated, success } from '../envelopes.ts';
import { assetHistoryQuery, assetQuery } from '../parameters.ts';
import { Asset, AssetInput, AssetMergeInput, AssetSplitInput, AssetUpdateInput } from '../resources/asset.ts';
import { uuid } from '../resources/fields.ts';
import { analysts, closed, ifMatch, json, list, none, type Route, readers } from './route.ts';

const assetParams = Type.Object({ asset_id: uuid('Identifier of the asset.') }, closed);

/** Hosts of the home networks, and what people know of them. */
export const assetsRoutes = {
  listAssets: {
    method: 'GET',
    path: '/api/v1/assets',
    summary: 'List assets',
    tag: 'assets',
    access: readers,
    query: assetQuery,
    responses: { 200: list(paginated('asset')) },
  },
  createAsset: {
    method: 'POST',
    path: '/api/v1/assets',
    summary: 'Create an asset by hand',
    tag: 'assets',
    access: analysts,
    audited: true,
    body: { kind: 'json', schema: AssetInput, resource: Asset },
    responses: { 201: json(success('asset')) },
    errors: ['CONFLICT'],
  },
  getAsset: {
    method: 'GET',
    path: '/api/v1/assets/:asset_id',
    summary: 'Get one asset',
    tag: 'assets',
    access: readers,
    params: assetParams,
    responses: { 200: json(success('asset')) },
    errors: ['NOT_FOUND'],
  },
  updateAsset: {
    method: 'PUT',
    path: '/api/v1/assets/:asset_id',
    summary: 'Update an asset',
    tag: 'assets',
    access: analysts,
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
    summary: 'Delete an asset; what the network shows of it later is a new one',
    tag: 'assets',
    access: analysts,
    audited: 'each',
    params: assetParams,
    headers: ifMatch,
    responses: { 204: none },
    errors: ['NOT_FOUND', 'VERSION_MISMATCH'],
  },
  mergeAsset: {
    method: 'POST',
    path: '/api/v1/assets/:asset_id/merge',
    summary: 'Merge an asset into another one, which is the answer',
    tag: 'assets',
    access: analysts,
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
    summary: 'Give some identifiers of an asset to a new one, which is the answer',
    tag: 'assets',
    access: analysts,
    audited: true,
    params: assetParams,
    headers: ifMatch,
    body: { kind: 'json', schema: AssetSplitInput },
    responses: { 201: json(success('asset')) },
    errors: ['NOT_FOUND', 'CONFLICT', 'VERSION_MISMATCH'],
  },
  listAssetHistory: {
    method: 'GET',
    path: '/api/v1/assets/:asset_id/history',
    summary: 'What happened to an asset and who did it, newest first',
    tag: 'assets',
    access: readers,
    params: assetParams,
    query: assetHistoryQuery,
    responses: { 200: list(paginated('asset_history')) },
    errors: ['NOT_FOUND'],
  },
} as const satisfies Record<string, Route>;

import type { Asset } from '../../contract/resources/asset.ts';
import type { assetsRoutes, servicesRoutes } from '../../contract/routes/assets.ts';
import { defaultWindow } from '../../contract/vocabulary.ts';
import { noAsset } from '../../events/no-asset.ts';
import { canonicalAsset, canonicalIdentifiers, requireIdentity } from '../../inventory/asset-input.ts';
import type { AssetChanged } from '../../store/store.ts';
import type { Handlers } from '../context.ts';
import { listOfOwner, pooledList } from '../list-reply.ts';
import { found } from '../preconditions.ts';
import { created, noContent, type Reply, resource } from '../reply.ts';
import { queriesOf } from '../run-options.ts';
import type { Services } from '../services.ts';

export const servicesHandlers = {
  listServices: (context) => pooledList(context, 'listServices'),

  getService({ services, params }) {
    const service = found('service', params.service_id, services.reader.getService(params.service_id));
    return resource('service', params.service_id, service);
  },

  listAssetServices(context) {
    const { services, params } = context;
    const ofAsset = { field: 'asset_id', values: [params.asset_id] };
    return listOfOwner(
      context,
      (query, options) => services.queries.run('listServices', { ...query, terms: [...query.terms, ofAsset] }, options),
      () => readAsset(params.asset_id, services),
    );
  },
} satisfies Handlers<typeof servicesRoutes>;

export const assetsHandlers = {
  listAssets: (context) => pooledList(context, 'listAssets'),

  async createAsset({ services, body, identity }) {
    requireIdentity(body);
    return createdAsset(await services.store.createAsset(canonicalAsset(body), identity.principal));
  },

  getAsset: ({ services, params }) => resource('asset', params.asset_id, readAsset(params.asset_id, services)),

  async updateAsset({ services, params, version, body, identity }) {
    const change = canonicalAsset(body);
    return assetReply(await services.store.changeAsset(params.asset_id, change, identity.principal, version));
  },

  async deleteAsset({ services, params, version }) {
    await services.store.removeAsset(params.asset_id, version);
    return noContent;
  },

  async mergeAsset({ services, params, version, body, identity }) {
    const { store } = services;
    return assetReply(await store.mergeAssets(params.asset_id, body.into, identity.principal, version));
  },

  async splitAsset({ services, params, version, body, identity }) {
    const identifiers = canonicalIdentifiers(body.identifiers);
    const { store } = services;
    return createdAsset(await store.splitAsset(params.asset_id, identifiers, identity.principal, version));
  },

  listAssetHistory(context) {
    const { services, params } = context;
    return listOfOwner(
      context,
      (query, options) => services.queries.run('listAssetHistory', { assetId: params.asset_id, query }, options),
      () => readAsset(params.asset_id, services),
    );
  },

  async getAssetRiskHistory(context) {
    const { services, params, query } = context;
    const { window = defaultWindow } = query;
    const asked = { assetId: params.asset_id, window, now: Date.now() };
    const history = await queriesOf(context).run('riskHistory', asked);
    readAsset(params.asset_id, services);
    return resource('risk_history', params.asset_id, history!);
  },
} satisfies Handlers<typeof assetsRoutes>;

/**
 * Returns the asset. Throws NOT_FOUND; if the asset was merged, the error names the asset into which it was
 * merged.
 */
function readAsset(id: string, { reader }: Pick<Services, 'reader'>): Asset {
  const asset = reader.getAsset(id);
  if (asset !== undefined) return asset;
  throw noAsset(id, reader.mergedInto(id));
}

function assetReply({ asset: { id, ...attributes } }: AssetChanged): Reply {
  return resource('asset', id, attributes);
}

function createdAsset({ asset: { id, ...attributes } }: AssetChanged): Reply {
  return created('asset', id, attributes, `/api/v1/assets/${id}`);
}

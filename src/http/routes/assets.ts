import type { Asset } from '../../contract/resources/asset.ts';
import type { assetsRoutes, servicesRoutes } from '../../contract/routes/assets.ts';
import { defaultWindow } from '../../contract/vocabulary.ts';
import { ServiceError } from '../../errors.ts';
import { noAsset } from '../../events/no-asset.ts';
import { canonicalAsset, canonicalIdentifiers, requireIdentity } from '../../inventory/asset-input.ts';
import type { AssetChanged } from '../../store/store.ts';
import type { Handlers } from '../context.ts';
import { listReply, pooledList } from '../list-reply.ts';
import { ifMatchVersion } from '../preconditions.ts';
import { created, noContent, type Reply, resource } from '../reply.ts';
import { queriesOf } from '../run-options.ts';
import type { Services } from '../services.ts';

export const servicesHandlers = {
  listServices: (context) => pooledList(context, 'listServices'),

  getService({ services, params }) {
    const service = services.reader.getService(params.service_id);
    if (service === undefined) throw new ServiceError('NOT_FOUND', `there is no service ${params.service_id}`);
    return resource('service', params.service_id, service);
  },

  listAssetServices(context) {
    const { services, params } = context;
    const ofAsset = { field: 'asset_id', values: [params.asset_id] };
    return listReply(context, async (query, options) => {
      const wanted = { ...query, terms: [...query.terms, ofAsset] };
      // The page is read first, so that a cursor of another list is refused even for unknown assets.
      const page = await services.queries.run('listServices', wanted, options);
      readAsset(params.asset_id, services);
      return page;
    });
  },
} satisfies Handlers<typeof servicesRoutes>;

export const assetsHandlers = {
  listAssets: (context) => pooledList(context, 'listAssets'),

  async createAsset({ services, body, identity }) {
    requireIdentity(body);
    return createdAsset(await services.store.createAsset(canonicalAsset(body), identity.principal));
  },

  getAsset: ({ services, params }) => resource('asset', params.asset_id, readAsset(params.asset_id, services)),

  async updateAsset({ services, params, headers, body, identity }) {
    const version = ifMatchVersion(headers['if-match']);
    const change = canonicalAsset(body);
    return assetReply(await services.store.changeAsset(params.asset_id, change, identity.principal, version));
  },

  async deleteAsset({ services, params, headers }) {
    const version = ifMatchVersion(headers['if-match']);
    await services.store.removeAsset(params.asset_id, version);
    return noContent;
  },

  async mergeAsset({ services, params, headers, body, identity }) {
    const version = ifMatchVersion(headers['if-match']);
    const { store } = services;
    return assetReply(await store.mergeAssets(params.asset_id, body.into, identity.principal, version));
  },

  async splitAsset({ services, params, headers, body, identity }) {
    const version = ifMatchVersion(headers['if-match']);
    const identifiers = canonicalIdentifiers(body.identifiers);
    const { store } = services;
    return createdAsset(await store.splitAsset(params.asset_id, identifiers, identity.principal, version));
  },

  listAssetHistory(context) {
    const { services, params } = context;
    return listReply(context, async (query, options) => {
      // The page is read first, so that a cursor of another list is refused even for unknown assets.
      const page = await services.queries.run('listAssetHistory', { assetId: params.asset_id, query }, options);
      readAsset(params.asset_id, services);
      return page;
    });
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

import type { assetsRoutes } from '../../contract/routes/assets.ts';
import { defaultWindow } from '../../contract/vocabulary.ts';
import { canonicalAsset, canonicalIdentifiers, requireIdentity } from '../../inventory/asset-input.ts';
import { assetReply, createdAsset, readAsset } from '../asset-reads.ts';
import type { Handlers } from '../context.ts';
import { ifMatchVersion } from '../if-match.ts';
import { listReply, pooledList } from '../list-reply.ts';
import { noContent, resource } from '../reply.ts';
import { queriesOf } from '../run-options.ts';

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

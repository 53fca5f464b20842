import { readAsset } from '../asset-reads.ts';
import type { Handler } from '../context.ts';
import { listReply } from '../list-reply.ts';

export const listAssetHistory: Handler<'listAssetHistory'> = (context) => {
  const { services, params } = context;
  return listReply(context, async (query, options) => {
    // First, because it refuses a cursor of another list, whatever the asset.
    const page = await services.queries.run('listAssetHistory', { assetId: params.asset_id, query }, options);
    readAsset(params.asset_id, services);
    return page;
  });
};

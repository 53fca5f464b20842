import { readAsset } from '../asset-reads.ts';
import type { Handler } from '../context.ts';
import { listReply } from '../list-reply.ts';

export const listAssetServices: Handler<'listAssetServices'> = (context) => {
  const { services, params } = context;
  const ofAsset = { field: 'asset_id', values: [params.asset_id] };
  return listReply(context, async (query, options) => {
    const wanted = { ...query, terms: [...query.terms, ofAsset] };
    // First, because it refuses a cursor of another list, whatever the asset.
    const page = await services.queries.run('listServices', wanted, options);
    readAsset(params.asset_id, services);
    return page;
  });
};

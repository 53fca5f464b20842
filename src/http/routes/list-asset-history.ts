import { readAsset } from '../asset-reads.ts';
import type { Handler } from '../context.ts';
import { listReply } from '../list-reply.ts';

export const listAssetHistory: Handler<'listAssetHistory'> = async (context) => {
  const { services, params } = context;
  // First, because it refuses a cursor of another list, whatever the asset.
  const reply = await listReply(context, (query, signal) =>
    services.queries.run('listAssetHistory', { assetId: params.asset_id, query }, { signal }),
  );
  readAsset(params.asset_id, services);
  return reply;
};

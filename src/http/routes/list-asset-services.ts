import { readAsset } from '../asset-reads.ts';
import type { Handler } from '../context.ts';
import { listReply } from '../list-reply.ts';

export const listAssetServices: Handler<'listAssetServices'> = async (context) => {
  const { services, params } = context;
  const ofAsset = { field: 'asset_id', values: [params.asset_id] };
  // First, because it refuses a cursor of another list, whatever the asset.
  const reply = await listReply(context, (query, signal) =>
    services.queries.run('listServices', { ...query, terms: [...query.terms, ofAsset] }, { signal }),
  );
  readAsset(params.asset_id, services);
  return reply;
};

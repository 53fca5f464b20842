import { assetReply } from '../asset-reads.ts';
import type { Handler } from '../context.ts';

export const mergeAsset: Handler<'mergeAsset'> = async ({ services, params, body, identity }) =>
  assetReply(await services.store.mergeAssets(params.asset_id, body.into, identity.principal));

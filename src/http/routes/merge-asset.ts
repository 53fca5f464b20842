import { assetReply } from '../asset-reads.ts';
import type { Handler } from '../context.ts';
import { ifMatchVersion } from '../if-match.ts';

export const mergeAsset: Handler<'mergeAsset'> = async ({ services, params, headers, body, identity }) => {
  const version = ifMatchVersion(headers['if-match']);
  const { store } = services;
  return assetReply(await store.mergeAssets(params.asset_id, body.into, identity.principal, version));
};

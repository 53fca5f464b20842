import { canonicalAsset } from '../asset-input.ts';
import { assetReply } from '../asset-reads.ts';
import type { Handler } from '../context.ts';
import { ifMatchVersion } from '../if-match.ts';

export const updateAsset: Handler<'updateAsset'> = async ({ services, params, headers, body, identity }) => {
  const version = ifMatchVersion(headers['if-match']);
  const change = canonicalAsset(body);
  return assetReply(await services.store.changeAsset(params.asset_id, change, identity.principal, version));
};

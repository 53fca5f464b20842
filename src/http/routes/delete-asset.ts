import type { Handler } from '../context.ts';
import { ifMatchVersion } from '../if-match.ts';
import { noContent } from '../reply.ts';

export const deleteAsset: Handler<'deleteAsset'> = async ({ services, params, headers }) => {
  const version = ifMatchVersion(headers['if-match']);
  await services.store.removeAsset(params.asset_id, version);
  return noContent;
};

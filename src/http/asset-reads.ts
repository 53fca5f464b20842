import type { Asset } from '../contract/resources/asset.ts';
import { noAsset } from '../events/no-asset.ts';
import type { AssetChanged } from '../store/store.ts';
import { created, type Reply, resource } from './reply.ts';
import type { Services } from './services.ts';

/**
 * Returns the asset. Throws NOT_FOUND; if the asset was merged, the error names the asset into which it was
 * merged.
 */
export function readAsset(id: string, { reader }: Pick<Services, 'reader'>): Asset {
  const asset = reader.getAsset(id);
  if (asset !== undefined) return asset;
  throw noAsset(id, reader.mergedInto(id));
}

export function assetReply({ asset: { id, ...attributes } }: AssetChanged): Reply {
  return resource('asset', id, attributes);
}

export function createdAsset({ asset: { id, ...attributes } }: AssetChanged): Reply {
  return created('asset', id, attributes, `/api/v1/assets/${id}`);
}

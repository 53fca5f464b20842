import type { Asset } from '../contract/resources/asset.ts';
import { noAsset } from '../events/no-asset.ts';
import type { AssetChanged } from '../store/store.ts';
import { created, type Reply, resource } from './reply.ts';
import type { Services } from './services.ts';

/** The asset, or NOT_FOUND, which names the one that it was merged into. */
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

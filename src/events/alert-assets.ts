import type { Alert } from '../contract/resources/alert.ts';
import type { AssetLookup } from './asset-lookup.ts';

/**
 * Returns the alert with the assets that had its addresses when it was last seen, the source's assets first.
 */
export function withAssets<A extends Alert>(alert: A, assets: AssetLookup): A {
  const time = Date.parse(alert.last_seen);
  const owner = (ip: string | undefined) => (ip === undefined ? undefined : assets.at(ip, time));
  const src = owner(alert.src_ip);
  const dst = owner(alert.dst_ip);
  const asset_ids = src === undefined ? [] : [src];
  if (dst !== undefined && dst !== src) asset_ids.push(dst);
  return { ...alert, asset_ids };
}

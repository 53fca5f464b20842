import { again } from '../../state/answers.ts';
import { putRows } from '../../state/cached-rows.ts';
import type { AssetRow } from './question.ts';

const calls = { list: 'listAssets', one: 'getAsset', parameter: 'asset_id' } as const;

/** Updates assets in cached responses in place. */
export const putAssets = (assets: ReadonlyMap<string, AssetRow>): void => putRows(calls, assets);

/** Refetches everything derived from assets, except the list, which does not change while the user reads it. */
export const assetsChanged = (): Promise<void> =>
  again(['listAssets', 'listAssetHistory', 'getRiskScore', 'getAssetRiskHistory'], { except: 'listAssets' });

/** Refetches assets, services and histories, including the list, after assets were created or removed. */
export const assetsMoved = (): Promise<void> =>
  again(['listAssets', 'getAsset', 'listAssetHistory', 'listAssetServices', 'listServices']);

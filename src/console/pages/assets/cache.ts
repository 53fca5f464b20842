import type { CallId } from '../../../client/client.ts';
import { answers } from '../../state/answers.ts';
import { newer } from '../../state/newer.ts';
import type { AssetRow } from './question.ts';

interface Page {
  readonly data: readonly AssetRow[];
}
type CachedResponse = { readonly pages: readonly Page[] } | Page | { readonly data: AssetRow } | undefined;

/** Updates assets in cached responses in place: lists keep their order and scroll position. */
export function putAssets(assets: ReadonlyMap<string, AssetRow>): void {
  const updated = (page: Page): Page => ({
    ...page,
    data: page.data.map((row) => newer(row, assets.get(row.id) ?? row)),
  });
  answers.setQueriesData<CachedResponse>({ predicate: ({ queryKey: [name] }) => name === 'listAssets' }, (cached) => {
    if (cached === undefined) return cached;
    if ('pages' in cached) return { ...cached, pages: cached.pages.map(updated) };
    return Array.isArray(cached.data) ? updated(cached as Page) : cached;
  });
  for (const [id, asset] of assets)
    answers.setQueriesData<CachedResponse>(
      {
        predicate: ({ queryKey: [name, input] }) =>
          name === 'getAsset' && (input as { params?: { asset_id?: string } }).params?.asset_id === id,
      },
      (cached) =>
        cached !== undefined && 'data' in cached ? { ...cached, data: newer(cached.data as AssetRow, asset) } : cached,
    );
}

/** Refetches everything derived from assets, except the list, which does not change while the user reads it. */
export async function assetsChanged(): Promise<void> {
  const about: readonly CallId[] = ['listAssets', 'listAssetHistory', 'getRiskScore', 'getAssetRiskHistory'];
  await answers.invalidateQueries({
    predicate: ({ queryKey: [name, , list] }) =>
      about.some((one) => one === name) && !(name === 'listAssets' && list === 'list'),
  });
}

/** Refetches assets, services and histories, including the list, after assets were created or removed. */
export async function assetsMoved(): Promise<void> {
  const about: readonly CallId[] = ['listAssets', 'getAsset', 'listAssetHistory', 'listAssetServices', 'listServices'];
  await answers.invalidateQueries({ predicate: ({ queryKey }) => about.some((one) => one === queryKey[0]) });
}

import type { CallId } from '../../../client/client.ts';
import { answers } from '../../state/answers.ts';
import { newer } from '../../state/newer.ts';
import type { AssetRow } from './question.ts';

interface Page {
  readonly data: readonly AssetRow[];
}
type Kept = { readonly pages: readonly Page[] } | Page | { readonly data: AssetRow } | undefined;

/** Puts assets as they are now in place of what they were: lists keep their order, and what is read stays where it is. */
export function putAssets(assets: ReadonlyMap<string, AssetRow>): void {
  const renewed = (page: Page): Page => ({
    ...page,
    data: page.data.map((row) => newer(row, assets.get(row.id) ?? row)),
  });
  answers.setQueriesData<Kept>({ predicate: ({ queryKey: [name] }) => name === 'listAssets' }, (kept) => {
    if (kept === undefined) return kept;
    if ('pages' in kept) return { ...kept, pages: kept.pages.map(renewed) };
    return Array.isArray(kept.data) ? renewed(kept as Page) : kept;
  });
  for (const [id, asset] of assets)
    answers.setQueriesData<Kept>(
      {
        predicate: ({ queryKey: [name, input] }) =>
          name === 'getAsset' && (input as { params?: { asset_id?: string } }).params?.asset_id === id,
      },
      (kept) =>
        kept !== undefined && 'data' in kept ? { ...kept, data: newer(kept.data as AssetRow, asset) } : kept,
    );
}

/** Asks again for what tells of assets, but for the list itself, which stays as it is read. */
export async function assetsChanged(): Promise<void> {
  const about: readonly CallId[] = ['listAssets', 'listAssetHistory', 'getRiskScore', 'getAssetRiskHistory'];
  await answers.invalidateQueries({
    predicate: ({ queryKey: [name, , list] }) =>
      about.some((one) => one === name) && !(name === 'listAssets' && list === 'list'),
  });
}

/** Asks for all of it again: assets came or went. */
export async function assetsMoved(): Promise<void> {
  const about: readonly CallId[] = [
    'listAssets',
    'getAsset',
    'listAssetHistory',
    'listAssetServices',
    'listServices',
  ];
  await answers.invalidateQueries({ predicate: ({ queryKey }) => about.some((one) => one === queryKey[0]) });
}

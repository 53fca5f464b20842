import type { ParsedFilter } from '../../contract/query.ts';
import type { AssetLookup } from '../../events/asset-lookup.ts';
import { rangesOf, type UpdateView } from './update.ts';

/**
 * Returns the part of the graph that a subscription to the channel sees. An asset in the filter means its
 * current addresses.
 */
export function viewOf({ terms }: ParsedFilter, assets: AssetLookup): UpdateView {
  const valuesOf = (field: string) => terms.find((term) => term.field === field)?.values.map(String);
  const networks = valuesOf('ip');
  const addresses = valuesOf('asset_id')?.flatMap((assetId) =>
    assets
      .ranges(assetId)
      .filter(({ to }) => to === Number.POSITIVE_INFINITY)
      .map(({ ip }) => ip),
  );
  const ends = [networks, addresses].filter((texts) => texts !== undefined);
  return {
    groupBy: valuesOf('group_by')?.[0] === 'subnet' ? 'subnet' : 'host',
    ends: ends.map(rangesOf),
  };
}

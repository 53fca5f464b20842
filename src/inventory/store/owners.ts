import type { Owner } from '../../events/asset-lookup.ts';
import type { Binding } from '../model/identity.ts';

/**
 * Returns the owners of an address from its bindings in order of time. Adjacent bindings of the same owner are
 * joined.
 */
export function ownersOf(bindings: readonly Pick<Binding, 'asset_id' | 'since' | 'until'>[]): Owner[] {
  const owners: Owner[] = [];
  for (const [i, { asset_id, since, until }] of bindings.entries()) {
    const next = bindings[i + 1]?.since ?? Number.POSITIVE_INFINITY;
    const to = Math.min(until ?? Number.POSITIVE_INFINITY, next);
    const before = owners.at(-1);
    if (before?.asset_id === asset_id && before.to === since) owners.splice(-1, 1, { ...before, to });
    else owners.push({ asset_id, from: i === 0 ? Number.NEGATIVE_INFINITY : since, to });
  }
  return owners;
}

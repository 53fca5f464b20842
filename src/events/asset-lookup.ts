/** Time range, half-open, in epoch milliseconds; −Infinity and Infinity for missing bounds. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A time span during which an asset had a given address. */
export interface Owner extends Span {
  readonly asset_id: string;
}

/** A time span during which a given asset had an address. */
export interface AddressSpan extends Span {
  readonly ip: string;
}

/**
 * Maps addresses to assets over time. Addresses are in the canonical form of `printAddress`. Events and alerts do not
 * store assets, so their assets stay correct after assets merge or split.
 */
export interface AssetLookup {
  /**
   * Returns the asset that had the address at a time (epoch milliseconds), consistent with `owners`; undefined if no
   * asset had the address.
   */
  at(ip: string, timeMs: number): string | undefined;
  /**
   * Returns all assets that had the address, in order of time without overlap. The first span begins at
   * −Infinity.
   */
  owners(ip: string): readonly Owner[];
  /** Returns the addresses of an asset over time: exactly the spans for which `owners` returns the asset. */
  ranges(assetId: string): readonly AddressSpan[];
  /** Increases whenever a result of `owners` or `ranges` changes. Caches are valid until this number increases. */
  generation(): number;
}

/** A lookup in one snapshot at a time. Results between two refreshes are consistent. */
export interface AssetSnapshot extends AssetLookup {
  /** Switches to the newest snapshot. */
  refresh(): void;
}

export const noAssets: AssetSnapshot = {
  at: () => undefined,
  owners: () => [],
  ranges: () => [],
  generation: () => 0,
  refresh: () => undefined,
};

/** Returns the owner at a time; undefined if there was no owner. */
export function ownerAt(owners: readonly Owner[], timeMs: number): string | undefined {
  let low = 0;
  let high = owners.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (owners[middle]!.from <= timeMs) low = middle + 1;
    else high = middle;
  }
  const owner = owners[low - 1];
  return owner !== undefined && timeMs < owner.to ? owner.asset_id : undefined;
}

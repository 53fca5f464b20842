/** Half-open, epoch milliseconds; −Infinity and Infinity where it has no bound. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Whose an address was for a while. */
export interface Owner extends Span {
  readonly asset_id: string;
}

/** An address that an asset had for a while. */
export interface AddressSpan extends Span {
  readonly ip: string;
}

/**
 * Which asset had which address when. Addresses are in the canonical form of `printAddress`. Nothing of this is
 * stored with events and alerts: when assets merge or split, their history follows.
 */
export interface AssetLookup {
  /** Whose address it was at that time (epoch milliseconds): what `owners` says. */
  at(ip: string, timeMs: number): string | undefined;
  /** All whose address it ever was, in order of time and without overlap; the first from −Infinity on. */
  owners(ip: string): readonly Owner[];
  /** The addresses of an asset over time: exactly the spans in which `owners` names it. */
  ranges(assetId: string): readonly AddressSpan[];
  /** Grows whenever an answer of `owners` or `ranges` changes: caches are good while it stays. */
  generation(): number;
}

/** A lookup of one snapshot at a time: what is read between two refreshes, in one turn of the event loop, agrees. */
export interface AssetSnapshot extends AssetLookup {
  /** Goes on to the newest snapshot. */
  refresh(): void;
}

/** Where no assets are known. */
export const noAssets: AssetSnapshot = {
  at: () => undefined,
  owners: () => [],
  ranges: () => [],
  generation: () => 0,
  refresh: () => undefined,
};

/** The owner at that time. */
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

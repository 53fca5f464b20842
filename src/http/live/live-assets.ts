import type { AddressSpan, AssetLookup, Owner } from '../../events/asset-lookup.ts';

/**
 * Whose addresses are, for one batch at a time: what its filters find and what its messages say agrees, whatever is
 * committed meanwhile.
 */
export class LiveAssets implements AssetLookup {
  readonly #source: AssetLookup;
  #generation = Number.NaN;

  /** @param source - whose `generation` goes on to the newest snapshot */
  constructor(source: AssetLookup) {
    this.#source = source;
  }

  /** Goes on to the newest snapshot. Until the next time, all is read in one turn of the event loop. */
  refresh(): void {
    this.#generation = this.#source.generation();
  }

  generation(): number {
    return this.#generation;
  }

  at(ip: string, timeMs: number): string | undefined {
    return this.#source.at(ip, timeMs);
  }

  owners(ip: string): readonly Owner[] {
    return this.#source.owners(ip);
  }

  ranges(assetId: string): readonly AddressSpan[] {
    return this.#source.ranges(assetId);
  }
}

import { type AssetLookup, type Owner, ownerAt } from '../asset-lookup.ts';
import type { EventBlock } from './block.ts';
import type { AddressColumn, NumberColumn } from './column-readers.ts';

export type End = 'src_ip' | 'dst_ip';

interface EndColumn {
  readonly addresses: AddressColumn;
  /** Owners by the address's index in its list; undefined if not looked up yet. */
  readonly owners: (readonly Owner[] | undefined)[];
}

/**
 * Finds the assets that had a block's addresses. Owners are looked up once per address, on demand: both asset ids add
 * 0.6 µs to the 5.6 µs for writing an event.
 */
export class BlockAssets {
  readonly block: EventBlock;
  readonly #assets: AssetLookup;
  readonly #ends: Record<End, EndColumn | undefined> = { src_ip: undefined, dst_ip: undefined };
  #times: NumberColumn | undefined;

  constructor(block: EventBlock, assets: AssetLookup) {
    this.block = block;
    this.#assets = assets;
  }

  /**
   * Returns the asset that had an event's source or destination address when the event began; undefined without an
   * asset.
   */
  idAt(end: End, row: number): string | undefined {
    const column = this.#ends[end] ?? this.#open(end);
    const code = column.addresses.code(row);
    if (code === 0) return undefined;
    const owners = this.#ownersOf(column, code - 1);
    if (owners.length === 0) return undefined;
    this.#times ??= this.block.numbers('timestamp');
    return ownerAt(owners, this.#times.at(row));
  }

  /** Yields every asset that ever had one of the block's addresses at these ends. May yield an asset repeatedly. */
  *ids(ends: readonly End[]): Iterable<string> {
    for (const end of ends) {
      const column = this.#ends[end] ?? this.#open(end);
      for (let entry = 0; entry < column.addresses.list.length; entry++)
        for (const { asset_id } of this.#ownersOf(column, entry)) yield asset_id;
    }
  }

  #open(end: End): EndColumn {
    const column = { addresses: this.block.addresses(end), owners: [] };
    this.#ends[end] = column;
    return column;
  }

  #ownersOf({ addresses, owners }: EndColumn, entry: number): readonly Owner[] {
    const known = owners[entry];
    if (known !== undefined) return known;
    const found = this.#assets.owners(addresses.list.text(entry));
    owners[entry] = found;
    return found;
  }
}

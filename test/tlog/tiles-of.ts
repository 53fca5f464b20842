import { pageColumns, pageWidth } from '../../src/tlog/page.ts';
import type { TileAddress } from '../../src/tlog/tile.ts';

/**
 * Returns the tiles of a tree of `size` leaves, except those that are already full in a tree of `from` leaves. Each
 * tile has its width at `size`. The order is by level, then index. Bundles of entries have the addresses of level 0.
 */
export function tilesOf(size: number, from = 0): TileAddress[] {
  const tiles: TileAddress[] = [];
  for (let level = 0; size >= pageColumns ** level; level++) {
    const columns = pageColumns ** (level + 1);
    for (let index = Math.floor(from / columns); index < Math.ceil(size / columns); index++) {
      const width = pageWidth({ level, index }, size);
      if (width > 0) tiles.push({ level, index, width });
    }
  }
  return tiles;
}

import { pageColumns, pageRows } from '../tlog/page.ts';
import { type TileAddress, tilePath } from '../tlog/tile.ts';
import { type Coordinate, equalHashes, type Hash, rootPlan, subtrees } from '../tlog/tree.ts';
import { AuditFault } from './fault.ts';
import type { TreeEdge } from './leaf-audit.ts';
import type { LogSource } from './log-source.ts';
import { fetchTile, foldComplete } from './tiles.ts';

/** A position where a tile differs from the entries. */
export interface TileMismatch {
  readonly tile: TileAddress;
  /** The first wrong column; undefined if only columns before the start can be wrong. */
  readonly column: number | undefined;
}

/** A tile whose columns from `first` on are known from the entries. */
interface GrownTile extends TileAddress {
  readonly first: number;
  readonly hashes: readonly Hash[];
}

/**
 * Compares the tiles of a log with the nodes computed from its entries: every new or grown tile of every
 * level. Buffers the columns of incomplete tiles, at most one tile per level.
 */
export class TileAudit {
  readonly #log: LogSource;
  /** Growing tiles by level. `first` is the first column computed here, after the columns of the earlier tree. */
  readonly #growing: { index: number; first: number; hashes: Hash[] }[] = [];
  readonly #full: { tile: GrownTile; parent: { hash?: Hash } }[] = [];
  readonly #start: number;
  #mismatch: TileMismatch | undefined;

  /** @param start - the size from which the entries continue */
  constructor(log: LogSource, start: number) {
    this.#log = log;
    this.#start = start;
  }

  /** The first mismatch; undefined if all checked tiles match. */
  get mismatch(): TileMismatch | undefined {
    return this.#mismatch;
  }

  /** Receives nodes from `CompactRange.append`. */
  readonly onNode = ({ level, index }: Coordinate, hash: Hash): void => {
    if (level % pageRows !== 0) return;
    const tileLevel = level / pageRows;
    // If the tile below was just completed, `hash` is its root.
    const below = this.#full.at(-1);
    if (below !== undefined && below.tile.level === tileLevel - 1 && below.tile.index === index)
      below.parent.hash = hash;
    const column = index % pageColumns;
    this.#growing[tileLevel] ??= {
      index: Math.floor(index / pageColumns),
      first: Math.floor(this.#start / 2 ** level) % pageColumns,
      hashes: [],
    };
    const growing = this.#growing[tileLevel];
    growing.hashes.push(hash);
    if (column < pageColumns - 1) return;
    const { first, hashes } = growing;
    this.#full.push({
      tile: { level: tileLevel, index: growing.index, width: pageColumns, first, hashes },
      parent: {},
    });
    this.#growing[tileLevel] = { index: growing.index + 1, first: 0, hashes: [] };
  };

  /** Fetches and compares the completed tiles. After the first mismatch, no more tiles are fetched. */
  async checkFull(): Promise<AuditFault | undefined> {
    for (const { tile, parent } of this.#full.splice(0)) {
      const failed = await this.#check(tile, (old) => {
        return parent.hash !== undefined && equalHashes(foldComplete(old), parent.hash);
      });
      if (failed !== undefined) return failed;
    }
    return undefined;
  }

  /** Fetches and compares the incomplete tiles at the end, on the edge of `tree`. */
  async checkPartial(tree: TreeEdge): Promise<AuditFault | undefined> {
    for (const [level, { index, first, hashes }] of this.#growing.entries()) {
      if (hashes.length === 0) continue;
      const width = first + hashes.length;
      const onEdge = edgeWithin(tree, level);
      const failed = await this.#check({ level, index, width, first, hashes }, (all) =>
        subtrees(0, width).every((at, i) => {
          const part = all.slice(at.index * 2 ** at.level, (at.index + 1) * 2 ** at.level);
          return onEdge[i] !== undefined && equalHashes(foldComplete(part), onEdge[i]);
        }),
      );
      if (failed !== undefined) return failed;
    }
    return undefined;
  }

  /**
   * Checks a tile. `holds` checks the columns before the start, by comparing the hashes of the whole tile with known
   * nodes.
   */
  async #check(tile: GrownTile, holds: (hashes: readonly Hash[]) => boolean): Promise<AuditFault | undefined> {
    if (this.#mismatch !== undefined) return undefined;
    const served = await fetchTile(this.#log, tile);
    if (served instanceof AuditFault) return served;
    const wrong = tile.hashes.findIndex((hash, i) => !equalHashes(hash, served[tile.first + i]!));
    if (wrong >= 0) this.#mismatch = { tile, column: tile.first + wrong };
    else if (tile.first > 0 && !holds(served)) this.#mismatch = { tile, column: undefined };
    return undefined;
  }
}

/** Returns the hashes of a tree's edge in the last tile of a level, left to right. */
function edgeWithin({ size, edge }: TreeEdge, tileLevel: number): Hash[] {
  const [from, to] = [pageRows * tileLevel, pageRows * (tileLevel + 1)];
  const plan = rootPlan(size);
  return edge.filter((_, i) => plan[i]!.level >= from && plan[i]!.level < to);
}

/** Describes the tile and the column for a message. */
export function placeOfMismatch({ tile, column }: TileMismatch): string {
  const where = column === undefined ? '' : `, column ${column}`;
  return `tile ${tile.index} of level ${tile.level}${where} (/${tilePath(tile)})`;
}

import { pageColumns, pageRows } from '../tlog/page.ts';
import { type TileAddress, tilePath } from '../tlog/tile.ts';
import { type Coordinate, equalHashes, type Hash, rootPlan, subtrees } from '../tlog/tree.ts';
import { Fault } from './fault.ts';
import type { TreeEdge } from './leaf-audit.ts';
import type { LogSource } from './log-source.ts';
import { fetchTile, foldComplete } from './tiles.ts';

/** A place where a tile doesn't say what the entries give. */
export interface TileMismatch {
  readonly tile: TileAddress;
  /** Undefined where only the columns from before the start can be wrong. */
  readonly column: number | undefined;
}

/** A tile whose columns from `first` on are known from the entries. */
interface GrownTile extends TileAddress {
  readonly first: number;
  readonly hashes: readonly Hash[];
}

/**
 * Holds the tiles of a log to the nodes that its entries give: each tile of every level that is new or grew. Owner of
 * the columns that wait for their tile to be full, at most one tile a level.
 */
export class TileAudit {
  readonly #log: LogSource;
  /** By level of tiles. `first` is the column that came first, after those of the tree before. */
  readonly #growing: { index: number; first: number; hashes: Hash[] }[] = [];
  readonly #full: { tile: GrownTile; parent: { hash?: Hash } }[] = [];
  readonly #start: number;
  #mismatch: TileMismatch | undefined;

  /** `start`: the size from which the entries go on. */
  constructor(log: LogSource, start: number) {
    this.#log = log;
    this.#start = start;
  }

  /** The first that was found. */
  get mismatch(): TileMismatch | undefined {
    return this.#mismatch;
  }

  /** A node that the entries complete, as `CompactRange.append` tells it. */
  readonly onNode = ({ level, index }: Coordinate, hash: Hash): void => {
    if (level % pageRows !== 0) return;
    const tileLevel = level / pageRows;
    // The root of the tile below that just came to be full.
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

  /** Fetches and compares the tiles that came to be full. Nothing more is fetched after the first mismatch. */
  async checkFull(): Promise<Fault | undefined> {
    for (const { tile, parent } of this.#full.splice(0)) {
      const failed = await this.#check(tile, (old) => {
        return parent.hash !== undefined && equalHashes(foldComplete(old), parent.hash);
      });
      if (failed !== undefined) return failed;
    }
    return undefined;
  }

  /** The same for those that aren't full at the end, on the edge of `tree`. */
  async checkPartial(tree: TreeEdge): Promise<Fault | undefined> {
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

  /** `holds` says whether the whole tile hashes to what is known, for the columns that the entries don't give. */
  async #check(tile: GrownTile, holds: (hashes: readonly Hash[]) => boolean): Promise<Fault | undefined> {
    if (this.#mismatch !== undefined) return undefined;
    const told = await fetchTile(this.#log, tile);
    if (told instanceof Fault) return told;
    const wrong = tile.hashes.findIndex((hash, i) => !equalHashes(hash, told[tile.first + i]!));
    if (wrong >= 0) this.#mismatch = { tile, column: tile.first + wrong };
    else if (tile.first > 0 && !holds(told)) this.#mismatch = { tile, column: undefined };
    return undefined;
  }
}

/** The hashes of a tree's edge that lie in the last tile of a level, left to right. */
function edgeWithin({ size, edge }: TreeEdge, tileLevel: number): Hash[] {
  const [from, to] = [pageRows * tileLevel, pageRows * (tileLevel + 1)];
  const plan = rootPlan(size);
  return edge.filter((_, i) => plan[i]!.level >= from && plan[i]!.level < to);
}

/** The tile and the place in it, for a message. */
export function placeOfMismatch({ tile, column }: TileMismatch): string {
  const where = column === undefined ? '' : `, column ${column}`;
  return `tile ${tile.index} of level ${tile.level}${where} (/${tilePath(tile)})`;
}

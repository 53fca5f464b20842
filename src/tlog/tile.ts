/**
 * C2SP tlog-tiles: the paths under which a log's hashes and entries lie, and which tiles a tree has.
 *
 *     tile/<level>/<index>[.p/<width>]        hashes at tree level 8 · level, from column 256 · index
 *     tile/entries/<index>[.p/<width>]        the entries from leaf 256 · index
 *
 * The index is written in groups of three digits, all but the last behind an x (1234067: x001/x234/067); `.p/` is
 * for the tiles that aren't full (256 wide) yet. Each tile is the bottom row of the page of page.ts with its address.
 */
import { TlogError } from './fault.ts';
import { type PageAddress, pageColumns, pageWidth } from './page.ts';
import { checkSize } from './tree.ts';

export interface TileAddress extends PageAddress {
  /** Columns: 1 to 256. */
  readonly width: number;
}

/** Levels of tiles that the specification knows. Trees of safe integers have seven. */
const tileLevels = 64;

/** What `tilesOf` lists at once: 48 MB of addresses, the tiles of 267 million leaves. */
export const maxTilesListed = 2 ** 20;

const indexAndWidth = '((?:x[0-9]{3}/){0,5}[0-9]{3})(?:\\.p/([1-9][0-9]{0,2}))?';
const tilePattern = new RegExp(`^(0|[1-9][0-9]?)/${indexAndWidth}$`);
const entriesPattern = new RegExp(`^${indexAndWidth}$`);

/** Fault: bad_tile, as of the other three. */
export function tilePath({ level, index, width }: TileAddress): string {
  if (!Number.isInteger(level) || level < 0 || level >= tileLevels) {
    throw new TlogError('bad_tile', `level ${level} of a tile is no integer from 0 to ${tileLevels - 1}`);
  }
  return `tile/${level}/${formatIndex(index, width)}`;
}

export function entriesPath(index: number, width: number): string {
  return `tile/entries/${formatIndex(index, width)}`;
}

/** What follows `tile/`, in the one spelling that the address has. */
export function parseTilePath(path: string): TileAddress {
  const [, level, index, width] = tilePattern.exec(path) ?? [];
  const tile = { level: Number(level), ...parseIndex(index, width) };
  if (tilePath(tile) !== `tile/${path}`) throw unknownPath();
  return tile;
}

/** What follows `tile/entries/`. */
export function parseEntriesPath(path: string): { index: number; width: number } {
  const [, index, width] = entriesPattern.exec(path) ?? [];
  const bundle = parseIndex(index, width);
  if (entriesPath(bundle.index, bundle.width) !== `tile/entries/${path}`) throw unknownPath();
  return bundle;
}

/**
 * The tiles of all levels of a tree of `size` leaves that aren't yet full in a tree of `from` leaves, as wide as they
 * are at `size`; by level, then index. Bundles of entries have the addresses of level 0. At most `maxTilesListed`:
 * more are asked for in steps. Fault: bad_size, also for `from` past `size` and for too many.
 */
export function tilesOf(size: number, from = 0): TileAddress[] {
  checkSize(size);
  checkSize(from);
  if (from > size) throw new TlogError('bad_size', `tiles from size ${from} on in a tree of ${size}`);
  const tiles: TileAddress[] = [];
  for (let level = 0; size >= pageColumns ** level; level++) {
    const columns = pageColumns ** (level + 1);
    const [first, end] = [Math.floor(from / columns), Math.ceil(size / columns)];
    if (tiles.length + end - first > maxTilesListed) {
      throw new TlogError('bad_size', `more than ${maxTilesListed} tiles from ${from} to ${size}`);
    }
    for (let index = first; index < end; index++) {
      const width = pageWidth({ level, index }, size);
      if (width > 0) tiles.push({ level, index, width });
    }
  }
  return tiles;
}

function formatIndex(index: number, width: number): string {
  if (!Number.isSafeInteger(index) || index < 0) {
    throw new TlogError('bad_tile', `index ${index} of a tile is no integer from 0 to 2^53 − 1`);
  }
  if (!Number.isInteger(width) || width < 1 || width > pageColumns) {
    throw new TlogError('bad_tile', `width ${width} of a tile is no integer from 1 to ${pageColumns}`);
  }
  let path = group(index);
  for (let rest = Math.floor(index / 1000); rest > 0; rest = Math.floor(rest / 1000)) {
    path = `x${group(rest)}/${path}`;
  }
  return width === pageColumns ? path : `${path}.p/${width}`;
}

function group(index: number): string {
  return String(index % 1000).padStart(3, '0');
}

function parseIndex(index: string | undefined, width: string | undefined): { index: number; width: number } {
  if (index === undefined) throw unknownPath();
  return {
    index: Number(index.replaceAll(/[x/]/g, '')),
    width: width === undefined ? pageColumns : Number(width),
  };
}

function unknownPath(): TlogError {
  return new TlogError('bad_tile', 'not the path of a tile');
}

/**
 * C2SP tlog-tiles: the paths of a log's hashes and entries.
 *
 *     tile/<level>/<index>[.p/<width>]        hashes at tree level 8 · level, from column 256 · index
 *     tile/entries/<index>[.p/<width>]        the entries from leaf 256 · index
 *
 * The index is written in groups of three digits, all except the last prefixed with an x (1234067:
 * x001/x234/067). `.p/` marks tiles that are not full (256 wide) yet. Each tile is the bottom row of the page
 * (page.ts) with the same address.
 */
import { TlogError } from './fault.ts';
import { type PageAddress, pageColumns } from './page.ts';

export interface TileAddress extends PageAddress {
  /** Number of columns: 1 to 256. */
  readonly width: number;
}

/** Levels of tiles in the specification. Trees whose size is a safe integer have seven. */
const tileLevels = 64;

const indexAndWidth = '((?:x[0-9]{3}/){0,5}[0-9]{3})(?:\\.p/([1-9][0-9]{0,2}))?';
const tilePattern = new RegExp(`^(0|[1-9][0-9]?)/${indexAndWidth}$`);
const entriesPattern = new RegExp(`^${indexAndWidth}$`);

/** Formats the path of a tile. Fault of this function and of the three functions below: bad_tile. */
export function tilePath({ level, index, width }: TileAddress): string {
  if (!Number.isInteger(level) || level < 0 || level >= tileLevels) {
    throw new TlogError('bad_tile', `level ${level} of a tile is not an integer from 0 to ${tileLevels - 1}`);
  }
  return `tile/${level}/${formatIndex(index, width)}`;
}

export function entriesPath(index: number, width: number): string {
  return `tile/entries/${formatIndex(index, width)}`;
}

/** Parses the part after `tile/`. Only the canonical spelling is valid. */
export function parseTilePath(path: string): TileAddress {
  const [, level, index, width] = tilePattern.exec(path) ?? [];
  const tile = { level: Number(level), ...parseIndex(index, width) };
  if (tilePath(tile) !== `tile/${path}`) throw unknownPath();
  return tile;
}

/** Parses the part after `tile/entries/`. */
export function parseEntriesPath(path: string): { index: number; width: number } {
  const [, index, width] = entriesPattern.exec(path) ?? [];
  const bundle = parseIndex(index, width);
  if (entriesPath(bundle.index, bundle.width) !== `tile/entries/${path}`) throw unknownPath();
  return bundle;
}

function formatIndex(index: number, width: number): string {
  if (!Number.isSafeInteger(index) || index < 0) {
    throw new TlogError('bad_tile', `index ${index} of a tile is not an integer from 0 to 2^53 − 1`);
  }
  if (!Number.isInteger(width) || width < 1 || width > pageColumns) {
    throw new TlogError('bad_tile', `width ${width} of a tile is not an integer from 1 to ${pageColumns}`);
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
  return new TlogError('bad_tile', 'it is not the path of a tile');
}

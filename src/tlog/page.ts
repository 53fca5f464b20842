/**
 * Storage layout of complete nodes: pages of eight levels, one stored value each.
 *
 *     page (L, N):   row 7                 o                  level 8L + 7
 *                    …                  o     o
 *                    row 1        o  o  o  …  o  o            level 8L + 1
 *                    row 0     o o o o o o … o o o o          level 8L, columns 256 N … 256 N + 255
 *
 * A page of `width` columns holds floor(width / 2^row) hashes in each row: 510 when it is full. Rows follow
 * each other from row 0 up without gaps, so that the first `width` hashes are the tile of C2SP tlog-tiles.
 * The root of a full page is a column of row 0 in the page above it, and is stored only there.
 */
import { panic } from './fault.ts';
import { type Coordinate, type Hash, hashBytes } from './tree.ts';

export const pageRows = 8;
export const pageColumns = 256;

export interface PageAddress {
  /** L: the page's row 0 is at tree level 8 L. */
  readonly level: number;
  /** N: the page's first column is at index 256 N of that tree level. */
  readonly index: number;
}

export interface PagePlace extends PageAddress {
  readonly row: number;
  readonly column: number;
}

/** Returns the place of a node. */
export function placeOf(at: Coordinate): PagePlace {
  const level = Math.floor(at.level / pageRows);
  const row = at.level % pageRows;
  const columns = pageColumns / 2 ** row;
  const index = Math.floor(at.index / columns);
  return { level, index, row, column: at.index - index * columns };
}

/** Returns the number of columns in row 0 of a page when the tree has `size` leaves: 0 to 256. */
export function pageWidth(page: PageAddress, size: number): number {
  const columns = Math.floor(size / pageColumns ** page.level) - page.index * pageColumns;
  return Math.max(0, Math.min(pageColumns, columns));
}

/**
 * For each width, the number of hashes before each row, and the total at the end. Stored as a table, because proofs
 * need the number for every hash: computing it took 4 % of the ledger's thread.
 */
const hashesBefore = Array.from({ length: pageColumns + 1 }, (_, width) => {
  const before = [0];
  for (let row = 0; row < pageRows; row++) before.push(before[row]! + Math.floor(width / 2 ** row));
  return before;
});

/** Returns the number of hashes in a page of `width` columns. */
export function pageHashes(width: number): number {
  return hashesBefore[width]?.[pageRows] ?? panic(`a page cannot have ${width} columns`);
}

/** Returns the position of a hash in a page of `width` columns, counted from row 0 up. */
export function pageOffset(width: number, row: number, column: number): number {
  const first = hashesBefore[width]?.[row];
  const next = hashesBefore[width]?.[row + 1];
  if (first === undefined || next === undefined || first + column >= next) {
    panic(`there is no row ${row}, column ${column} in a page of ${width} columns`);
  }
  return first + column;
}

/** Returns a copy of one hash of a page of `width` columns. */
export function hashInPage(page: Uint8Array, width: number, row: number, column: number): Hash {
  if (page.length !== pageHashes(width) * hashBytes) panic(`a page of ${width} columns has ${page.length} bytes`);
  const start = pageOffset(width, row, column) * hashBytes;
  return page.slice(start, start + hashBytes);
}

/**
 * The log as C2SP tlog-tiles: what the pages of nodes and the entries are as tiles. A tile of any width that the tree
 * has reached can be had, also once the tree has grown past it: complete nodes never change.
 */
import { ServiceError } from '../../errors.ts';
import { encodeEntryBundle } from '../../tlog/entry-bundle.ts';
import { pageColumns, pageHashes, pageWidth } from '../../tlog/page.ts';
import type { TileAddress } from '../../tlog/tile.ts';
import { hashBytes } from '../../tlog/tree.ts';
import { DamagedError, type LedgerStorage } from '../storage/storage.ts';

/** Levels that a tree of safe integers has: 256^7 is past 2^53. */
const levels = 7;

/** 32 · width bytes. NOT_FOUND where a tree of `size` leaves has no such tile. @throws DamagedError */
export function readTile(storage: LedgerStorage, size: number, tile: TileAddress): Uint8Array<ArrayBuffer> {
  const { level, index, width } = tile;
  const stored = level < levels ? pageWidth({ level, index }, size) : 0;
  if (width > stored) throw notThere(`tile ${level}/${index} of width ${width}`, size);
  const hashes = new Uint8Array(width * hashBytes);
  const bytes = storage.readPage({ level, index }, hashes);
  if (bytes !== pageHashes(stored) * hashBytes)
    throw new DamagedError(`page ${level}/${index} has ${bytes} bytes in a log of ${size} leaves`);
  return hashes;
}

/** NOT_FOUND where the log of `size` leaves has no such bundle. @throws DamagedError */
export function readEntryBundle(
  storage: LedgerStorage,
  size: number,
  index: number,
  width: number,
): Uint8Array<ArrayBuffer> {
  if (width > pageWidth({ level: 0, index }, size))
    throw notThere(`bundle of entries ${index} of width ${width}`, size);
  const entries = Array.from({ length: width }, (_, i) => {
    const canonical = storage.canonical(index * pageColumns + i);
    if (canonical === undefined) throw new DamagedError(`entry ${index * pageColumns + i} is missing`);
    return canonical;
  });
  return encodeEntryBundle(entries);
}

function notThere(what: string, size: number): ServiceError {
  return new ServiceError('NOT_FOUND', `there is no ${what} in a log of ${size} leaves`);
}

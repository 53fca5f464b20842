/**
 * Serves the pages of nodes and the entries of the log as C2SP tlog-tiles. A tile of any width that the tree
 * has reached stays available after the tree has grown, because complete nodes never change.
 */
import { ServiceError } from '../../errors.ts';
import { encodeEntryBundle, maxEntryBytes } from '../../tlog/entry-bundle.ts';
import { pageColumns, pageWidth } from '../../tlog/page.ts';
import type { TileAddress } from '../../tlog/tile.ts';
import type { LedgerStorage } from '../storage/storage.ts';
import { verifiedEntry } from './prover.ts';
import type { VerifiedNodes } from './verified-nodes.ts';

/** Placeholder for an entry that is not stored; verification then reports the missing entry. */
const missing = new Uint8Array();

/** Levels of a tree whose size is a safe integer: 256^7 is above 2^53. */
const levels = 7;

/**
 * Returns 32 · width bytes. Throws NOT_FOUND if a tree of `size` leaves does not have the tile. @throws DamagedError
 */
export function readTile(nodes: VerifiedNodes, size: number, tile: TileAddress): Uint8Array<ArrayBuffer> {
  const { level, index, width } = tile;
  if (width > (level < levels ? pageWidth({ level, index }, size) : 0))
    throw notFound(`tile ${level}/${index} of width ${width}`, size);
  return nodes.rowOf({ level, index }, width);
}

/**
 * Returns an encoded bundle. Throws NOT_FOUND if the log of `size` leaves does not have the bundle. @throws
 * DamagedError
 */
export function readEntryBundle(
  storage: LedgerStorage,
  nodes: VerifiedNodes,
  size: number,
  index: number,
  width: number,
): Uint8Array<ArrayBuffer> {
  if (width > pageWidth({ level: 0, index }, size))
    throw notFound(`bundle of entries ${index} of width ${width}`, size);
  const digests = width === pageColumns ? nodes.bundles : undefined;
  if (digests?.knows(index)) {
    const stored = Array.from({ length: width }, (_, i) => storage.canonical(index * pageColumns + i) ?? missing);
    const known = stored.every(({ length }) => length <= maxEntryBytes) && encodeEntryBundle(stored);
    if (known && digests.has(index, known)) return known;
  }
  nodes.rowOf({ level: 0, index }, width); // verifies the whole row and caches its page
  const bundle = encodeEntryBundle(
    Array.from({ length: width }, (_, i) => verifiedEntry(storage, nodes, index * pageColumns + i)),
  );
  digests?.add(index, bundle);
  return bundle;
}

function notFound(what: string, size: number): ServiceError {
  return new ServiceError('NOT_FOUND', `there is no ${what} in a log of ${size} leaves`);
}

/**
 * The log as C2SP tlog-tiles: what the pages of nodes and the entries are as tiles. A tile of any width that the tree
 * has reached can be had, also once the tree has grown past it: complete nodes never change.
 */
import { ServiceError } from '../../errors.ts';
import { encodeEntryBundle, maxEntryBytes } from '../../tlog/entry-bundle.ts';
import { pageColumns, pageWidth } from '../../tlog/page.ts';
import type { TileAddress } from '../../tlog/tile.ts';
import { DamagedError, type LedgerStorage } from '../storage/storage.ts';
import { verifiedEntry } from './prover.ts';
import type { VerifiedNodes } from './verified-nodes.ts';

/** Levels that a tree of safe integers has: 256^7 is past 2^53. */
const levels = 7;

/** 32 · width bytes. NOT_FOUND where a tree of `size` leaves does not have the tile. @throws DamagedError */
export function readTile(nodes: VerifiedNodes, size: number, tile: TileAddress): Uint8Array<ArrayBuffer> {
  const { level, index, width } = tile;
  if (width > (level < levels ? pageWidth({ level, index }, size) : 0))
    throw notThere(`tile ${level}/${index} of width ${width}`, size);
  return nodes.rowOf({ level, index }, width);
}

/** NOT_FOUND where the log of `size` leaves does not have the bundle. @throws DamagedError */
export function readEntryBundle(
  storage: LedgerStorage,
  nodes: VerifiedNodes,
  size: number,
  index: number,
  width: number,
): Uint8Array<ArrayBuffer> {
  if (width > pageWidth({ level: 0, index }, size))
    throw notThere(`bundle of entries ${index} of width ${width}`, size);
  const digests = width === pageColumns ? nodes.bundles : undefined;
  if (digests?.knows(index)) {
    const known = encodeEntryBundle(storedEntries(storage, index));
    if (digests.has(index, known)) return known;
  }
  nodes.rowOf({ level: 0, index }, width); // verified as a whole, and kept as the page that was read last
  const bundle = encodeEntryBundle(
    Array.from({ length: width }, (_, i) => verifiedEntry(storage, nodes, index * pageColumns + i)),
  );
  digests?.add(index, bundle);
  return bundle;
}

/** The entries of a full bundle as they are stored. */
function storedEntries(storage: LedgerStorage, index: number): Uint8Array[] {
  return Array.from({ length: pageColumns }, (_, i) => {
    const at = index * pageColumns + i;
    const canonical = storage.canonical(at);
    if (canonical === undefined) throw new DamagedError(`entry ${at} is missing`);
    if (canonical.length > maxEntryBytes) throw new DamagedError(`entry ${at} has ${canonical.length} bytes`);
    return canonical;
  });
}

function notThere(what: string, size: number): ServiceError {
  return new ServiceError('NOT_FOUND', `there is no ${what} in a log of ${size} leaves`);
}

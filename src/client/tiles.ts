import { decodeEntryBundle } from '../tlog/entry-bundle.ts';
import { pageColumns, pageWidth, placeOf } from '../tlog/page.ts';
import { consistencyPlan, foldProof } from '../tlog/proof.ts';
import { entriesPath, type TileAddress, tilePath } from '../tlog/tile.ts';
import { type Coordinate, foldRoot, type Hash, hashBytes, nodeHash, rootPlan } from '../tlog/tree.ts';
import { AuditFault, orFault } from './fault.ts';
import { Denied, type LogSource, NotFound } from './log-source.ts';
import { sha256 } from './sha256.ts';

/** Fetches the hashes of a tile (C2SP tlog-tiles), left to right. */
export async function fetchTile(log: LogSource, tile: TileAddress): Promise<Hash[] | AuditFault> {
  const fetched = await fetchAtLeast(log, tile.width, (width) => tilePath({ ...tile, width }));
  if (fetched instanceof AuditFault) return fetched;
  if (fetched.bytes.length !== fetched.width * hashBytes) {
    return new AuditFault(
      'MALFORMED_TILE',
      `${fetched.path}: ${fetched.bytes.length} bytes instead of ${fetched.width * hashBytes}`,
    );
  }
  return Array.from({ length: tile.width }, (_, i) => fetched.bytes.subarray(i * hashBytes, (i + 1) * hashBytes));
}

/** Fetches the canonical bytes of the first `width` entries from index 256 · `index`. Requires a role. */
export async function fetchEntryBundle(
  log: LogSource,
  index: number,
  width: number,
): Promise<Uint8Array[] | AuditFault> {
  const fetched = await fetchAtLeast(log, width, (columns) => entriesPath(index, columns));
  if (fetched instanceof Denied)
    return new Denied(
      'HTTP_REFUSED',
      `reading log entries requires a token with a role that may read them: ${fetched.message}`,
    );
  if (fetched instanceof AuditFault) return fetched;
  return orFault('MALFORMED_TILE', fetched.path, () => decodeEntryBundle(fetched.bytes, fetched.width).slice(0, width));
}

/**
 * Fetches a partial tile or, if it was deleted, the full tile, which starts with the same columns. A log may delete
 * partial tiles once the full tile exists (C2SP tlog-tiles).
 */
async function fetchAtLeast(
  log: LogSource,
  width: number,
  pathOf: (width: number) => string,
): Promise<{ bytes: Uint8Array; width: number; path: string } | AuditFault> {
  const path = `/${pathOf(width)}`;
  const bytes = await log.getBytes(path);
  if (!(bytes instanceof AuditFault)) return { bytes, width, path };
  if (!(bytes instanceof NotFound) || width === pageColumns) return bytes;
  const full = `/${pathOf(pageColumns)}`;
  const whole = await log.getBytes(full);
  return whole instanceof AuditFault ? bytes : { bytes: whole, width: pageColumns, path: full };
}

/**
 * Fetches the right edge of the tree of the first `size` leaves from the tiles of a log with `treeSize`
 * leaves.
 */
export async function fetchEdge(log: LogSource, size: number, treeSize: number): Promise<Hash[] | AuditFault> {
  const hashes = await fetchNodes(log, rootPlan(size), treeSize);
  return hashes instanceof AuditFault ? hashes : rootPlan(size).map((at) => hashes(at));
}

/** Computes the root of a log of `size` leaves from its tiles. */
export async function fetchRoot(log: LogSource, size: number): Promise<Hash | AuditFault> {
  const edge = await fetchEdge(log, size, size);
  return edge instanceof AuditFault ? edge : foldRoot(sha256, size, edge);
}

/**
 * Computes, from the tiles of a log, the root for the first size and a consistency proof from the first size to the
 * second.
 */
export async function proofFromTiles(
  log: LogSource,
  firstSize: number,
  secondSize: number,
): Promise<{ firstRoot: Hash; path: Hash[] } | AuditFault> {
  const plan = consistencyPlan(firstSize, secondSize);
  const hashes = await fetchNodes(log, [...rootPlan(firstSize), ...plan.flat()], secondSize);
  if (hashes instanceof AuditFault) return hashes;
  return {
    firstRoot: foldRoot(sha256, firstSize, rootPlan(firstSize).map(hashes)),
    path: foldProof(sha256, plan, hashes),
  };
}

/**
 * Fetches nodes of the tree of `treeSize` leaves, each computed from the columns of its tile. Callers fetch at most a
 * few hundred nodes.
 */
async function fetchNodes(
  log: LogSource,
  nodes: readonly Coordinate[],
  treeSize: number,
): Promise<((at: Coordinate) => Hash) | AuditFault> {
  const tiles = new Map<string, Hash[]>();
  for (const at of nodes) {
    const { level, index } = placeOf(at);
    const tile = { level, index, width: pageWidth({ level, index }, treeSize) };
    if (tiles.has(tilePath(tile))) continue;
    const hashes = await fetchTile(log, tile);
    if (hashes instanceof AuditFault) return hashes;
    tiles.set(tilePath(tile), hashes);
  }
  return (at) => {
    const { level, index, row, column } = placeOf(at);
    const width = pageWidth({ level, index }, treeSize);
    const hashes = tiles.get(tilePath({ level, index, width }))!;
    return foldComplete(hashes.slice(column * 2 ** row, (column + 1) * 2 ** row));
  };
}

/** Returns the root of a complete subtree over 2^k hashes. */
export function foldComplete(hashes: readonly Hash[]): Hash {
  let row = hashes;
  while (row.length > 1) {
    const above: Hash[] = [];
    for (let i = 0; i < row.length; i += 2) above.push(nodeHash(sha256, row[i]!, row[i + 1]!));
    row = above;
  }
  return row[0]!;
}

import { pieceRows } from '../../contract/event-piece.ts';
import { sha256 } from '../../crypto/sha256.ts';
import { isDamage } from '../../database/rows.ts';
import { ServiceError } from '../../errors.ts';
import type { LogTables } from '../../store/log-tables.ts';
import type { EventProof, SealedRows } from '../../store/store.ts';
import { bytesToHex } from '../../tlog/hex.ts';
import { pathOf, rootOf } from '../../tlog/leaf-hashes.ts';
import { equalHashes, type Hash, hashBytes } from '../../tlog/tree.ts';
import { type Piece, PieceWriter, pieces } from '../event-piece.ts';
import type { Table } from '../records.ts';
import type { EventStore } from './event-store.ts';
import { sealOf } from './seal-store.ts';
import type { EventTables } from './tables.ts';

/** Pieces per stored root. A proof hashes all pieces under a root: 8,192 rows, in about 3 ms. */
const batchPieces = 128;
const batchRows = batchPieces * pieceRows;

type Events = Pick<EventStore, 'rows' | 'refresh' | 'find' | 'firstStored' | 'damage'>;

/**
 * Digests the stored rows from a sequence on, up to the first gap. Returns undefined if there are no rows.
 *
 * @param maxRows - rounded up to whole batches, so that the next call can continue the range
 */
export function digestEvents(events: Events, table: Table, from: number, maxRows: number): SealedRows | undefined {
  events.refresh();
  let first: Piece | undefined;
  let last: Piece | undefined;
  let rows = 0;
  const roots: Hash[] = [];
  const batch = new Batch();
  for (const piece of pieces(events.rows(table, from))) {
    batch.add(piece);
    first ??= piece;
    last = piece;
    rows += piece.rows;
    if (!batch.isFull) continue;
    roots.push(batch.take());
    if (rows >= maxRows) break;
  }
  if (first === undefined || last === undefined) return undefined;
  if (!batch.isEmpty) roots.push(batch.take());
  return {
    table,
    first_seq: first.firstSeq,
    rows,
    batches: Buffer.concat(roots),
    first_received: receivedAt(first, 0),
    last_received: receivedAt(last, -1),
  };
}

function receivedAt({ runs }: Piece, place: 0 | -1): string {
  const { block, first, end } = runs.at(place)!;
  return new Date(block.numbers('received_at').at(place === 0 ? first : end - 1)).toISOString();
}

/**
 * Computes the proof of an event, from the stored events of its batch up to the root in siem.mdb. The caller
 * compares that root with the root in the log.
 *
 * @returns undefined if there is no such event
 * @throws NOT_FOUND, UNAVAILABLE, or INTERNAL (`events_altered`) with a reason
 */
export function proveEvent(
  tables: EventTables & LogTables,
  events: Events,
  table: Table,
  id: string,
): EventProof | undefined {
  const found = events.find(table, id);
  if (found === undefined) return undefined;
  const { seq, attributes } = found;
  const seal = sealOf(tables, table, seq);
  if (seal === undefined) throw unsealed(tables, table, id, seq);
  const { range, entry_id } = seal;
  const index = Math.floor((seq - range.first_seq) / batchRows);
  const from = range.first_seq + index * batchRows;
  const end = Math.min(from + batchRows, range.first_seq + range.rows);
  const batch = new Batch();
  let bytes: string | undefined;
  let next = from;
  for (const piece of pieces(events.rows(table, from, end))) {
    if (piece.firstSeq !== next) break;
    const written = batch.add(piece);
    next += piece.rows;
    // The first byte is the zero byte that marks a leaf.
    if (seq >= piece.firstSeq && seq < next) bytes = Buffer.from(written.subarray(1)).toString('base64');
  }
  if (bytes === undefined || next < end) throw incomplete(events, table, from, end);
  const leaf = Math.floor((seq - from) / pieceRows);
  const path = [...batch.path(leaf), ...pathOf(sha256, range.batches, index)];
  if (!equalHashes(batch.take(), hashAt(range.batches, index)))
    throw new ServiceError('INTERNAL', `${differ(table, from, end, entry_id)}; see /health`, {
      ...{ reason: 'events_altered', table, first_seq: from, rows: end - from, entry_id },
    });
  return {
    attributes,
    seal: {
      entry_id,
      table,
      first_seq: range.first_seq,
      rows: range.rows,
      sequence: seq,
      leaf_index: index * batchPieces + leaf,
      tree_size: Math.ceil(range.rows / pieceRows),
      audit_path: path.map(bytesToHex),
      piece: bytes,
    },
    entry_waits: tables.outboxIds.doesExist(entry_id),
  };
}

/**
 * Yields descriptions of stored ranges that differ from their seals. A batch with missing or damaged rows
 * cannot be compared. Reads one batch at a time.
 */
export function* alteredEvents({ eventSeals }: EventTables & LogTables, events: Events): Generator<string> {
  for (const { value: seal } of eventSeals.getRange())
    for (const { table, first_seq, rows, batches } of seal.ranges)
      for (let index = 0; index * batchRows < rows; index++) {
        const from = first_seq + index * batchRows;
        const end = Math.min(from + batchRows, first_seq + rows);
        const root = storedRoot(events, table, from, end);
        if (root !== undefined && !equalHashes(root, hashAt(batches, index)))
          yield differ(table, from, end, seal.entry_id);
      }
}

function storedRoot(events: Events, table: Table, from: number, end: number): Hash | undefined {
  const batch = new Batch();
  let next = from;
  try {
    for (const piece of pieces(events.rows(table, from, end))) {
      if (piece.firstSeq !== next) return undefined;
      batch.add(piece);
      next += piece.rows;
    }
  } catch (error) {
    if (!isDamage(error)) throw error;
    return undefined;
  }
  return next < end ? undefined : batch.take();
}

const hashAt = (batches: Uint8Array, index: number): Hash =>
  batches.subarray(index * hashBytes, (index + 1) * hashBytes);

const differ = (table: Table, from: number, end: number, entryId: string): string =>
  `${table} events ${from} to ${end - 1} differ from the events that entry ${entryId} of the log covers: they were altered after they were stored`;

function unsealed({ sealedUpTo }: EventTables & LogTables, table: Table, id: string, seq: number): ServiceError {
  const upTo = sealedUpTo.get(table);
  if (upTo !== undefined && seq >= upTo)
    return new ServiceError('UNAVAILABLE', `event ${id} is not sealed yet; try again in a minute`, {
      reason: 'not_sealed_yet',
    });
  return new ServiceError(
    'NOT_FOUND',
    `no seal is stored for event ${id}: transparency.seal_events was off when the event was stored, or the seal was removed` +
      (upTo === undefined ? '; the setting is off now' : ''),
    { reason: 'not_sealed', sealing: upTo !== undefined },
  );
}

/** Returns the error for a batch with rows that are no longer stored. */
function incomplete(events: Events, table: Table, from: number, end: number): ServiceError {
  const first = events.firstStored(table);
  const damaged = events.damage(table).find(({ firstSeq, rows }) => firstSeq < end && firstSeq + rows > from);
  const why =
    first > from || damaged === undefined
      ? `retention removed the events before ${first}; log entries of kind events.expired state when`
      : `events ${damaged.firstSeq} to ${damaged.firstSeq + damaged.rows - 1} were set aside as damaged at ${new Date(damaged.found_at).toISOString()}`;
  return new ServiceError(
    'NOT_FOUND',
    `the proof needs all ${table} events ${from} to ${end - 1}, some of which are no longer stored: ${why}`,
    { reason: 'seal_incomplete', table, first_seq: from, rows: end - from },
  );
}

/** Leaf hashes of the pieces of one batch. */
class Batch {
  readonly #writer = new PieceWriter();
  readonly #hashes = new Uint8Array(batchPieces * hashBytes);
  #pieces = 0;

  /**
   * Adds a piece.
   *
   * @returns the bytes that were hashed, valid until the next call
   */
  add(piece: Piece): Uint8Array {
    const bytes = this.#writer.write(piece);
    this.#hashes.set(sha256(bytes), this.#pieces++ * hashBytes);
    return bytes;
  }

  get isFull(): boolean {
    return this.#pieces === batchPieces;
  }

  get isEmpty(): boolean {
    return this.#pieces === 0;
  }

  path(leaf: number): Hash[] {
    return pathOf(sha256, this.#leaves, leaf);
  }

  /** Returns the root and clears the batch. */
  take(): Hash {
    const root = rootOf(sha256, this.#leaves);
    this.#pieces = 0;
    return root;
  }

  get #leaves(): Uint8Array {
    return this.#hashes.subarray(0, this.#pieces * hashBytes);
  }
}

import { criticalEvent } from '../contract/critical-events.ts';
import { receiptBytes } from '../contract/receipt-bytes.ts';
import type { IngestAnswer } from '../contract/resources/ingest.ts';
import type { ReceiptStatement } from '../contract/resources/receipt.ts';
import { sha256 } from '../crypto/sha256.ts';
import { lastSequence } from '../database/rows.ts';
import { ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';
import { bytesToHex } from '../tlog/hex.ts';
import { pathOf, rootOf } from '../tlog/leaf-hashes.ts';
import { hashBytes, leafHash } from '../tlog/tree.ts';
import { canonicalUuid, uuid7 } from '../uuid.ts';
import type { LogTables } from './log-tables.ts';
import type { Outbox } from './outbox.ts';
import type { ReceiptDraft, StoredReceipt } from './store.ts';

/** Receipts that one log entry covers, in order, beginning with sequence `first`. */
export interface ReceiptBatch {
  readonly first: number;
  readonly entry_id: string;
  /** Leaf hashes of the receipts, 32 bytes each. */
  readonly hashes: Uint8Array;
}

/**
 * Sequences of the oldest receipt (`first`), the newest receipt (`last`), and the newest receipt that an
 * entry covers (`covered`).
 */
interface Sequences {
  first: number;
  last: number;
  covered: number;
  /** Number of receipts that no entry covers, by sensor. */
  readonly waitingOf: Map<string, number>;
}

type ReceiptTables = Pick<LogTables, 'receipts' | 'receiptIds' | 'receiptBatches'>;

/**
 * Stores receipts for ingest bodies. A receipt is written in the transaction that stores its events. A later
 * transaction creates an entry of kind `ingest.receipted` for all waiting receipts: the batch and its outbox
 * row commit together, so that each receipt is in exactly one entry.
 */
export class Receipts {
  #known: Sequences | undefined;
  readonly #tables: ReceiptTables;
  readonly #max: number;

  constructor(tables: ReceiptTables, max: number = limits.maxReceipts) {
    this.#tables = tables;
    this.#max = max;
  }

  /**
   * Drops the cached sequences, which are read again when needed. Must be called after an aborted
   * transaction.
   */
  forget(): void {
    this.#known = undefined;
  }

  get #sequences(): Sequences {
    if (this.#known !== undefined) return this.#known;
    const { receipts, receiptBatches } = this.#tables;
    const last = lastSequence(receipts);
    const [first = last + 1] = receipts.getKeys({ limit: 1 });
    const known = {
      first,
      last,
      covered: lastSequence(receiptBatches),
      waitingOf: new Map<string, number>(),
    };
    for (const { value } of receipts.getRange({ start: known.covered + 1 }))
      countOf(known.waitingOf, value.sensor.id, 1);
    this.#known = known;
    return known;
  }

  /** Number of receipts that no entry covers yet. */
  get waiting(): number {
    const { last, covered } = this.#sequences;
    return last - covered;
  }

  /**
   * Throws if there is no room for a receipt. Must be called before any write. One sensor may use at most
   * half of the room, so that room remains for other sensors.
   *
   * @throws UNAVAILABLE (`receipts_full`)
   */
  requireRoom(sensorId: string): void {
    const ofSensor = this.#sequences.waitingOf.get(sensorId) ?? 0;
    if (this.waiting < this.#max && ofSensor < this.#max / 2) return;
    throw new ServiceError(
      'UNAVAILABLE',
      `${this.waiting} receipts (${ofSensor} of this sensor) wait for the transparency log; send the body without Candor-Receipt, or retry later`,
      { reason: 'receipts_full' },
    );
  }

  /**
   * Adds a receipt and returns it. A request that repeats an earlier request with exactly the same body gets
   * the earlier receipt. Must be called within a transaction.
   */
  give(draft: ReceiptDraft, answer: IngestAnswer, earlierId?: string): ReceiptStatement {
    const { receipts, receiptIds } = this.#tables;
    const earlier = earlierId === undefined ? undefined : receiptIds.get(earlierId);
    const first = earlier === undefined ? undefined : receipts.get(earlier);
    if (first?.sha256 === draft.sha256) return first;
    const { accepted, rejected, ignored, duplicates } = answer;
    const receipt = { ...draft, accepted, rejected, ignored, duplicates };
    this.#sequences.last++;
    countOf(this.#sequences.waitingOf, draft.sensor.id, 1);
    receipts.putSync(this.#sequences.last, receipt);
    receiptIds.putSync(receipt.id, this.#sequences.last);
    return receipt;
  }

  /**
   * Puts an entry that covers the oldest waiting receipts into the outbox. Returns false if no receipts wait
   * or the outbox is full. Must be called within a transaction.
   */
  cover(outbox: Pick<Outbox, 'hasRoom' | 'add'>, nowMs: number): boolean {
    if (this.waiting === 0 || !outbox.hasRoom) return false;
    const first = this.#sequences.covered + 1;
    const end = Math.min(this.#sequences.last + 1, first + limits.maxReceiptsPerEntry);
    const rows = this.#log(first, end, outbox, nowMs);
    this.#sequences.covered = end - 1;
    for (const { sensor } of rows) countOf(this.#sequences.waitingOf, sensor.id, -1);
    this.#forget();
    return true;
  }

  /**
   * Creates new entries for batches whose entries the log has lost. `lasts` are the last sequences of the
   * batches. Must be called within a transaction.
   */
  logAgain(lasts: readonly number[], outbox: Pick<Outbox, 'add'>, nowMs: number): void {
    for (const last of lasts) {
      const batch = this.#tables.receiptBatches.get(last);
      if (batch !== undefined) this.#log(batch.first, last + 1, outbox, nowMs);
    }
  }

  /**
   * Puts an entry that covers the receipts `first` ≤ sequence < `end` into the outbox. Returns the receipts
   * that are not damaged.
   */
  #log(
    first: number,
    end: number,
    outbox: Pick<Outbox, 'add'>,
    nowMs: number,
  ): Pick<StoredReceipt['receipt'], 'sensor'>[] {
    const stored = Array.from({ length: end - first }, (_, i) => this.#tables.receipts.get(first + i));
    const rows = stored.filter((row) => row !== undefined);
    if (rows.length === 0) return rows;
    // A damaged receipt still has a leaf, with a hash that no receipt can have.
    const hashes = Buffer.concat(
      stored.map((row) => leafHash(sha256, row === undefined ? new Uint8Array() : receiptBytes(row))),
    );
    const entryId = uuid7(nowMs);
    const data = {
      count: stored.length,
      receipts_root: bytesToHex(rootOf(sha256, hashes)),
      first_received: rows[0]!.received_at,
      last_received: rows.at(-1)!.received_at,
    };
    // The subject is the first receipt.
    outbox.add(criticalEvent('ingest.receipted', rows[0]!.id, data, 'system'), nowMs, undefined, entryId);
    this.#tables.receiptBatches.putSync(end - 1, { first, entry_id: entryId, hashes });
    return rows;
  }

  /** Removes the oldest batches while there are too many receipts. */
  #forget(): void {
    const { receipts, receiptIds, receiptBatches } = this.#tables;
    for (const last of [...receiptBatches.getKeys({ limit: 2 })]) {
      if (this.#sequences.last - this.#sequences.first < this.#max || last === this.#sequences.covered) return;
      for (const seq of [...receipts.getKeys({ start: this.#sequences.first, end: last + 1 })]) {
        const id = receipts.get(seq)?.id;
        if (id !== undefined) receiptIds.removeSync(id);
        receipts.removeSync(seq);
      }
      receiptBatches.removeSync(last);
      this.#sequences.first = last + 1;
    }
  }
}

function countOf(counts: Map<string, number>, id: string, more: number): void {
  const count = (counts.get(id) ?? 0) + more;
  if (count === 0) counts.delete(id);
  else counts.set(id, count);
}

/**
 * Returns a receipt with its position in the entry that covers it. Reads at most limits.maxReceiptsPerEntry
 * hashes.
 */
export function getReceipt(tables: ReceiptTables, id: string): StoredReceipt | undefined {
  const seq = tables.receiptIds.getStrict(canonicalUuid(id) ?? '');
  const receipt = seq === undefined ? undefined : tables.receipts.getStrict(seq);
  if (seq === undefined || receipt === undefined) return undefined;
  for (const { value } of tables.receiptBatches.getRange({ start: seq, limit: 1 })) {
    const { first, entry_id, hashes } = value;
    const size = hashes.length / hashBytes;
    const path = pathOf(sha256, hashes, seq - first);
    const batch = { entry_id, leaf_index: seq - first, tree_size: size, audit_path: path.map(bytesToHex) };
    return { receipt, batch };
  }
  return { receipt };
}

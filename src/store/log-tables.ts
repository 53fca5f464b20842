import type { ReceiptStatement } from '../contract/resources/receipt.ts';
import { type OpenTables, table } from '../database/rows.ts';
import type { ReceiptBatch } from './receipts.ts';
import type { EntryPosition, LogLife, OutboxRow } from './store.ts';

export const logTables = {
  /** sequence → row */
  outbox: table<OutboxRow, number>('outbox', { original: true }),
  /** entry id → sequence */
  outboxIds: table<number, string>('outbox-ids', { strict: true, original: true }),
  /** 'life' → the life of the log to which `alertPlaces` refers; empty in the first life */
  logLife: table<LogLife, 'life'>('log-life', { strict: true }),
  /** 'last' → the settled entry of any kind with the highest leaf in this life of the log */
  lastEntry: table<EntryPosition, 'last'>('last-entry', { strict: true }),
  /** sequence → receipt issued for an ingest body */
  receipts: table<ReceiptStatement, number>('receipts'),
  /** receipt id → sequence */
  receiptIds: table<number, string>('receipt-ids'),
  /** sequence of the last receipt in a batch → the batch: receipts that one log entry covers */
  receiptBatches: table<ReceiptBatch, number>('receipt-batches', { strict: true }),
};

export type LogTables = OpenTables<typeof logTables>;

import { methods } from '../rpc/methods.ts';
import type { Ledger, LogReader } from './ledger.ts';

/** Methods of the ledger's thread. */
export const ledgerMethods = methods<Ledger>()([
  'append',
  'signReceipt',
  'head',
  'inclusion',
  'consistency',
  'leaf',
  'heads',
  'entries',
  'bundle',
  'checkpoint',
  'keepCheckpoint',
  'keptCheckpoint',
  'tile',
  'entryBundle',
  'keys',
  'currentKeys',
  'keyRecords',
  'rotateKey',
  'retireKey',
  'revokeKey',
  'accessTokenKeys',
  'copyTo',
  'confirmClock',
  'status',
  'reportReads',
  'close',
]);

/** Methods of the log reader's thread. */
export const logReaderMethods = methods<LogReader>()([
  'head',
  'inclusion',
  'consistency',
  'leaf',
  'heads',
  'entries',
  'bundle',
  'tile',
  'entryBundle',
  'keys',
  'currentKeys',
  'report',
  'close',
]);

/** The cells of the ledger's counters in a SharedArrayBuffer, in order. */
export const ledgerCounters = [
  /** Entries appended since the thread started. */
  'entries',
  /** Commits, each with one head and one flush. */
  'commits',
  /** Time spent in commits, including the flush, in microseconds. */
  'commit_us',
  /** Proofs served. */
  'proofs',
  /** Entries checked by the scrub since the thread started. */
  'scrubbed',
  /** Gauge: leaves in the log. */
  'size',
  /** Gauge: 1 while degraded. */
  'degraded',
] as const;
export type LedgerCounter = (typeof ledgerCounters)[number];

import { createHash } from 'node:crypto';
import { parameterOf } from '../contract/filter-term.ts';
import { invalidField } from '../errors.ts';
import type { EventFilter } from '../events/query/filter.ts';
import type { Table } from '../events/records.ts';
import type { SortOrder } from '../store/store.ts';

/** The position at which the next page of a list begins, with the state that all pages of the list share. */
export interface Cursor {
  /** Time of the last event shown. */
  readonly timestamp: number;
  /** Sequence of the last event shown. */
  readonly seq: number;
  /** Last sequence of the list. Later events were stored after the first page was read. */
  readonly lastSeq: number;
  /** Number of events of the list. */
  readonly total: number;
  /** Number of events shown so far. */
  readonly shown: number;
  /** Number of the next page. */
  readonly page: number;
}

const fields = ['timestamp', 'seq', 'lastSeq', 'total', 'shown', 'page'] as const satisfies (keyof Cursor)[];
const version = 1;
const hashBytes = 12;
const size = 1 + 8 * fields.length + 2 * hashBytes;

/**
 * Encodes a cursor as an opaque text: version, fields as f64, a hash of the query, and a hash of the previous
 * parts. The hashes detect damage and mistakes; a forged cursor reveals only data that its sender could
 * request anyway.
 */
export function writeCursor(cursor: Cursor, query: Buffer): string {
  const bytes = Buffer.alloc(size);
  bytes[0] = version;
  fields.forEach((field, i) => void bytes.writeDoubleLE(cursor[field], 1 + 8 * i));
  query.copy(bytes, size - 2 * hashBytes);
  seal(bytes).copy(bytes, size - hashBytes);
  return bytes.toString('base64url');
}

/** Decodes a cursor. Throws INVALID_REQUEST for text that `writeCursor` did not create for this query. */
export function readCursor(text: string, query: Buffer): Cursor {
  const bytes = Buffer.from(text, 'base64url');
  const sound =
    bytes.length === size &&
    bytes[0] === version &&
    bytes.toString('base64url') === text &&
    seal(bytes).equals(bytes.subarray(size - hashBytes));
  if (!sound) throw invalidField('cursor', 'is not a cursor of this service');
  if (!query.equals(bytes.subarray(size - 2 * hashBytes, size - hashBytes))) {
    throw invalidField('cursor', 'belongs to a list with another filter or order');
  }
  const values = fields.map((_, i) => bytes.readDoubleLE(1 + 8 * i));
  if (!values.every((value) => Number.isSafeInteger(value) && value >= 0)) {
    throw invalidField('cursor', 'is not a cursor of this service');
  }
  const [timestamp, seq, lastSeq, total, shown, page] = values as [number, number, number, number, number, number];
  return { timestamp, seq, lastSeq, total, shown, page };
}

/** Returns a hash that identifies a query, independent of the order of its terms and values. */
export function queryHash(table: Table, filter: EventFilter, order: SortOrder): Buffer {
  const terms = filter.terms
    .map(({ values, ...term }) => {
      const sorted = values.map((value) => JSON.stringify(value)).sort();
      return JSON.stringify([parameterOf(term), sorted]);
    })
    .sort();
  const parts = [table, order, filter.from ?? null, filter.to ?? null, filter.q ?? null, filter.min_severity ?? null];
  return digest(JSON.stringify([...parts, terms]));
}

const seal = (bytes: Buffer): Buffer => digest(bytes.subarray(0, size - hashBytes));

const digest = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest().subarray(0, hashBytes);

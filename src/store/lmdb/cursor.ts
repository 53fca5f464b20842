import { createHash } from 'node:crypto';
import { invalidField } from '../../errors.ts';
import type { EventFilter } from '../../events/filter.ts';
import type { Table } from '../../events/records.ts';
import type { SortOrder } from '../store.ts';

/** Where the next page of a list begins, with the state that all pages of the list share. */
export interface Cursor {
  /** The last event shown. */
  readonly timestamp: number;
  readonly seq: number;
  /** Later events are not in the list, because they were stored after the first page was made. */
  readonly lastSeq: number;
  readonly total: number;
  /** Events shown so far, and the number of the next page. */
  readonly shown: number;
  readonly page: number;
}

const fields = ['timestamp', 'seq', 'lastSeq', 'total', 'shown', 'page'] as const satisfies (keyof Cursor)[];
const version = 1;
const hashBytes = 12;
const size = 1 + 8 * fields.length + 2 * hashBytes;

/**
 * Encodes a cursor, an opaque text: version, fields as f64, a hash of the query that it belongs to, and a
 * hash of all that. The hashes detect damage and mistakes; a forged cursor reveals nothing that its sender
 * could not request.
 */
export function writeCursor(cursor: Cursor, query: Buffer): string {
  const bytes = Buffer.alloc(size);
  bytes[0] = version;
  fields.forEach((field, i) => void bytes.writeDoubleLE(cursor[field], 1 + 8 * i));
  query.copy(bytes, size - 2 * hashBytes);
  seal(bytes).copy(bytes, size - hashBytes);
  return bytes.toString('base64url');
}

/** Decodes a cursor. INVALID_REQUEST for text that `writeCursor` did not make, or made for another query. */
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
  const [timestamp, seq, lastSeq, total, shown, page] = values as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  return { timestamp, seq, lastSeq, total, shown, page };
}

/** Identifies a query, independent of the order of its terms and values. */
export function queryHash(table: Table, filter: EventFilter, order: SortOrder): Buffer {
  const terms = filter.terms
    .map(({ field, values, negated }) => {
      const sorted = values.map((value) => JSON.stringify(value)).sort();
      return JSON.stringify(negated === true ? [field, sorted, 'not'] : [field, sorted]);
    })
    .sort();
  const parts = [
    table,
    order,
    filter.from ?? null,
    filter.to ?? null,
    filter.q ?? null,
    filter.min_severity ?? null,
  ];
  return digest(JSON.stringify([...parts, terms]));
}

const seal = (bytes: Buffer): Buffer => digest(bytes.subarray(0, size - hashBytes));

const digest = (data: string | Buffer): Buffer =>
  createHash('sha256').update(data).digest().subarray(0, hashBytes);

import { createHash } from 'node:crypto';
import { parameterOf } from '../../contract/filter-term.ts';
import { invalidField } from '../../errors.ts';
import type { ListQuery } from '../../store/store.ts';
import type { ListPosition } from './order.ts';

/** The position after which a list continues, and its page number. */
interface ListCursor extends ListPosition {
  readonly page: number;
}

const version = 2;
const hashBytes = 12;
const headBytes = 1 + 2 * hashBytes;
/** Maximum length of an id. Ids are UUIDs; much longer texts could not be keys of a table. */
const maxIdLength = 100;

/**
 * Encodes a cursor as an opaque text: version, a hash of the rest, a hash of the list, and the position as JSON.
 * The hashes detect damage and mistakes; a forged cursor reveals only data that its sender could request
 * anyway.
 */
export function writeListCursor({ value, id, page }: ListCursor, list: Buffer): string {
  const rest = Buffer.concat([list, Buffer.from(JSON.stringify([value ?? null, id, page]))]);
  return Buffer.concat([Buffer.of(version), digest(rest), rest]).toString('base64url');
}

/** Decodes a cursor. Throws INVALID_REQUEST for text that `writeListCursor` did not create for this list. */
export function readListCursor(text: string, list: Buffer): ListCursor {
  const bytes = Buffer.from(text, 'base64url');
  const sound =
    bytes.length > headBytes &&
    bytes[0] === version &&
    bytes.toString('base64url') === text &&
    digest(bytes.subarray(1 + hashBytes)).equals(bytes.subarray(1, 1 + hashBytes));
  if (!sound) throw notOurs();
  if (!list.equals(bytes.subarray(1 + hashBytes, headBytes)))
    throw invalidField('cursor', 'belongs to a list with another filter or order');
  return positionIn(bytes.subarray(headBytes).toString('utf8'));
}

/**
 * Returns a hash that identifies a list by its kind and query, independent of the page and of the order of
 * terms and values.
 */
export function listHash(kind: string, { from, to, q, min_severity, terms, sort, order }: ListQuery): Buffer {
  const wanted = terms
    .map(({ values, ...term }) => {
      const sorted = values.map((value) => JSON.stringify(value)).sort();
      return JSON.stringify([parameterOf(term), sorted]);
    })
    .sort();
  const parts = [kind, sort, order, from ?? null, to ?? null, q ?? null, min_severity ?? null, wanted];
  return digest(JSON.stringify(parts));
}

/** Parses and validates the position, because the hashes can be forged. */
function positionIn(json: string): ListCursor {
  let parts: unknown;
  try {
    parts = JSON.parse(json);
  } catch {
    throw notOurs();
  }
  if (!Array.isArray(parts) || parts.length !== 3) throw notOurs();
  const [value, id, page] = parts as readonly unknown[];
  if (
    (value !== null && typeof value !== 'number' && typeof value !== 'string') ||
    typeof id !== 'string' ||
    id.length > maxIdLength ||
    typeof page !== 'number' ||
    !Number.isSafeInteger(page) ||
    page < 1
  )
    throw notOurs();
  return { value: value ?? undefined, id, page };
}

const notOurs = () => invalidField('cursor', 'is not a cursor of this service');

const digest = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest().subarray(0, hashBytes);

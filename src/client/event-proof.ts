import { derivedAttributes, storedForm } from '../contract/event-digest.ts';
import { type DecodedPiece, decodePiece, type PieceColumn, pieceRows } from '../contract/event-piece.ts';
import { eventTables } from '../contract/vocabulary.ts';
import { caught } from '../errors.ts';
import { eventId } from '../events/event-id.ts';
import { printAddress } from '../net/ip.ts';
import { TlogError } from '../tlog/fault.ts';
import { verifyInclusion } from '../tlog/proof.ts';
import { type Hash, leafHash } from '../tlog/tree.ts';
import { base64, type Exact, hex, members, parseExact, safeInteger, string } from './exact-json.ts';
import { AuditFault } from './fault.ts';
import { sha256 } from './sha256.ts';
import { readPath, type VerifiedEntry } from './verify.ts';

type EventTable = (typeof eventTables)[number];

/** A response of `GET /api/v1/events/{table}/{id}/proof`. */
export interface EventProofFile {
  readonly event: { readonly id: string; readonly attributes: Readonly<Record<string, unknown>> };
  readonly table: EventTable;
  readonly entryId: string;
  /** The first sequence number of the range. */
  readonly firstSeq: number;
  readonly rows: number;
  readonly sequence: number;
  readonly leafIndex: number;
  readonly path: readonly Hash[];
  readonly piece: Uint8Array;
  /** The bundle of the entry as text. */
  readonly bundle: string;
}

/** An event that the log covers. */
export interface SealedEvent {
  readonly id: string;
  readonly table: EventTable;
  readonly sequence: number;
  /** The covered values. */
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Attributes that the service derived and that the entry does not cover. */
  readonly derived: readonly string[];
  /** Number of other events that the file discloses. */
  readonly neighbours: number;
}

export function looksLikeEventProof(text: string): boolean {
  return members(proofMembers(text)?.seal) !== undefined;
}

export function parseEventProof(text: string): EventProofFile | AuditFault {
  return caught(RangeError, malformed('it is nested too deeply'), () => readEventProof(text));
}

function readEventProof(text: string): EventProofFile | AuditFault {
  const fields = proofMembers(text);
  const event = members(fields?.event);
  const seal = members(fields?.seal);
  const id = string(event?.id);
  const attributes = members(event?.attributes);
  if (id === undefined || attributes === undefined) return malformed('event lacks id or attributes');
  const more = Object.keys(event!).find((name) => !['id', 'type', 'attributes'].includes(name));
  if (more !== undefined) return malformed(`event.${more}: must be omitted, because the log does not cover it`);
  if (members(fields?.proof) === undefined) return malformed('proof: must be the bundle of the entry');
  const table = eventTables.find((name) => name === seal?.table);
  if (table !== undefined && event!.type !== `${table}_event`) return malformed(`event.type: must be ${table}_event`);
  const entryId = string(seal?.entry_id);
  const piece = base64(seal?.piece);
  if (table === undefined || entryId === undefined || piece === undefined)
    return malformed('seal lacks table, entry_id or piece (base64)');
  const numbers = ['first_seq', 'rows', 'sequence', 'leaf_index'].map((name) => safeInteger(seal?.[name]));
  const [firstSeq, rows, sequence, leafIndex] = numbers;
  if (firstSeq === undefined || rows === undefined || sequence === undefined || leafIndex === undefined)
    return malformed('seal lacks first_seq, rows, sequence or leaf_index');
  const treeSize = Math.ceil(rows / pieceRows);
  if (safeInteger(seal?.tree_size) !== treeSize) return malformed(`seal.tree_size: must be ${treeSize}`);
  const path = readPath(seal?.audit_path);
  if (path instanceof AuditFault) return malformed(path.message);
  const place = { table, entryId, firstSeq, rows, sequence, leafIndex, path, piece };
  return {
    event: { id, attributes: plain(event!.attributes) as Record<string, unknown> },
    ...place,
    bundle: writeExact(fields!.proof!),
  };
}

/**
 * Checks that the verified entry covers the event in the file: the piece is in the tree of the range, and the
 * event has the values of its row.
 */
export function verifySealedEvent(
  file: EventProofFile,
  { entry }: Pick<VerifiedEntry, 'entry'>,
): SealedEvent | AuditFault {
  const { table, firstSeq, rows, sequence, leafIndex, path, piece: bytes } = file;
  const { id, kind } = entry;
  const ranges = members((entry as { data?: Exact }).data)?.ranges;
  const range = (Array.isArray(ranges) ? ranges : [])
    .map(members)
    .find((one) => one?.table === table && one.first_seq === firstSeq && one.rows === rows);
  const root = hex(range?.events_root as Exact | undefined, 32);
  if (id !== file.entryId || kind !== 'events.sealed' || root === undefined)
    return new AuditFault(
      'NOT_INCLUDED',
      `entry ${id} (${kind}) does not cover ${table} events ${firstSeq} to ${firstSeq + rows - 1}`,
    );
  try {
    const leaf = leafHash(sha256, bytes);
    const treeSize = Math.ceil(rows / pieceRows);
    verifyInclusion(sha256, { leafIndex, treeSize, leafHash: leaf, path, root });
  } catch (error) {
    if (!(error instanceof TlogError)) throw error;
    return new AuditFault(
      'NOT_INCLUDED',
      `the piece of event ${file.event.id} is not covered by entry ${id}: ${error.message}`,
    );
  }
  const piece = decodePiece(bytes);
  const start = firstSeq + leafIndex * pieceRows;
  if (piece === undefined) return malformed('piece: must have the documented format');
  if (piece.table !== table || piece.firstSeq !== start)
    return new AuditFault(
      'NOT_INCLUDED',
      `the piece has ${piece.table} events from ${piece.firstSeq} on, not ${table} events from ${start} on`,
    );
  const row = sequence - start;
  if (row < 0 || row >= piece.rows) return malformed(`seal.sequence: must be in the piece (got ${sequence})`);
  return compareEvent(file, piece, row);
}

function compareEvent(
  { event, table, sequence }: EventProofFile,
  piece: DecodedPiece,
  row: number,
): SealedEvent | AuditFault {
  const wrong = (difference: string) =>
    new AuditFault('WRONG_EVENT', `event ${event.id} differs from the stored one: ${difference}`);
  const stored = new Map(
    piece.columns
      .map((column): [string, unknown] => [column.name, apiValue(column, row)])
      .filter(([, value]) => value !== undefined),
  );
  const ids = piece.columns.find(({ name }) => name === 'id')?.values ?? [];
  const id = ids[row] ?? eventId(table, Date.parse(String(stored.get('timestamp'))), sequence);
  if (id !== event.id) return wrong(`the stored id is ${id}`);
  if (ids.some((other, at) => other === id && at !== row))
    return malformed('piece: must contain the id of the event exactly once');
  stored.delete('id');
  if (stored.get('answers') === null) return malformed('piece: answers must be valid JSON');
  const attributes = Object.fromEntries(stored);
  const derived: string[] = [];
  for (const [name, value] of Object.entries(storedForm(event.attributes))) {
    const storedValue = stored.get(name);
    if (storedValue !== undefined && JSON.stringify(storedValue) === JSON.stringify(value)) stored.delete(name);
    else if (storedValue === undefined && (derivedAttributes.includes(name) || name === 'community_id'))
      derived.push(name);
    else
      return wrong(storedValue === undefined ? `it has no ${name}` : `its ${name} is ${JSON.stringify(storedValue)}`);
  }
  const [missing] = stored.keys();
  if (missing !== undefined) return wrong(`${missing} is missing`);
  return { id: event.id, table, sequence, attributes, derived, neighbours: piece.rows - 1 };
}

/** Formats a stored value as the API does. */
function apiValue({ name, kind, values }: PieceColumn, row: number): unknown {
  const value = values[row];
  if (value === undefined) return undefined;
  if (kind === 't') return apiTime(value as number);
  if (kind === 'b') return value === 1;
  if (kind === 'a') return printAddress(value as Uint8Array);
  // Answers are stored as JSON.
  return name === 'answers' ? (plain(parseExact(value as string)) ?? null) : value;
}

function apiTime(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString();
}

/**
 * Returns the members of the object with `seal`, at the top level or in the API's envelope; undefined if the text is
 * not a JSON object.
 */
function proofMembers(text: string): Readonly<Record<string, Exact | undefined>> | undefined {
  const fields = members(parseExact(text));
  return members(members(fields?.data)?.attributes) ?? fields;
}

/** Converts numbers to doubles, as events use, and sorts members by name. */
function plain(value: Exact | undefined): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(plain);
  const fields = members(value);
  if (fields === undefined) return value;
  const sorted = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, member]) => [name, plain(member)]));
}

/** Serializes JSON with exact integers. */
function writeExact(value: Exact): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(writeExact).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${writeExact(member)}`);
  return `{${fields.join(',')}}`;
}

function malformed(reason: string): AuditFault {
  return new AuditFault('MALFORMED_EVENT_PROOF', `the proof of the event is malformed: ${reason}`);
}

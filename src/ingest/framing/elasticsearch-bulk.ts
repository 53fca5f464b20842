import { isUtf8 } from 'node:buffer';
import { type BulkError, type BulkSubject, blankId, bulkWriter } from '../../contract/bulk-items.ts';
import { invalidField, ServiceError } from '../../errors.ts';
import { shippedId } from '../../events/scoped-id.ts';
import { limits } from '../../limits.ts';
import { isObject } from '../fields.ts';
import type { Envelope, ItemOutcome, ItemReader } from '../item-reader.ts';
import { comma } from '../json-bytes.ts';
import type { Rejection } from '../rejection.ts';
import { Lines } from '../split.ts';
import type { BulkFraming, BulkItems } from './framing.ts';

/** JSON texts separated by commas, as bytes, and the end position of each text. */
class AnswerBytes {
  #bytes = Buffer.allocUnsafeSlow(64 * 1024);
  #length = 0;
  #ends = new Uint32Array(1024);
  #count = 0;

  /** Adds a text. An empty text gets no comma. */
  add(text: string): void {
    if (text !== '') {
      // UTF-8 needs at most three bytes per UTF-16 code unit.
      const most = this.#length + text.length * 3 + 1;
      if (most > this.#bytes.length) this.#grow(most);
      if (this.#length > 0) this.#bytes[this.#length++] = comma;
      this.#length += this.#bytes.write(text, this.#length);
    }
    if (this.#count === this.#ends.length) {
      const more = new Uint32Array(this.#count * 2);
      more.set(this.#ends);
      this.#ends = more;
    }
    this.#ends[this.#count++] = this.#length;
  }

  /** Returns the JSON and the ends in separate buffers, so that they can be transferred. */
  finish(): { readonly json: ArrayBuffer; readonly ends: Uint32Array } {
    const json = new Uint8Array(this.#bytes.subarray(0, this.#length)).buffer;
    return { json, ends: this.#ends.slice(0, this.#count) };
  }

  #grow(most: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(most, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

/** The action for the document on the following line. */
interface Action extends BulkSubject {
  readonly action: 'create' | 'index' | 'update' | 'delete';
  readonly envelope: Envelope | undefined;
  /** The reason why the item is refused regardless of its document. */
  readonly refused: { readonly field: string; readonly reason: string } | undefined;
}

/**
 * The body of Elasticsearch's `_bulk` (REST API, docs-bulk): alternating action lines and document lines.
 * `create` and `index` add a record; items with actions that change or delete a record are refused. Line ends
 * may be CRLF, blank lines may occur between items, and the last line needs no line ending. An invalid action line
 * fails the whole body, as in Elasticsearch, because the meaning of the following lines is unknown.
 */
export function elasticsearchBulk(bytes: Buffer, items: ItemReader, options: BulkFraming): BulkItems {
  const lines = new Lines(bytes);
  const answers = new BulkResults(options);
  let action: Action | undefined;
  let [from, to] = [0, 0];
  while (lines.next()) {
    const { start, end } = lines;
    if (start === end) continue;
    if (items.count >= limits.maxBulkItems) throw tooManyItems();
    // An action line is first compared with the previous action line, because shippers usually repeat one action:
    // comparing takes 0.1 µs, parsing ten times as long.
    if (action === undefined || bytes.compare(bytes, start, end, from, to) !== 0) {
      action = readAction(bytes, lines, options);
      [from, to] = [start, end];
    }
    const hasDocument = action.action !== 'delete' && lines.next() && lines.start < lines.end;
    if (action.refused !== undefined) {
      const { field, reason } = action.refused;
      answers.add(action, items.refuse(field, reason), undefined);
    } else if (!hasDocument) answers.add(action, items.refuse('document', 'is missing'), undefined);
    else answers.add(action, items.bytes(lines.start, lines.end, action.envelope), items.place);
  }
  return answers.finish();
}

function tooManyItems(): ServiceError {
  return new ServiceError('PAYLOAD_TOO_LARGE', `body contains more than ${limits.maxBulkItems} items`, {
    reason: 'too_many_items',
    max_items: limits.maxBulkItems,
  });
}

function readAction(bytes: Buffer, { start, end, number }: Lines, options: BulkFraming): Action {
  if (end - start > limits.maxBulkActionBytes)
    throw invalidField('body', `has an action of more than ${limits.maxBulkActionBytes} bytes in line ${number}`);
  const line = parsed(bytes.subarray(start, end));
  const [name, ...others] = isObject(line) ? Object.keys(line) : [];
  const about = isObject(line) && name !== undefined ? line[name] : undefined;
  if (!isAction(name) || others.length > 0 || !isObject(about))
    throw invalidField('body', `has no valid action in line ${number}; expected create or index with an object`);
  const index = about._index ?? options.index;
  const id = typeof about._id === 'number' ? String(about._id) : (about._id ?? undefined);
  const action = name === 'index' && about.op_type === 'create' ? 'create' : name;
  const subject = {
    action,
    index: isName(index, limits.maxIndexNameBytes) ? index : options.index,
    id: isName(id, limits.maxDocumentIdBytes) ? id : undefined,
  };
  const refused = refusal(action, index, id);
  const envelope = subject.id === undefined ? undefined : { id: shippedId(options.sender, subject.id) };
  return { ...subject, refused, envelope };
}

/** Parses JSON; returns undefined if the bytes are not JSON in UTF-8. */
function parsed(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) return undefined;
  try {
    return JSON.parse(bytes.toString());
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const actions = ['create', 'index', 'update', 'delete'] as const;
const isAction = (name: string | undefined): name is Action['action'] =>
  (actions as readonly (string | undefined)[]).includes(name);

/**
 * Returns whether a value is a name. Requires well-formed text, so that no two names have equal UTF-8 bytes.
 */
const isName = (value: unknown, maxBytes: number): value is string =>
  typeof value === 'string' && value !== '' && value.isWellFormed() && Buffer.byteLength(value) <= maxBytes;

function refusal(action: Action['action'], index: unknown, id: unknown): Action['refused'] {
  if (action === 'update' || action === 'delete')
    return { field: action, reason: 'is not possible: stored records are immutable' };
  if (!isName(index, limits.maxIndexNameBytes))
    return { field: '_index', reason: `must be a string of 1 to ${limits.maxIndexNameBytes} bytes` };
  if (id !== undefined && !isName(id, limits.maxDocumentIdBytes))
    return { field: '_id', reason: `must be a string of 1 to ${limits.maxDocumentIdBytes} bytes` };
  return undefined;
}

/** Fields of the envelope. Other fields belong to the document. */
const ofEnvelope: ReadonlySet<string> = new Set(['update', 'delete', '_index', '_id', 'document']);

function errorOf({ field, reason }: Rejection): BulkError {
  if (ofEnvelope.has(field)) return { status: 400, type: 'illegal_argument_exception', reason: `[${field}] ${reason}` };
  const what = field === 'line' ? 'document' : `field [${field}]`;
  return { status: 400, type: 'document_parsing_exception', reason: `failed to parse ${what}: ${reason}` };
}

/** Collects the parts of item results that do not depend on the commit. */
class BulkResults {
  readonly #writer: ReturnType<typeof bulkWriter>;
  readonly #withIds: boolean;
  readonly #bytes = new AnswerBytes();
  readonly #blocks: number[] = [];
  readonly #rows: number[] = [];
  readonly #creations: number[] = [];
  readonly #blanks: number[] = [];
  #failed = false;

  constructor({ fields }: BulkFraming) {
    this.#writer = bulkWriter(fields);
    this.#withIds = fields.includes('_id');
  }

  add(action: Action, outcome: ItemOutcome, row: ItemReader['place']): void {
    const place = outcome === 'created' ? row : undefined;
    const item = this.#blocks.push(place?.block ?? -1) - 1;
    this.#rows.push(place?.row ?? 0);
    this.#creations.push(action.action === 'create' ? 1 : 0);
    if (outcome === 'created') {
      const blank = this.#withIds && place !== undefined && action.id === undefined;
      if (blank) this.#blanks.push(item);
      this.#bytes.add(this.#writer.created(blank ? { ...action, id: blankId } : action));
    } else if (outcome === 'ignored') this.#bytes.add(this.#writer.noop(action));
    else {
      this.#failed = true;
      this.#bytes.add(this.#writer.failed(action, errorOf(outcome)));
    }
  }

  finish(): BulkItems {
    return {
      ...this.#bytes.finish(),
      creations: Uint8Array.from(this.#creations),
      blocks: Int32Array.from(this.#blocks),
      rows: Uint16Array.from(this.#rows),
      blanks: Uint32Array.from(this.#blanks),
      failed: this.#failed,
    };
  }
}

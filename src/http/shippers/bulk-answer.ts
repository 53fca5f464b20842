import { blankId, endsOf } from '../../contract/bulk-items.ts';
import { type EventBlock, openBlock } from '../../events/format/block.ts';
import { rowId } from '../../events/resource.ts';
import type { BulkItems } from '../../ingest/framing/framing.ts';
import type { StoredBody } from '../store-body.ts';
import type { BulkParts } from './filter-path.ts';

type Stored = Pick<StoredBody, 'blocks' | 'refused'>;

/**
 * Completes the response to a bulk request with the results of the commit: ids that already existed, and the
 * ids of the other records.
 *
 * @param tookMs - whole milliseconds
 */
export async function bulkAnswer(
  items: BulkItems,
  stored: Stored,
  parts: BulkParts,
  tookMs: number,
): Promise<Uint8Array> {
  const rows = new StoredRows(stored);
  await fillIds(items, rows);
  const { json, conflicts } =
    stored.refused.length === 0
      ? { json: Buffer.from(items.json), conflicts: false }
      : await withRefused(items, rows, parts);
  const members: (string | Buffer)[][] = [];
  if (parts.took) members.push([`"took":${tookMs}`]);
  // Shippers search for these exact bytes, without a space.
  if (parts.errors) members.push([`"errors":${items.failed || conflicts}`]);
  if (parts.items && (json.length > 0 || parts.fields.length > 1)) members.push(['"items":[', json, ']']);
  const pieces = members.flatMap((member, n) => (n === 0 ? member : [',', ...member]));
  return Buffer.concat(['{', ...pieces, '}'].map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)));
}

/** Number of items processed per iteration of the event loop. Each item takes the main thread 1 to 3 µs. */
const itemsInTurn = 2000;

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Writes the ids of stored rows into the item results that have a placeholder. */
async function fillIds({ json, ends, blanks, blocks, rows: rowOf }: BulkItems, rows: StoredRows): Promise<void> {
  const bytes = Buffer.from(json);
  for (const [n, item] of blanks.entries()) {
    if (n % itemsInTurn === itemsInTurn - 1) await nextTurn();
    const id = rows.idOf(blocks[item]!, rowOf[item]!);
    if (id !== undefined) bytes.write(id, bytes.indexOf(blankId, startOf(ends, item)), 'latin1');
  }
}

/** Returns the results of all items, rewritten for ids that already existed, and whether such an id failed an item. */
async function withRefused(
  items: BulkItems,
  rows: StoredRows,
  { fields }: BulkParts,
): Promise<{ readonly json: Buffer; readonly conflicts: boolean }> {
  const bytes = Buffer.from(items.json);
  const { created, noop, conflict } = endsOf(fields);
  const pieces: Buffer[] = [];
  let conflicts = false;
  for (let item = 0; item < items.ends.length; item++) {
    if (item % itemsInTurn === itemsInTurn - 1) await nextTurn();
    const said = bytes.subarray(startOf(items.ends, item), items.ends[item]);
    const isStored = items.blocks[item]! < 0 || rows.has(items.blocks[item]!, items.rows[item]!);
    const mustCreate = items.creations[item] === 1;
    if (!isStored && mustCreate) conflicts = true;
    const told = isStored
      ? said
      : rewrittenResult(said, mustCreate ? 'create' : 'index', created, mustCreate ? conflict : noop);
    if (told.length === 0) continue;
    if (pieces.length > 0) pieces.push(comma);
    pieces.push(told);
  }
  return { json: Buffer.concat(pieces), conflicts };
}

const comma = Buffer.from(',');

/** Replaces the final members of an item's result. */
function rewrittenResult(said: Buffer, action: string, before: string, now: string): Buffer {
  if (said.length === 0) return Buffer.from(now === '' ? '' : `{"${action}":{${now}}}`);
  const subject = said.toString('utf8', 0, said.length - Buffer.byteLength(before) - 2).replace(blankMember, '');
  const open = subject.endsWith(',') || subject.endsWith('{') ? subject : `${subject},`;
  const text = `${open}${now}`;
  return Buffer.from(`${text.endsWith(',') ? text.slice(0, -1) : text}}}`);
}

/** The member with the placeholder. Results of records whose sender chose the id do not have this member. */
const blankMember = `"_id":"${blankId}",`;

/** Returns the offset of an item's result, after the comma that follows the previous item. */
function startOf(ends: Uint32Array, item: number): number {
  const before = item === 0 ? 0 : ends[item - 1]!;
  return before === 0 || before === ends[item] ? before : before + 1;
}

/** Finds the rows of a body's blocks after the commit. */
class StoredRows {
  readonly #blocks: StoredBody['blocks'];
  /**
   * Row numbers in the stored block by row numbers in the submitted block, for blocks of which some rows were
   * not stored.
   */
  readonly #moved: ReadonlyMap<number, ReadonlyMap<number, number>>;
  /** Blocks of which no row was stored. They are missing from the result of the commit. */
  readonly #lost: readonly number[];
  readonly #opened = new Map<number, EventBlock>();

  constructor({ blocks, refused }: Stored) {
    this.#blocks = blocks;
    this.#moved = new Map(
      refused.map(({ block, kept }) => [block, new Map(Array.from(kept, (row, now) => [row, now]))]),
    );
    this.#lost = refused.filter(({ kept }) => kept.length === 0).map(({ block }) => block);
  }

  has(block: number, row: number): boolean {
    const moved = this.#moved.get(block);
    return moved === undefined || moved.has(row);
  }

  /** Returns the id of a row; undefined if the row was not stored. */
  idOf(block: number, row: number): string | undefined {
    const moved = this.#moved.get(block);
    const now = moved === undefined ? row : moved.get(row);
    return now === undefined ? undefined : rowId(this.#open(block), now);
  }

  #open(block: number): EventBlock {
    let opened = this.#opened.get(block);
    if (opened === undefined) {
      const { buffer, first_seq } = this.#blocks[block - this.#lost.filter((lost) => lost < block).length]!;
      opened = openBlock(buffer, first_seq);
      this.#opened.set(block, opened);
    }
    return opened;
  }
}

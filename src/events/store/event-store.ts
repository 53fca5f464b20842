import { writeList } from '../../contract/json-list.ts';
import type { DnsEvent } from '../../contract/resources/dns-event.ts';
import type { Histogram } from '../../contract/resources/histogram.ts';
import type { NetworkEvent } from '../../contract/resources/network-event.ts';
import type { ValueCounts } from '../../contract/resources/value-counts.ts';
import { boundsOnlyTime } from '../../database/lists/filter.ts';
import { isReadOnly, type RootDatabase } from '../../database/lmdb.ts';
import { queryHash, readCursor, writeCursor } from '../../database/page-cursor.ts';
import { DamagedDataError } from '../../database/rows.ts';
import { limits } from '../../limits.ts';
import type {
  CommittedBlock,
  EventExportColumns,
  EventExportPart,
  EventExportQuery,
  EventHistogramQuery,
  EventListQuery,
  EventValuesQuery,
  ListPage,
  Replay,
} from '../../store/store.ts';
import { isUuid } from '../../uuid.ts';
import { type AssetLookup, noAssets } from '../asset-lookup.ts';
import { parseEventId } from '../event-id.ts';
import { type EventRow, type EventValue, eventValues } from '../event-values.ts';
import { type EventBlock, openBlock } from '../format/block.ts';
import { BlockAssets } from '../format/block-assets.ts';
import { BlockBuilder } from '../format/block-builder.ts';
import { tables } from '../format/columns.ts';
import { countValues } from '../query/count-values.ts';
import type { EventFilter } from '../query/filter.ts';
import { compileFilter } from '../query/select.ts';
import type { Table } from '../records.ts';
import { readEvent, rowId, writeEventJson } from '../resource.ts';
import { BlockCounts } from './block-counts.ts';
import { BlockDirectory, receivedColumn } from './block-directory.ts';
import { BlockStore, explicitIdCount, firstSeqOf, storedBytes, type TableState } from './block-store.ts';
import { DamagedBlockError, type DamagedRange, mayLieIn } from './damaged-range.ts';
import { eventHistogram } from './event-histogram.ts';
import { EventIds, isPast, requireId } from './event-ids.ts';
import { EventQuery, type Position } from './event-query.ts';
import { eventValueCounts } from './event-value-counts.ts';
import { believedTime, type OldBlock } from './expiry.ts';
import { withoutRepeated } from './explicit-ids.ts';
import { IdKeys } from './id-keys.ts';
import { type Choice, chooseRuns, mergeBlocks } from './merge.ts';

/** The result of appending a block. */
export interface Appended {
  readonly committed: CommittedBlock;
  /**
   * Number of rows that were rejected because their sensor already sent an event with the same explicit id, in the
   * store or in the block.
   */
  readonly duplicates: number;
  /**
   * The stored rows of the given block, in order; row n of `committed` was row `kept[n]`. Absent if all rows
   * were stored.
   */
  readonly kept?: Uint32Array;
}

/** Adjacent blocks of a table. */
export interface BlockRun {
  readonly table: Table;
  readonly firstSeqs: readonly number[];
  /** Number of rows of each block. */
  readonly rows: readonly number[];
}

/**
 * The events in siem.mdb. `append`, `smallBlocks`, `replace`, `dropOldest` and `forgetIds` are for the store thread;
 * reads work in any thread, each synchronously on the newest snapshot. An instance belongs to one thread.
 */
export class EventStore {
  readonly #store: BlockStore;
  readonly #ids: EventIds;
  readonly #assets: AssetLookup;
  readonly #isWriter: boolean;
  readonly #counts = new BlockCounts();
  #directories = newDirectories();

  /**
   * @param cancelled - polled between blocks by reads, which end with CANCELLED when it returns true
   * @param assets - assets in the snapshot that is read
   */
  constructor(env: RootDatabase, cancelled?: () => boolean, assets: AssetLookup = noAssets) {
    this.#isWriter = !isReadOnly(env);
    this.#store = new BlockStore(env, cancelled);
    this.#ids = new EventIds(this.#store, (table) => this.#directories[table]);
    this.#assets = assets;
  }

  /**
   * Stores a block and gives its rows the next sequences of its table. Must be called in a write transaction. The
   * buffer is returned in `committed`, unless rows were rejected or renamed. In that case, `committed` has a new
   * block, which has no rows if all rows were rejected.
   *
   * An explicit id belongs to the sensor that sent it first. A row whose id exists is a duplicate if both events are
   * from the same sensor, or if either sensor is unknown. Otherwise, the row is stored under `scopedId`.
   *
   * An id that this service gave to an event is never reused, even after retention has removed the event,
   * because alerts and log entries refer to it. An id chosen by a sender may be reused after the removal.
   */
  append(buffer: ArrayBuffer): Appended {
    return this.#sound(() => this.#append(buffer));
  }

  /** Estimates the number of bytes that a transaction writes to append these blocks. */
  bytesToWrite(buffers: readonly ArrayBuffer[]): number {
    let bytes = 0;
    let ids = 0;
    for (const buffer of buffers) {
      bytes += buffer.byteLength;
      ids += explicitIdCount(openBlock(buffer, 0).header);
    }
    return bytes + this.#store.idPagesBytes(ids);
  }

  #append(buffer: ArrayBuffer): Appended {
    const block = openBlock(buffer, 0);
    const { table } = block;
    const state = this.#store.state(table);
    const firstSeq = state.next_seq;
    const ids = new IdKeys(block);
    const unrepeated = withoutRepeated(block, ids, this.#ids.stored(table, state, ids));
    const { kept, renamed } = unrepeated;
    const stored = kept === undefined && renamed.size === 0 ? buffer : rebuilt(block, kept, renamed);
    const rows = kept === undefined ? block.rows : kept.length;
    const committed = { table, first_seq: firstSeq, rows, buffer: stored };
    if (rows > 0) {
      this.#store.put(firstSeq, stored);
      this.#ids.put(table, firstSeq, rows, ids, unrepeated);
      this.#store.putState(table, {
        ...state,
        next_seq: firstSeq + rows,
        rows: state.rows + rows,
        blocks: state.blocks + 1,
        bytes: state.bytes + storedBytes(openBlock(stored, 0).header),
      });
    }
    return kept === undefined ? { committed, duplicates: 0 } : { committed, duplicates: block.rows - rows, kept };
  }

  /** Returns at most `most` runs of small blocks of a table that are worth merging (see `chooseRuns`). */
  smallBlocks(table: Table, choice: Choice = {}, most = 1): BlockRun[] {
    return this.#sound(() => {
      const { directory } = this.#snapshot(table);
      return chooseRuns(directory, limits.maxBlockRows, choice, most).map(({ from, to }) => ({
        table,
        firstSeqs: [...directory.firstSeq.subarray(from, to)],
        rows: [...directory.rows.subarray(from, to)],
      }));
    });
  }

  /**
   * Returns blocks with the rows of a run. Works in any thread.
   *
   * @throws DamagedBlockError if a block is damaged or no longer stored
   */
  merged({ table, firstSeqs, rows }: BlockRun): ArrayBuffer[] {
    this.#store.refresh();
    const merged = mergeBlocks(firstSeqs.map((firstSeq, i) => this.#store.open(table, firstSeq, rows[i]!)));
    // An old snapshot would keep the pages that the store frees.
    this.#store.refresh();
    return merged;
  }

  /**
   * Replaces the blocks of a run with the result of `merged`, within a transaction, unless the stored blocks have
   * changed since `smallBlocks`. Ids and sequences do not change, and readers keep their snapshot.
   */
  replace({ table, firstSeqs, rows }: BlockRun, blocks: readonly ArrayBuffer[]): void {
    this.#sound(() => {
      const { directory } = this.#known(table);
      const from = directory.find(firstSeqs[0]!);
      const to = from + firstSeqs.length;
      if (from < 0 || to > directory.count) return;
      if (rows.some((count, i) => directory.rows[from + i] !== count)) return;
      if (firstSeqs.some((firstSeq, i) => directory.firstSeq[from + i] !== firstSeq)) return;
      const old = firstSeqs.map((firstSeq, i) => this.#store.open(table, firstSeq, rows[i]!));
      this.#store.replace(old, blocks);
    });
  }

  /**
   * Returns the oldest stored block of a table; undefined if the table is empty. Can also be called in a
   * transaction.
   *
   * @param nowMs - used to check when the block was received (see `believedTime`)
   */
  oldest(table: Table, nowMs: number): OldBlock | undefined {
    return this.#sound(() => {
      const { directory, state } = this.#known(table);
      if (directory.count === 0) return undefined;
      const { header, firstSeq } = this.#store.open(table, directory.firstSeq[0]!, directory.rows[0]!);
      const received = believedTime(directory, nowMs);
      return {
        table,
        from: firstSeq,
        to: firstSeq + header.rows,
        receivedFrom: Math.min(header.min(receivedColumn[table]), received),
        received,
        bytes: storedBytes(header),
        tableBytes: state.bytes,
      };
    });
  }

  /** Returns when the newest event was received, epoch milliseconds; undefined without events. */
  newestReceived(): number | undefined {
    const newest = tables
      .map((table) => this.#sound(() => this.#known(table).directory))
      .filter(({ count }) => count > 0)
      .map(({ received, count }) => received[count - 1]!);
    return newest.length === 0 ? undefined : Math.max(...newest);
  }

  /**
   * Removes the oldest block of a table, within a transaction. `forgetIds` removes its explicit ids later.
   */
  dropOldest(table: Table): void {
    const { directory, state } = this.#known(table);
    const { header, firstSeq } = this.#store.open(table, directory.firstSeq[0]!, directory.rows[0]!);
    this.#store.retire(firstSeq, header);
    this.#store.removeDamaged(table, firstSeq);
    this.#store.putState(table, {
      ...state,
      rows: state.rows - header.rows,
      blocks: state.blocks - 1,
      bytes: state.bytes - storedBytes(header),
      first_seq: firstSeq + header.rows,
    });
  }

  /** Number of removed blocks whose explicit ids are still in the index. */
  get retiredBlockCount(): number {
    return this.#store.retiredBlockCount();
  }

  /** Removes explicit ids of removed blocks from their index, until `isOver` returns true, within a transaction. */
  forgetIds(isOver: () => boolean): void {
    this.#ids.forget(isOver);
  }

  /** Verifies the block that contains a sequence, in a transaction. Sets a damaged block aside, and returns true. */
  check(table: Table, seq: number): boolean {
    try {
      const { directory } = this.#known(table);
      const place = directory.find(seq);
      if (place >= 0) this.#store.verify(table, directory.firstSeq[place]!);
      return false;
    } catch (error) {
      if (!(error instanceof DamagedBlockError)) throw error;
      this.#setAside(error);
      return true;
    }
  }

  /** Returns the damaged ranges that are left out and may contain events between these times. */
  damage(table: Table, from?: number, to?: number): DamagedRange[] {
    return this.#store.damage(table).filter((range) => mayLieIn(range, from, to));
  }

  /** Forgets state read inside an aborted transaction. */
  reload(): void {
    this.#directories = newDirectories();
    this.#ids.reload();
    this.#store.forget();
  }

  list(query: EventListQuery): ListPage {
    const { table, filter, order, per_page } = query;
    const compiled = compileFilter(table, filter, this.#assets);
    const hash = queryHash(table, filter, order);
    const cursor = query.cursor === undefined ? undefined : readCursor(query.cursor, hash);
    const { directory, state } = this.#snapshot(table);
    const lastSeq = cursor?.lastSeq ?? state.next_seq - 1;
    const search = new EventQuery(this.#store, directory, compiled, order, lastSeq);
    let found: Position[];
    let total: number;
    let shown: number;
    if (cursor === undefined) {
      const counts = this.#countsOf(filter, hash, directory, search);
      total = counts.reduce((sum, count) => sum + count, 0);
      shown = (query.page - 1) * per_page;
      found = search.at(shown, per_page, counts, total);
    } else {
      ({ total, shown } = cursor);
      found = search.after(cursor, per_page);
    }
    shown += found.length;
    const page = cursor?.page ?? query.page;
    const last = found.at(-1);
    const json = writeList(this.#written(directory, search, found), 'array');
    if (last === undefined || found.length < per_page || shown >= total) return { json, total, page };
    return {
      json,
      total,
      page,
      next_cursor: writeCursor({ ...last, lastSeq, total, shown, page: page + 1 }, hash),
    };
  }

  /**
   * Returns the number of matching rows of each block. The numbers are cached for repeated queries, except for
   * filters that bound only time: for these, the directory provides most numbers.
   */
  #countsOf(filter: EventFilter, hash: Buffer, directory: BlockDirectory, search: EventQuery): Float64Array {
    if (boundsOnlyTime(filter)) return search.countsWithin(filter);
    // The owners of addresses change, so counts by asset are valid only for one generation of assets.
    const byAsset = filter.terms.some(({ field }) => field.endsWith('asset_id'));
    const assets = byAsset ? this.#assets.generation() : 0;
    return this.#counts.of(`${hash.toString('latin1')} ${assets}`, directory, (block) => search.count(block));
  }

  /**
   * Returns a part of an export: at most `size` events that follow the position in `query`. Stops after reading about
   * `scanRows` rows, at the end of a block.
   */
  export(
    query: EventExportQuery,
    size: number = limits.maxPerPage,
    scanRows: number = limits.exportScanRows,
  ): EventExportPart {
    const { directory, search, found, next } = this.#sweep(query, size, scanRows);
    const lines = writeList(this.#written(directory, search, found), 'lines');
    return next === undefined ? { lines } : { lines, next };
  }

  /** Like `export`, but returns columns: the values of each requested attribute. */
  exportColumns(
    query: EventExportQuery,
    attributes: readonly string[],
    size: number = limits.maxPerPage,
    scanRows: number = limits.exportScanRows,
  ): EventExportColumns {
    const { directory, search, found, next } = this.#sweep(query, size, scanRows);
    const readers = attributes.map((attribute) => eventValues(query.table, attribute));
    const columns = attributes.map(() => new Array<EventValue>(found.length));
    this.#visit(directory, search, found, (row, index) => {
      for (let i = 0; i < readers.length; i++) columns[i]![index] = readers[i]!(row);
    });
    const part = { count: found.length, columns };
    return next === undefined ? part : { ...part, next };
  }

  #sweep({ table, filter, order, place }: EventExportQuery, size: number, scanRows: number) {
    const compiled = compileFilter(table, filter, this.#assets);
    const { directory, state } = this.#snapshot(table);
    const lastSeq = place?.lastSeq ?? state.next_seq - 1;
    const search = new EventQuery(this.#store, directory, compiled, order, lastSeq);
    const { found, next } = search.sweep(place, size, scanRows);
    return { directory, search, found, next: next && { ...next, lastSeq } };
  }

  histogram(query: EventHistogramQuery): Histogram {
    const compiled = compileFilter(query.table, query.filter, this.#assets);
    const { directory } = this.#snapshot(query.table);
    return eventHistogram(this.#store, directory, compiled, query);
  }

  valueCounts(query: EventValuesQuery): ValueCounts {
    const { table, filter, by } = query;
    const compiled = compileFilter(table, filter, this.#assets);
    const { directory } = this.#snapshot(table);
    return eventValueCounts(this.#store, directory, compiled, countValues(table, by, this.#assets), query);
  }

  /** Returns whether this service gave the id to an event that is no longer stored. */
  isPast(table: Table, id: string): boolean {
    this.#store.refresh();
    return isPast(table, this.#store.state(table), id);
  }

  /** Returns the event with an id; undefined if there is no such event. */
  get(table: Table, id: string): NetworkEvent | DnsEvent | undefined {
    return this.find(table, id)?.attributes;
  }

  /** Like `get`, with the event's sequence. */
  find(table: Table, id: string): { readonly seq: number; readonly attributes: NetworkEvent | DnsEvent } | undefined {
    if (!isUuid(id)) return undefined;
    const { directory, state } = this.#snapshot(table);
    const wanted = id.toLowerCase();
    const made = parseEventId(wanted);
    const found = this.#ids.find(table, directory, state, wanted);
    const seq = found ?? (made?.table === table ? made.seq : undefined);
    if (seq === undefined) return undefined;
    if (directory.find(seq) < 0) this.#failInDamage(table, seq, id);
    const block = this.#ids.blockOf(directory, seq);
    if (block === undefined) return undefined;
    if (found !== undefined) requireId(block, seq, wanted);
    else if (rowId(block, seq - block.firstSeq).toLowerCase() !== wanted) return undefined;
    const { attributes } = readEvent(block, seq - block.firstSeq, new BlockAssets(block, this.#assets));
    return { seq, attributes };
  }

  /**
   * Checks that an event is not in a damaged range.
   *
   * @throws DamagedDataError if the event is in a range that was set aside
   */
  #failInDamage(table: Table, seq: number, id: string): void {
    for (const { firstSeq, rows } of this.#store.damage(table))
      if (seq >= firstSeq && seq < firstSeq + rows)
        throw new DamagedDataError(`the block of ${table} event ${id}`, { table });
  }

  /**
   * Returns the event with this id as JSON, without its assets. Within a write transaction, includes the
   * events of that transaction.
   */
  resource(id: string): string | undefined {
    return this.#sound(() => {
      for (const table of tables) {
        const { directory, state } = this.#known(table);
        const seq = this.#ids.find(table, directory, state, id);
        const block = seq === undefined ? undefined : this.#ids.blockOf(directory, seq);
        if (seq === undefined || block === undefined) continue;
        requireId(block, seq, id);
        return writeEventJson(block, seq - block.firstSeq);
      }
      return undefined;
    });
  }

  /**
   * Returns events committed after `since`, oldest first, at most `limit`. If few events match, stops after
   * `scanRows` rows, so that other requests can run. In that case, `next` is the last sequence read.
   */
  replay(
    table: Table,
    since: number,
    filter: EventFilter,
    limit: number,
    scanRows: number = limits.maxReplayScanRows,
  ): Replay<NetworkEvent | DnsEvent> {
    const compiled = compileFilter(table, filter, this.#assets);
    const { directory, state } = this.#snapshot(table);
    const head = state.next_seq - 1;
    const oldest = directory.count === 0 ? state.next_seq : directory.firstSeq[0]!;
    const lost = Math.max(0, oldest - (since + 1));
    const events: { seq: number; id: string; data: NetworkEvent | DnsEvent }[] = [];
    let scanned = 0;
    for (let i = 0; i < directory.count; i++) {
      const firstSeq = directory.firstSeq[i]!;
      if (firstSeq + directory.rows[i]! <= since + 1) continue;
      const block = this.#store.open(table, firstSeq, directory.rows[i]!);
      const assets = new BlockAssets(block, this.#assets);
      for (const row of compiled.select(block)) {
        const seq = firstSeq + row;
        if (seq <= since) continue;
        if (events.length === limit) return { events, next: events.at(-1)?.seq ?? since, head, lost };
        const { id, attributes } = readEvent(block, row, assets);
        events.push({ seq, id, data: attributes });
      }
      scanned += block.rows;
      const last = firstSeq + block.rows - 1;
      if (scanned >= scanRows) return { events, next: last, head, lost };
    }
    return { events, next: head, head, lost };
  }

  /**
   * Yields the stored rows with a sequence in [from, to), ascending, one block at a time, as rows [first, end) of the
   * block. Each block is a copy that stays valid. Each row is yielded once, even if blocks are merged in between.
   * Inside a write transaction, the rows of that transaction are included.
   */
  *rows(
    table: Table,
    from: number,
    to: number = Number.POSITIVE_INFINITY,
  ): Generator<{ readonly block: EventBlock; readonly first: number; readonly end: number }> {
    for (let next = from; next < to; ) {
      const block = this.#sound(() => this.#soundFrom(table, next));
      if (block === undefined || block.firstSeq >= to) return;
      const first = Math.max(0, next - block.firstSeq);
      const end = Math.min(block.rows, to - block.firstSeq);
      next = block.firstSeq + block.rows;
      yield { block, first, end };
    }
  }

  /**
   * Passes the same rows as `rows` to `visit`, but reads and verifies only the columns that `visit` uses. After a
   * damaged block was set aside, `visit` is called again for its rows, so it must be idempotent.
   */
  visit(table: Table, from: number, to: number, visit: (block: EventBlock, first: number, end: number) => void): void {
    for (let next = from; next < to; ) {
      next = this.#sound(() => {
        const place = this.#placeFrom(table, next);
        if (place === undefined || place.firstSeq >= to) return to;
        const { firstSeq, rows } = place;
        const block = this.#store.open(table, firstSeq, rows);
        visit(block, Math.max(0, next - firstSeq), Math.min(rows, to - firstSeq));
        return firstSeq + rows;
      });
    }
  }

  /**
   * Returns the first block that ends after a sequence, fully verified, because consumers do not stop in the
   * middle of a block.
   */
  #soundFrom(table: Table, seq: number): EventBlock | undefined {
    const place = this.#placeFrom(table, seq);
    return place && this.#store.verify(table, place.firstSeq);
  }

  /** Returns the first block that ends after a sequence. */
  #placeFrom(table: Table, seq: number): { readonly firstSeq: number; readonly rows: number } | undefined {
    const { directory } = this.#known(table);
    let place = Math.max(0, directory.placeOf(seq));
    if (place < directory.count && directory.firstSeq[place]! + directory.rows[place]! <= seq) place++;
    if (place >= directory.count) return undefined;
    return { firstSeq: directory.firstSeq[place]!, rows: directory.rows[place]! };
  }

  /** Yields the blocks that may have rows with times in [from, to), epoch milliseconds, newest block first. */
  *within(table: Table, from: number, to: number): Generator<EventBlock> {
    const { directory } = this.#snapshot(table);
    for (let i = directory.count - 1; i >= 0; i--)
      if (directory.maxTime[i]! >= from && directory.minTime[i]! < to)
        yield this.#store.open(table, directory.firstSeq[i]!, directory.rows[i]!);
  }

  /** Returns the sequence of the next row of a table. Can also be called in a transaction. */
  next(table: Table): number {
    return this.#store.state(table).next_seq;
  }

  /**
   * Returns the sequence before which retention has removed all rows of a table. Can also be called in a
   * transaction.
   */
  firstStored(table: Table): number {
    return firstSeqOf(this.#store.state(table));
  }

  /** Returns the newest committed sequence; 0 without events. */
  head(table: Table): number {
    this.#store.refresh();
    return this.#store.state(table).next_seq - 1;
  }

  counts(): Record<Table, number> {
    this.#store.refresh();
    return { network: this.#store.state('network').rows, dns: this.#store.state('dns').rows };
  }

  blocks(): number {
    this.#store.refresh();
    return tables.reduce((sum, table) => sum + this.#store.state(table).blocks, 0);
  }

  /** Returns the bytes of blocks, before LMDB rounds up to pages. */
  bytes(): number {
    this.#store.refresh();
    return tables.reduce((sum, table) => sum + this.#store.state(table).bytes, 0);
  }

  /** Moves to the newest snapshot for the next reads outside a transaction. */
  refresh(): void {
    this.#store.refresh();
  }

  /**
   * Returns the bytes of events on disk, including the index of explicit ids and the remains of removed blocks. Can
   * also be called in a transaction.
   */
  diskBytes(): number {
    return this.#store.diskBytes();
  }

  /** The blocks, for integrity checks. */
  get blockStore(): BlockStore {
    return this.#store;
  }

  /** The tables of siem.mdb that hold events. */
  get databases() {
    return this.#store.databases;
  }

  /** Runs a read of the store thread. Damaged blocks are set aside, and the read is repeated. */
  #sound<T>(read: () => T): T {
    for (;;) {
      try {
        return read();
      } catch (error) {
        if (!(error instanceof DamagedBlockError) || !this.#isWriter) throw error;
        this.#store.transaction(() => this.#setAside(error));
      }
    }
  }

  #setAside({ table, firstSeq, what }: DamagedBlockError): void {
    this.#store.setAside(table, firstSeq, what);
    this.reload();
  }

  #snapshot(table: Table): { directory: BlockDirectory; state: TableState } {
    this.#store.refresh();
    return this.#known(table);
  }

  /** Like `#snapshot`, but without a new snapshot, as required within a transaction. */
  #known(table: Table): { directory: BlockDirectory; state: TableState } {
    const state = this.#store.state(table);
    const directory = this.#directories[table];
    directory.update(this.#store, state);
    return { directory, state };
  }

  /** Returns the events as JSON, in the order of `found`. */
  #written(directory: BlockDirectory, search: EventQuery, found: readonly Position[]): readonly string[] {
    const resources = new Array<string>(found.length);
    this.#visit(directory, search, found, ({ block, row, assets }, index) => {
      resources[index] = writeEventJson(block, row, assets);
    });
    return resources;
  }

  /** Visits events block by block, with only one block in memory: each event of a page may be in a different block. */
  #visit(
    directory: BlockDirectory,
    search: EventQuery,
    found: readonly Position[],
    visit: (row: EventRow, index: number) => void,
  ): void {
    const inBlocks = new Map<number, number[]>();
    for (const [index, { seq }] of found.entries()) {
      const place = placeIn(directory, seq);
      const indexes = inBlocks.get(place);
      if (indexes === undefined) inBlocks.set(place, [index]);
      else indexes.push(index);
    }
    for (const [place, indexes] of inBlocks) {
      const block = search.look(place);
      const assets = new BlockAssets(block, this.#assets);
      for (const index of indexes) visit({ block, row: found[index]!.seq - block.firstSeq, assets }, index);
    }
  }
}

function placeIn(directory: BlockDirectory, seq: number): number {
  const place = directory.find(seq);
  if (place < 0) throw new Error(`event ${seq} of ${directory.table} events is missing`);
  return place;
}

function newDirectories(): Record<Table, BlockDirectory> {
  return { network: new BlockDirectory('network'), dns: new BlockDirectory('dns') };
}

function rebuilt(
  block: EventBlock,
  rows: Uint32Array | undefined,
  renamed: ReadonlyMap<number, string | undefined>,
): ArrayBuffer {
  const builder = new BlockBuilder(block.table, 0);
  builder.copy(block, rows, renamed);
  return builder.finish();
}

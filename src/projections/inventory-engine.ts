import type { Turn } from '../database/group-commit.ts';
import { ServiceError } from '../errors.ts';
import { type EventBlock, openBlock } from '../events/format/block.ts';
import { tables as eventTables } from '../events/format/columns.ts';
import type { Table } from '../events/records.ts';
import { rowId } from '../events/resource.ts';
import type { EventStore } from '../events/store/event-store.ts';
import type { Sighting } from '../inventory/model/sighting.ts';
import { EventDispatcher, type Projection } from '../inventory/store/event-dispatcher.ts';
import type { AssetsPart, TransactionalState } from '../inventory/store/parts.ts';
import {
  type BatchSightings,
  type HostAt,
  PendingSightings,
  type Sequences,
} from '../inventory/store/pending-sightings.ts';
import { type Scanned, Services } from '../inventory/store/services.ts';
import { guarded, type ProjectionError, projectedRows, skippedIn } from '../inventory/store/skipped-events.ts';
import type { InventoryTables, SkippedEvent } from '../inventory/store/tables.ts';
import { type LimitName, limits } from '../limits.ts';
import type { IsHome } from '../net/home-networks.ts';
import type { CommittedBlock } from '../store/store.ts';
import { processedTo } from './processed-to.ts';
import { WorkBudget } from './work-budget.ts';

/** Progress of the inventory in a table of events: the first unprocessed sequence. */
export interface Checkpoint {
  readonly next_seq: number;
}

/** A position in the order in which events and sightings are processed. */
export interface StreamPosition extends Readonly<Record<Table, number>> {
  /** The newest batch of sightings before the position; see `PendingSightings`. */
  readonly sightings: number;
}

interface InventoryOptions<A extends AssetsPart> {
  readonly tables: InventoryTables;
  readonly events: EventStore;
  readonly isHome: IsHome;
  /** Creates the assets for the given services. */
  readonly assets: (services: Services) => A;
  readonly projections?: readonly Projection[];
  /** Findings of projections. The findings are written first, because writing them changes assets. */
  readonly findings?: TransactionalState;
  /** Returns the clock time, epoch milliseconds. */
  readonly now: () => number;
  /** Number of remembered connections. Default: limits.rememberedConnections. */
  readonly rememberedConnections?: number;
}

/**
 * The network inventory, derived from the stored events in the order of their sequences. The position in that
 * order is committed together with the state derived up to that position:
 *
 * ```
 *   events    … 41 42 43 44 45 46 47 48 49 50     committed with each batch
 *   position        ^                             committed with the rows of the inventory
 *   memory             43 44 45 46                changed rows, not written yet
 *   pending                        47 48 49 50    no time was left in their transactions
 * ```
 *
 * A crash or an aborted transaction discards memory, and the events from the position on are processed again,
 * so that each event is counted exactly once. If a file has no inventory yet, it is built in the same way.
 *
 * The first events of a batch are processed in its own transaction, if no earlier events wait. A batch of 60,000
 * unknown hosts takes seconds. Other events are therefore processed in transactions of their own, between the
 * transactions of batches: each processes events for limits.inventoryCountMs, or writes for limits.inventoryWriteMs.
 *
 * Methods that change state, except `catchUp`, are called in write transactions. `checkpoint` is called at
 * the end of each transaction.
 */
export class InventoryEngine<A extends AssetsPart> {
  readonly services: Services;
  readonly assets: A;
  readonly #tables: InventoryTables;
  readonly #now: () => number;
  readonly #events: EventStore;
  readonly #projections: readonly Projection[];
  readonly #findings: readonly TransactionalState[];
  readonly #dispatcher: EventDispatcher;
  /** Undefined when memory is empty: before the first use and after `forget`. */
  #position: Record<Table, number> | undefined;
  #moved = false;
  #forced = false;
  #writtenAt = Number.NEGATIVE_INFINITY;
  /** Duration of the last write, without the flush. */
  #writingMs = 0;
  readonly #pending: PendingSightings;
  /**
   * End of the current round for each table. Both tables are processed up to these ends before a new round
   * begins, so that one table does not starve while the other grows.
   */
  #round: Readonly<Record<Table, number>> | undefined;
  readonly #pace = new WorkBudget();
  /**
   * Time at which this transaction must stop processing, by performance.now(); undefined before processing
   * starts.
   */
  #deadline: number | undefined;
  /** Number of events that this transaction has processed. */
  #processedRows = 0;
  /** Number of events that this transaction processes even if no time is left, unless memory is full. */
  #minRows = 0;
  /** The block whose rows are being processed. The buffer of a received block is valid only during `take`. */
  #opened: { readonly block: EventBlock; readonly isReceived: boolean } | undefined;
  /** Number of batches that left too many events pending, so that the next batch waited. */
  #held = 0;
  /** Maximum processing and writing before the next batch, in milliseconds. */
  #holdMs = 0;
  /** End of the last checkpoint while a batch waited, by performance.now(). */
  #heldAt: number | undefined;
  /** Events whose processing failed since the start, by sequence. They are recorded when the position passes them. */
  readonly #failing: Readonly<Record<Table, Map<number, SkippedEvent>>> = { network: new Map(), dns: new Map() };
  /** Ranges of events that are processed one by one, because processing them together failed. */
  #suspects: readonly { readonly table: Table; readonly from: number; readonly to: number }[] = [];
  #skippedSightings = 0;
  /** Number of batches whose sightings were dropped after a stop. */
  #droppedSightings = 0;
  #isHalted = false;

  constructor(options: InventoryOptions<A>) {
    const { tables, events, isHome, assets, projections = [], now } = options;
    this.#tables = tables;
    this.#now = now;
    this.#events = events;
    this.#projections = projections;
    this.#findings = options.findings === undefined ? [] : [options.findings];
    this.services = new Services(tables, (id, by) => this.assets.serviceCountChanged(id, by), now);
    this.assets = assets(this.services);
    const { services } = this;
    const { rememberedConnections = limits.rememberedConnections } = options;
    this.#dispatcher = new EventDispatcher({
      assets: this.assets,
      services,
      projections,
      isHome,
      now,
      rememberedConnections,
    });
    this.#pending = new PendingSightings(tables);
  }

  /**
   * Processes all pending events, in separate transactions, so that little work is lost if the process is killed.
   *
   * @param transaction - runs in one transaction, flushed
   * @returns the delay until `checkpoint` is due, in milliseconds; undefined when nothing is pending
   */
  catchUp(transaction: (step: () => void) => void): number | undefined {
    let isDone = false;
    let settleMs: number | undefined;
    while (!isDone || this.dirty > 0)
      transaction(() => {
        guarded(() => {
          this.#position ??= this.#recall();
          this.#deadline = performance.now() + catchUpMs;
          isDone = this.#processSome([]);
          this.#endTimeSlice();
          if (isDone) settleMs = this.#settleProjections();
          if (this.dirty > 0 || this.#moved) this.write();
        });
      });
    return settleMs;
  }

  /**
   * Lets the next attempt find or skip the event or sighting that made processing fail. Called after `forget`.
   *
   * @returns what is skipped, or `retried` if the failing event is still to be found; undefined if the error cannot be
   *   attributed to an event or a sighting, or if too many are skipped
   */
  skip({ input: { rows, sighting }, message }: ProjectionError): string | undefined {
    if (sighting !== undefined) {
      if (this.#skippedSightings++ >= limits.maxSkippedEvents) return undefined;
      this.#dispatcher.skip(sighting);
      return `sighting ${JSON.stringify(sighting)}`;
    }
    if (rows === undefined) return undefined;
    const { block, first, end } = rows;
    const { table } = block;
    const from = block.firstSeq + first;
    const suspects = this.#suspects.filter((range) => range.to > this.#written(range.table));
    if (end - first > 1) {
      this.#suspects = [...suspects, { table, from, to: block.firstSeq + end }];
      return 'retried';
    }
    const id = rowId(block, first);
    if (this.skipped.filter((event) => event.id !== id).length >= limits.maxSkippedEvents) return undefined;
    this.#suspects = suspects;
    this.#failing[table].set(from, { id, reason: message.slice(0, maxReasonLength), at: this.#now() });
    return `event ${id}`;
  }

  /** Stored events that are not processed, including those of transactions that were not committed. */
  get skipped(): readonly SkippedEvent[] {
    const { skippedEvents } = this.#tables;
    return eventTables.flatMap((table) => {
      const first = this.#events.firstStored(table);
      for (const seq of this.#failing[table].keys()) if (seq < first) this.#failing[table].delete(seq);
      const recorded = skippedIn(skippedEvents, table).filter((seq) => seq >= first);
      const seqs = new Set([...recorded, ...this.#failing[table].keys()]);
      return [...seqs].map((seq) => this.#failing[table].get(seq) ?? skippedEvents.get([table, seq])!);
    });
  }

  /** Stops processing until the next start. Later events are only stored. */
  halt(): void {
    this.#isHalted = true;
  }

  /**
   * Adds the stored blocks and the sightings of a batch, which are processed immediately, or later if earlier ones
   * wait. Sightings are not stored as events, so they are written with this transaction. Hosts from events and
   * sightings are processed first, in order of time. Names are processed last, because a name is dropped if its host
   * is unknown.
   */
  take(blocks: readonly CommittedBlock[], sightings: readonly Sighting[]): void {
    if (blocks.length === 0 && sightings.length === 0) return;
    const isFirst = this.#pending.first === undefined && this.#isProcessedTo(blocks);
    const isDropped = this.#isHalted && this.#pending.stored >= limits.maxStoppedSightings;
    if (isDropped && sightings.length > 0) this.#droppedSightings++;
    else if (sightings.length > 0)
      this.#pending.add({
        network: this.#sequences('network', blocks),
        dns: this.#sequences('dns', blocks),
        sightings,
      });
    if (this.#isHalted) {
      if (!isDropped && sightings.length > 0) this.#pending.keep();
      return;
    }
    guarded(() => {
      this.#position ??= this.#recall();
      this.#minRows = limits.maxBlockRows;
      if (isFirst) this.#processSome(blocks);
    });
    if (this.#opened?.isReceived) this.#opened = undefined;
    if (!this.#isBehind) return;
    this.#held++;
    this.#holdMs = maxHoldMs;
  }

  /**
   * Whether the next batch must wait, because too many events are pending. A batch waits for a limited amount of
   * work, so that ingest is slowed but not stopped.
   */
  get holdsIngest(): boolean {
    return this.#position !== undefined && this.#holdMs > 0 && this.#isBehind;
  }

  /** Whether processing, or a write that is due, waits for a transaction of its own. */
  get hasWork(): boolean {
    if (this.#position === undefined || this.#isHalted) return false;
    if (this.backlog > 0 || this.#pending.first !== undefined) return true;
    return this.#isWriteDue;
  }

  get #isWriteDue(): boolean {
    return this.dirty > 0 && (this.#dueMs() <= 0 || this.#isFull());
  }

  /** Returns whether all events before the blocks, which are the newest, are processed. */
  #isProcessedTo(blocks: readonly CommittedBlock[]): boolean {
    const position = this.#position ?? { network: this.#written('network'), dns: this.#written('dns') };
    return eventTables.every((table) => position[table] >= this.#sequences(table, blocks)[0]);
  }

  get #isBehind(): boolean {
    return this.backlog + this.#pending.sightings > limits.maxUncountedEvents;
  }

  /**
   * Adds scan results for ports of home addresses. The hosts must already have been added to the assets,
   * after `readyTo`.
   */
  scanned(found: readonly Scanned[]): void {
    for (const one of found) {
      const assetId = this.assets.assetAt(one.ip, one.at);
      if (assetId !== undefined) this.services.scanned(assetId, one);
    }
    this.force();
  }

  /** Returns the position after all currently stored events and sightings. */
  get stored(): StreamPosition {
    return { ...this.#newest(), sightings: this.#pending.newest };
  }

  /** Returns whether all events and sightings up to a position are processed. */
  hasReached(place: StreamPosition): boolean {
    const counted = (table: Table) => this.#position?.[table] ?? this.#written(table);
    return eventTables.every((table) => counted(table) >= place[table]) && !this.#pending.waitsFor(place.sightings);
  }

  /**
   * Processes everything up to a position, without a time limit, because plans of users' changes need the
   * current state. Callers wait until `hasReached` is true, so there is work for this method only after an
   * aborted transaction.
   *
   * @throws INTERNAL if processing has stopped
   */
  readyTo(place: StreamPosition): void {
    if (this.#isHalted) throw new ServiceError('INTERNAL', 'processing of events has stopped; see /health');
    guarded(() => {
      this.#position ??= this.#recall();
      while (!this.hasReached(place)) if (!this.#processSome([])) this.#again();
    });
  }

  /**
   * Resumes after `forget` with the pending events and the unwritten state. Not called in every transaction,
   * because on a disk without space for the inventory, each transaction would be aborted.
   */
  resume(): void {
    if (this.#isHalted) return;
    guarded(() => {
      this.#position ??= this.#recall();
    });
  }

  /**
   * Writes the whole state at the end of this transaction, because the state includes a change that is not in the
   * events.
   */
  force(): void {
    this.#forced = true;
  }

  /** Number of rows in memory that are not written yet. */
  get dirty(): number {
    return this.#parts().reduce((sum, part) => sum + part.dirty, 0);
  }

  /**
   * Number of pending events. Excludes events that have to be processed again after an aborted transaction.
   */
  get backlog(): number {
    const position = this.#position;
    if (position === undefined) return 0;
    return eventTables.reduce((sum, table) => sum + this.#events.next(table) - position[table], 0);
  }

  /** Number of stored events that are not processed, or whose processing was not committed. */
  get unprocessed(): number {
    return eventTables.reduce((sum, table) => {
      const position = this.#position?.[table] ?? this.#written(table);
      return sum + this.#events.next(table) - Math.max(position, this.#events.firstStored(table));
    }, 0);
  }

  /**
   * Processes as many events as there is time for, and writes the changes with the position. A larger write may
   * be delayed, so that writing takes at most a fifth of the time, until memory is full. Larger work is left
   * to a transaction without calls, so that no calls wait for it.
   *
   * @returns the delay until the next checkpoint is due, in milliseconds; undefined when all events are
   *   processed and written
   */
  checkpoint(turn: Turn = 'work'): number | undefined {
    const isMuch = this.backlog > 0 || this.#pending.first !== undefined || this.dirty > limits.inventoryRowsPerCommit;
    if (turn !== 'work' && isMuch && !this.#forced) {
      this.#endTimeSlice();
      this.#pending.keep();
      return this.backlog > 0 ? 0 : Math.max(0, this.#dueMs());
    }
    return guarded(() => {
      const began = performance.now();
      const isHolding = this.holdsIngest;
      let againMs: number | undefined;
      if (turn === 'work' && !this.#forced && this.#isWriteDue) againMs = this.#writeDue();
      else {
        // Processing takes at least as long as the flush before it, so that flushes take at most half of the time.
        if (isHolding && this.#heldAt !== undefined)
          this.#deadline = began + Math.max(limits.inventoryCountMs, Math.min(began - this.#heldAt, this.#holdMs));
        againMs = this.#checkpoint();
      }
      const now = performance.now();
      this.#holdMs -= now - began;
      this.#heldAt = isHolding ? now : undefined;
      return againMs;
    });
  }

  /** Writes the changes. A large write has a transaction of its own. */
  #writeDue(): number {
    const isDone = this.backlog === 0 && this.#pending.first === undefined;
    const settleMs = isDone ? this.#settleProjections() : undefined;
    this.write();
    this.#pending.keep();
    return Math.max(1, Math.min(settleMs ?? Number.POSITIVE_INFINITY, this.#dueMs()));
  }

  #checkpoint(): number | undefined {
    const isDone = this.#position === undefined || this.#processSome([]);
    if (isDone) this.#opened = undefined;
    this.#endTimeSlice();
    const settleMs = isDone && this.#position !== undefined ? this.#settleProjections() : undefined;
    const { dirty } = this;
    const isLittle = isDone && dirty <= limits.inventoryRowsPerCommit;
    const isChanged = dirty > 0 || this.#moved || this.#forced || this.#pending.isUnkept;
    if (isChanged && (this.#forced || isLittle)) this.write();
    this.#pending.keep();
    if (!isDone) return 0;
    return this.dirty > 0 ? Math.max(1, this.#dueMs()) : settleMs;
  }

  #settleProjections(): number | undefined {
    const dues = this.#projections.map((projection) => projection.settle?.()).filter((ms) => ms !== undefined);
    return dues.length === 0 ? undefined : Math.min(...dues);
  }

  write(): void {
    const began = performance.now();
    const { dirty } = this;
    for (const part of this.#parts()) part.write();
    if (this.#position !== undefined)
      for (const table of eventTables) this.#tables.inventoryState.putSync(table, { next_seq: this.#position[table] });
    this.#pending.written();
    this.#moved = false;
    this.#forced = false;
    this.#writtenAt = performance.now();
    this.#writingMs = this.#writtenAt - began;
    this.#pace.wrote(dirty, this.#writingMs);
  }

  /** Called after an aborted transaction: memory may hold state that was never committed. */
  forget(): void {
    for (const part of this.#parts()) part.forget();
    this.#dispatcher.forget();
    this.#pending.forget();
    this.#position = undefined;
    this.#round = undefined;
    this.#endTimeSlice();
    this.#opened = undefined;
    this.#holdMs = 0;
    this.#heldAt = undefined;
    this.#moved = false;
    this.#forced = false;
  }

  /** Returns how often data was dropped because of a limit, since this engine was opened. */
  limitsReached(): Partial<Record<LimitName, number>> {
    const reached = {
      ...this.assets.reached,
      maxServices: this.services.beyondAll,
      maxServicesPerAsset: this.services.beyondAsset,
      maxTransportLength: this.services.withoutTransport,
      rememberedConnections: this.#dispatcher.forgotten.connections,
      maxSpansPerAddress: this.#dispatcher.forgotten.spans,
      rememberedForwarders: this.#dispatcher.forgotten.forwarders,
      maxUncountedEvents: this.#held,
      maxStoppedSightings: this.#droppedSightings,
    };
    return Object.fromEntries(Object.entries(reached).filter(([, times]) => times > 0));
  }

  #parts(): readonly TransactionalState[] {
    return [...this.#findings, this.assets, this.services, ...this.#projections];
  }

  /** Returns the next sequence of each table. */
  #newest(): Record<Table, number> {
    return { network: this.#events.next('network'), dns: this.#events.next('dns') };
  }

  #written(table: Table): number {
    return processedTo(this.#tables, this.#events, table);
  }

  /** Returns the delay in milliseconds until a small write is due. */
  #dueMs(): number {
    return this.#writtenAt + Math.max(limits.inventoryPauseMs, 4 * this.#writingMs) - performance.now();
  }

  /** Makes room in memory and starts a new time slice. */
  #again(): void {
    if (this.#isFull()) this.write();
    this.#endTimeSlice();
  }

  #endTimeSlice(): void {
    this.#deadline = undefined;
    this.#processedRows = 0;
    this.#minRows = 0;
  }

  /** Returns whether memory holds as much as one transaction can write. */
  #isFull(): boolean {
    return this.dirty >= this.#pace.writableRows;
  }

  /**
   * Processes pending events in order, while this transaction has time. Sightings of a batch are processed
   * with its events.
   *
   * @param blocks - some of the stored blocks, in memory
   * @returns true when nothing is pending
   */
  #processSome(blocks: readonly CommittedBlock[]): boolean {
    this.#deadline ??= performance.now() + limits.inventoryCountMs;
    for (let batch = this.#pending.first; batch !== undefined; batch = this.#pending.first) {
      if (!this.#processSightings(batch, blocks)) return false;
      this.#pending.shift();
    }
    do {
      // Names are processed last, so a round covers both tables up to the same time.
      this.#round ??= this.#newest();
      const { network, dns } = this.#round;
      if (!this.#processTo('network', network, blocks) || !this.#processTo('dns', dns, blocks)) return false;
      this.#round = undefined;
    } while (this.backlog > 0);
    return true;
  }

  #processSightings(
    { network, dns, hosts, services, names }: BatchSightings,
    blocks: readonly CommittedBlock[],
  ): boolean {
    if (!this.#processTo('network', network[0], blocks) || !this.#processTo('dns', dns[0], blocks)) return false;
    if (!this.#processTo('network', network[1], blocks, hosts)) return false;
    if (!this.#sight(hosts) || !this.#sight(services)) return false;
    return this.#processTo('dns', dns[1], blocks) && this.#sight(names);
  }

  /**
   * Processes sightings.
   *
   * @param sightings - processed sightings are removed from this list
   */
  #sight(sightings: Sighting[]): boolean {
    let taken = 0;
    while (taken < sightings.length) {
      if (taken % sightingsPerLook === 0 && this.#isOver(this.#deadline! - performance.now())) break;
      this.#dispatcher.sight(sightings[taken++]!);
      this.#processedRows++;
    }
    sightings.splice(0, taken);
    this.#moved = true;
    return sightings.length === 0;
  }

  /** Returns whether this transaction must stop. */
  #isOver(leftMs: number): boolean {
    const isMuch = this.dirty > limits.inventoryRowsPerCommit || this.#processedRows > this.#minRows;
    return (leftMs <= leastPassMs && isMuch) || this.#isFull();
  }

  /**
   * Processes events of a table up to a sequence.
   *
   * @param hosts - sorted by time; hosts up to the time of the last host in the events are processed with the
   *   events and removed from this list
   */
  #processTo(table: Table, to: number, blocks: readonly CommittedBlock[], hosts: HostAt[] = []): boolean {
    const position = this.#position!;
    while (position[table] < to) {
      const began = performance.now();
      const leftMs = this.#deadline! - began;
      if (this.#isOver(leftMs)) return false;
      const next = this.#next(table, to, blocks);
      if (next === undefined) {
        // If the newest events are no longer stored, no events remain to be processed.
        position[table] = Math.max(position[table], Math.min(to, this.#events.next(table)));
        return true;
      }
      const { block, first } = next;
      if (this.#skips(block, first)) {
        position[table] = block.firstSeq + first + 1;
        this.#moved = true;
        continue;
      }
      const end = this.#endOfRun(block, first, next.end);
      const least = Math.min(end - first, this.#minRows - this.#processedRows, minRowsPerPass);
      const rows = Math.max(least, this.#pace.rows(block, first, end, leftMs));
      this.#process(block, first, first + rows, hosts);
      this.#processedRows += rows;
      this.#pace.processed(block, rows, performance.now() - began);
    }
    return true;
  }

  /**
   * Returns the end of the rows to process together: the next skipped event at the latest. Suspects are processed one
   * by one.
   */
  #endOfRun({ table, firstSeq }: EventBlock, first: number, end: number): number {
    const from = firstSeq + first;
    const suspects = this.#suspects.filter((range) => range.table === table);
    if (suspects.some((range) => from >= range.from && from < range.to)) return first + 1;
    const bounds = [...this.#failing[table].keys(), ...suspects.map((range) => range.from)];
    return Math.min(end, ...bounds.map((seq) => (seq > from ? seq - firstSeq : end)));
  }

  /**
   * Returns true, and records the event, if its processing failed before. Also removes the records of expired events.
   */
  #skips(block: EventBlock, row: number): boolean {
    const { table } = block;
    const seq = block.firstSeq + row;
    const event = this.#failing[table].get(seq);
    if (event === undefined) return false;
    if (event.id !== rowId(block, row)) {
      // After an aborted transaction, another event has this sequence.
      this.#failing[table].delete(seq);
      return false;
    }
    const { skippedEvents } = this.#tables;
    const first = this.#events.firstStored(table);
    for (const other of skippedIn(skippedEvents, table)) if (other < first) skippedEvents.removeSync([table, other]);
    skippedEvents.putSync([table, seq], event);
    return true;
  }

  /** Returns the next rows [first, end) of one block to process, from memory or from disk. */
  #next(table: Table, to: number, blocks: readonly CommittedBlock[]) {
    const from = this.#position![table];
    const isAt = (its: Table, firstSeq: number, rows: number) =>
      its === table && from >= firstSeq && from < firstSeq + rows;
    const opened = this.#opened?.block;
    if (opened === undefined || !isAt(opened.table, opened.firstSeq, opened.rows)) {
      const received = blocks.find((block) => isAt(block.table, block.first_seq, block.rows));
      this.#opened = received && { block: openBlock(received.buffer, received.first_seq), isReceived: true };
      if (received === undefined && from < this.#events.next(table))
        for (const { block } of this.#events.rows(table, from, to)) {
          this.#opened = { block, isReceived: false };
          break;
        }
    }
    if (this.#opened === undefined) return undefined;
    const { block } = this.#opened;
    const first = Math.max(0, from - block.firstSeq);
    return { block, first, end: Math.min(block.rows, to - block.firstSeq) };
  }

  /** Returns the sequences of a batch's events of one table. */
  #sequences(table: Table, blocks: readonly CommittedBlock[]): Sequences {
    const first = blocks.find((block) => block.table === table)?.first_seq;
    const next = this.#events.next(table);
    return [first ?? next, next];
  }

  /** Returns the committed position, and restores the connections that were reported before that position. */
  #recall(): Record<Table, number> {
    const position = { network: this.#written('network'), dns: this.#written('dns') };
    // A record may have been committed before the position that passes its event.
    for (const table of eventTables)
      for (const seq of skippedIn(this.#tables.skippedEvents, table))
        if (seq >= position[table]) this.#tables.skippedEvents.removeSync([table, seq]);
    this.#dispatcher.recall(
      (from, to) => projectedRows(this.#events, this.#tables.skippedEvents, 'network', from, to),
      position.network,
    );
    return position;
  }

  /** Processes rows [first, end) of a block, which must be the next rows of their table. */
  #process(block: EventBlock, first: number, end: number, hosts: HostAt[] = []): void {
    guarded(() => this.#dispatcher.dispatch(block, first, end, hosts), { rows: { block, first, end } });
    this.#position![block.table] = block.firstSeq + end;
    this.#moved = true;
  }
}

/** Time slice of one `catchUp` transaction, in milliseconds. */
const catchUpMs = 250;

/** Number of rows of a pass over a small batch, even if no time is left. */
const minRowsPerPass = 1024;

/** Remaining time that is too short for another pass, because each pass also evaluates the detectors. */
const leastPassMs = 5;

/** Maximum processing and writing for which a batch waits because too many events are pending, in milliseconds. */
const maxHoldMs = 1500;

/** Number of sightings between two checks of the time. */
const sightingsPerLook = 64;

/** Maximum characters of the recorded error of a skipped event. */
const maxReasonLength = 300;

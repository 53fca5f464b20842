import type { Turn } from '../database/group-commit.ts';
import { ServiceError } from '../errors.ts';
import { tables as eventTables } from '../events/format/columns.ts';
import type { Table } from '../events/records.ts';
import { rowId } from '../events/resource.ts';
import type { EventStore } from '../events/store/event-store.ts';
import type { Pass } from '../inventory/model/pass.ts';
import type { Sighting } from '../inventory/model/sighting.ts';
import { InventoryRecorder } from '../inventory/store/inventory-recorder.ts';
import type { AssetsPart, TransactionalState } from '../inventory/store/parts.ts';
import { type BatchSightings, type HostAt, PendingSightings } from '../inventory/store/pending-sightings.ts';
import { type Scanned, Services } from '../inventory/store/services.ts';
import { guarded, type ProjectionError, skippedIn } from '../inventory/store/skipped-events.ts';
import type { InventoryTables, SkippedEvent } from '../inventory/store/tables.ts';
import { type LimitName, limits } from '../limits.ts';
import type { CommittedBlock } from '../store/store.ts';
import type { Clocks, Delta, ProjectorLimits, ProjectorStart, Sequences, ToProjector } from './delta.ts';
import { processedTo } from './processed-to.ts';

/** Progress of the inventory in a table of events: the first unprocessed sequence. */
export interface Checkpoint {
  readonly next_seq: number;
}

/** A position in the order in which events and sightings are processed. */
export interface StreamPosition extends Sequences {
  /** The newest batch of sightings before the position; see `PendingSightings`. */
  readonly sightings: number;
}

/** A part of the store that is derived from events and takes its share of each delta. */
export interface Projection extends TransactionalState {
  take(delta: Delta): void;
}

interface InventoryOptions<A extends AssetsPart> {
  readonly tables: InventoryTables;
  readonly events: EventStore;
  /** Creates the assets for the given services. */
  readonly assets: (services: Services) => A;
  readonly projections?: readonly Projection[];
  /** Findings of projections. The findings are written first, because writing them changes assets. */
  readonly findings?: Projection;
  readonly clocks: () => Clocks;
  /** Sends a message to the projector. */
  readonly send: (message: ToProjector) => void;
}

/**
 * The network inventory and the other projections, derived from the stored events in the order of their sequences. The
 * projector reads committed events and sends deltas (see `Delta`). Each delta is applied in memory, and then written
 * together with the new position, in one transaction. All events before the position are processed:
 *
 * ```
 *   events    … 41 42 43 44 45 46 47 48 49 50     committed with each batch
 *   position        ^                             committed with the rows of the inventory
 *   deltas             43 44 45 46                applied in memory, or waiting
 *   projector                      47 48 49       in the next delta
 * ```
 *
 * A crash discards the deltas and the state of the projector, and the events from the position on are processed again,
 * so that each event is counted exactly once. After an aborted transaction, the waiting deltas are applied again. If a
 * file has no inventory yet, it is built in the same way.
 *
 * Deltas are applied in separate transactions, between the transactions of batches. Such a transaction takes about
 * limits.inventoryCountMs; a large write has a transaction to itself.
 *
 * Methods that change state are called in write transactions. `checkpoint` is called at the end of each transaction,
 * and `committed` after its flush.
 */
export class InventoryEngine<A extends AssetsPart> {
  readonly services: Services;
  readonly assets: A;
  readonly #tables: InventoryTables;
  readonly #clocks: () => Clocks;
  readonly #events: EventStore;
  readonly #projections: readonly Projection[];
  readonly #findings: readonly Projection[];
  readonly #recorder: InventoryRecorder;
  readonly #send: (message: ToProjector) => void;
  /** The position of the state in memory. Undefined when memory is empty: before the start and after `forget`. */
  #position: Record<Table, number> | undefined;
  /** Deltas that are not committed, oldest first. The first `#applied` deltas are applied in memory. */
  #deltas: Delta[] = [];
  #applied = 0;
  /** Number of deltas that the current transaction has written. */
  #written = 0;
  /** The rest of the work on a delta or on sightings that is partly applied. */
  #applying: Generator<undefined> | undefined;
  /** Number of the last start of the projector. */
  #start = 0;
  /** The end of the committed events, as last sent to the projector. */
  #announced: Sequences = { network: 0, dns: 0 };
  #hasNewSightings = false;
  /** Whether a transaction was aborted since the last write: the next delta is applied and written in one transaction. */
  #wasAborted = false;
  #projectorLimits: ProjectorLimits = { reached: {}, detectors: [] };
  #moved = false;
  #forced = false;
  #writtenAt = Number.NEGATIVE_INFINITY;
  /** Time spent on deltas since the last commit of a delta, in milliseconds. */
  #costMs = 0;
  readonly #pending: PendingSightings;
  /** Number of batches that left too many events pending, so that the next batch waited. */
  #held = 0;
  /** Latest time until which batches wait, by performance.now(). */
  #heldUntil = 0;
  /** Events whose processing failed since the start, by sequence. They are recorded when the position passes them. */
  readonly #failing: Readonly<Record<Table, Map<number, SkippedEvent>>> = { network: new Map(), dns: new Map() };
  /** Ranges of events that are processed one by one, because processing them together failed. */
  #suspects: ProjectorStart['suspects'] = [];
  #skippedSightings = 0;
  /** Number of batches whose sightings were dropped, because processing was halted and too many sightings waited. */
  #droppedSightings = 0;
  #isHalted = false;

  constructor(options: InventoryOptions<A>) {
    const { tables, events, assets, projections = [], clocks } = options;
    const now = () => clocks().now;
    this.#tables = tables;
    this.#clocks = clocks;
    this.#events = events;
    this.#projections = projections;
    this.#findings = options.findings === undefined ? [] : [options.findings];
    this.#send = options.send;
    this.services = new Services(tables, (id, by) => this.assets.serviceCountChanged(id, by), now);
    this.assets = assets(this.services);
    this.#recorder = new InventoryRecorder({ assets: this.assets, services: this.services, now });
    this.#pending = new PendingSightings(tables);
  }

  /** Starts the projector at the committed position. Deltas of earlier starts are dropped. */
  start(): void {
    const from = { network: this.#committed('network'), dns: this.#committed('dns') };
    this.#suspects = this.#suspects.filter(({ table, to }) => to > from[table]);
    const skipped = eventTables.flatMap((table) =>
      [...this.#failing[table].keys()].map((seq) => [table, seq] as const),
    );
    this.#deltas = [];
    this.#applied = 0;
    this.#applying = undefined;
    this.#position = { ...from };
    this.#announced = from;
    const start = { start: ++this.#start, from, skipped, suspects: this.#suspects };
    this.#send({ kind: 'start', clocks: this.#clocks(), ...start });
    this.#announce(false);
  }

  /** Adds a delta from the projector. */
  receive(delta: Delta): void {
    if (this.isCurrent(delta.start)) this.#deltas.push(delta);
  }

  /** Returns whether this is the number of the last start of the projector. */
  isCurrent(start: number): boolean {
    return start === this.#start;
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
      this.#recorder.skip(sighting);
      return `sighting ${JSON.stringify(sighting)}`;
    }
    if (rows === undefined) return undefined;
    const { table, from, to } = rows;
    if (to - from > 1) {
      this.#suspects = [...this.#suspects, rows];
      this.start();
      return 'retried';
    }
    let id = '';
    this.#events.visit(table, from, to, (block, row) => {
      id = rowId(block, row);
    });
    if (id === '') {
      // The event is no longer stored.
      this.start();
      return 'retried';
    }
    if (this.skipped.filter((event) => event.id !== id).length >= limits.maxSkippedEvents) return undefined;
    this.#failing[table].set(from, { id, reason: message.slice(0, maxReasonLength), at: this.#clocks().now });
    this.start();
    return `event ${id}`;
  }

  /** Stored events that are skipped because processing them failed, including events not yet recorded as skipped. */
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

  /** Stops processing until the next start of the service. Later events are only stored. */
  halt(): void {
    this.#isHalted = true;
  }

  /**
   * Adds the sightings of a batch, whose stored blocks are given. Sightings are not stored as events, so they are
   * stored with this transaction until they are processed. Hosts from events and sightings are processed first, in
   * order of time. Names are processed last, because a name is dropped if its host is unknown.
   */
  take(blocks: readonly CommittedBlock[], sightings: readonly Sighting[]): void {
    const isDropped = this.#isHalted && this.#pending.stored >= limits.maxStoppedSightings;
    if (isDropped && sightings.length > 0) this.#droppedSightings++;
    else if (sightings.length > 0) {
      this.#hasNewSightings = true;
      this.#pending.add({ network: this.#range('network', blocks), dns: this.#range('dns', blocks), sightings });
      if (this.#isHalted) this.#pending.keep();
    }
    if (this.#isHalted || (blocks.length === 0 && sightings.length === 0) || !this.#isBehind) return;
    this.#held++;
    this.#heldUntil = performance.now() + maxHoldMs;
  }

  /**
   * Whether the next batch must wait, because too many events are pending. A batch waits for a limited time, so that
   * ingest is slowed but not stopped.
   */
  get holdsIngest(): boolean {
    return !this.#isHalted && performance.now() < this.#heldUntil && this.#isBehind;
  }

  /** Whether a delta, sightings or changed rows wait for a transaction. */
  get hasWork(): boolean {
    if (this.#position === undefined || this.#isHalted) return false;
    return this.#isApplying || this.#applied > this.#written || this.#dueMs === 0;
  }

  /** Whether a delta or sightings are not completely applied in memory. */
  get #isApplying(): boolean {
    return this.#applying !== undefined || this.#deltas.length > this.#applied || this.#mayShift;
  }

  /** Whether all events up to the end of the oldest batch with waiting sightings are processed. */
  get #mayShift(): boolean {
    const batch = this.#pending.first;
    return batch !== undefined && this.#hasPassed('network', batch) && this.#hasPassed('dns', batch);
  }

  #hasPassed(table: Table, batch: BatchSightings): boolean {
    return this.#position![table] >= batch[table][1];
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
    const processed = (table: Table) => this.#position?.[table] ?? this.#committed(table);
    return eventTables.every((table) => processed(table) >= place[table]) && !this.#pending.waitsFor(place.sightings);
  }

  /**
   * Applies the waiting deltas and sightings, because plans of users' changes need the current state. Callers wait
   * until `hasReached` is true for the position.
   *
   * @returns false if the position was lost with an aborted transaction: the caller must wait again
   * @throws INTERNAL if processing has stopped
   */
  readyTo(place: StreamPosition): boolean {
    if (this.#isHalted) throw new ServiceError('INTERNAL', 'processing of events has stopped; see /health');
    this.resume();
    if (!this.hasReached(place)) this.applyAll();
    guarded(() => this.#finishStarted());
    return this.hasReached(place);
  }

  /** Applies all waiting deltas and sightings. */
  applyAll(): void {
    this.resume();
    guarded(() => this.#applyUntil(Number.POSITIVE_INFINITY));
  }

  /** Asks the projector to process the stored events without a pause. */
  hurry(): void {
    this.#announce(true);
  }

  /**
   * Resumes after `forget` with the waiting deltas. Not called in every transaction, because on a disk without space
   * for the inventory, each transaction would be aborted.
   */
  resume(): void {
    if (this.#isHalted) return;
    this.#position ??= { network: this.#committed('network'), dns: this.#committed('dns') };
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
      const position = this.#committed(table);
      return sum + this.#events.next(table) - Math.max(position, this.#events.firstStored(table));
    }, 0);
  }

  /** The first sequence of each table that is not processed; all stored events count as processed after a halt. */
  get processed(): Sequences {
    if (this.#isHalted) return this.#newest();
    return { network: this.#committed('network'), dns: this.#committed('dns') };
  }

  /** Limits that the projector reached. */
  get projectorLimits(): ProjectorLimits {
    return this.#projectorLimits;
  }

  /**
   * Applies as much as there is time for, and writes the changes with the position. A large write is left to the next
   * transaction without calls, so that no calls wait for it.
   *
   * @returns the delay until changed rows are due to be written, in milliseconds; undefined if no rows wait
   */
  checkpoint(turn: Turn): number | undefined {
    return guarded(() => {
      const began = performance.now();
      if (turn === 'work' && (this.#applying !== undefined || !this.#isFull))
        this.#applyUntil(began + limits.inventoryCountMs);
      // A part may have written some of its rows while the delta was applied: the rest belongs to the same transaction.
      const isAtOnce = this.#forced || (turn === 'work' && this.#wasAborted);
      if (isAtOnce) this.#finishStarted();
      const isWhole = this.#applying === undefined;
      const isDue = turn === 'work' ? this.#applied > 0 || this.#isFull || this.#dueMs === 0 : this.backlog === 0;
      if (isWhole && (this.dirty > 0 || this.#moved || this.#forced) && (isAtOnce || (isDue && this.#fits(began))))
        this.write();
      this.#pending.keep();
      this.#costMs += performance.now() - began;
      return this.#position === undefined ? undefined : this.#dueMs;
    });
  }

  /** Returns whether a write fits into the transaction whose work started at `began` (performance.now()). */
  #fits(began: number): boolean {
    return !this.#isFull || performance.now() - began < 1;
  }

  /** Applies the rest of the started delta or sightings. */
  #finishStarted(): void {
    while (this.#applying?.next().done === false);
    this.#applying = undefined;
  }

  write(): void {
    for (const part of this.#parts()) part.write();
    // After an aborted transaction, memory has no position, and no results of events.
    const position = this.#position;
    for (const table of position === undefined ? [] : eventTables) {
      this.#tables.inventoryState.putSync(table, { next_seq: position![table] });
      this.#recordFailing(table, position![table]);
    }
    this.#pending.written();
    this.#written = this.#applied;
    this.#moved = false;
    this.#forced = false;
    if (position !== undefined) this.#wasAborted = false;
    this.#writtenAt = performance.now();
  }

  /** Called after the flush of a transaction: the projector may process the committed events. */
  committed(): void {
    if (this.#written > 0) {
      const costMs = (this.#costMs + performance.now() - this.#writtenAt) / this.#written;
      for (const delta of this.#deltas.splice(0, this.#written)) {
        this.#projectorLimits = delta.limits;
        this.#send({ kind: 'committed', costMs });
      }
      this.#applied -= this.#written;
      this.#written = 0;
      this.#costMs = 0;
    }
    this.#announce(false);
  }

  /** Called after an aborted transaction: memory may hold state that was never committed. */
  forget(): void {
    for (const part of this.#parts()) part.forget();
    this.#pending.forget();
    this.#position = undefined;
    this.#applied = 0;
    this.#written = 0;
    this.#applying = undefined;
    this.#hasNewSightings = false;
    this.#costMs = 0;
    this.#wasAborted = true;
    this.#moved = false;
    this.#forced = false;
  }

  /** Returns how often data was dropped because of a limit, since this engine was opened. */
  limitsReached(): Partial<Record<LimitName, number>> {
    const reached = {
      ...this.assets.reached,
      ...this.#projectorLimits.reached,
      maxServices: this.services.beyondAll,
      maxServicesPerAsset: this.services.beyondAsset,
      maxTransportLength: this.services.withoutTransport,
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

  #committed(table: Table): number {
    return processedTo(this.#tables, this.#events, table);
  }

  /** Returns the range of a batch's events of one table. */
  #range(table: Table, blocks: readonly CommittedBlock[]): readonly [first: number, next: number] {
    const first = blocks.find((block) => block.table === table)?.first_seq;
    const next = this.#events.next(table);
    return [first ?? next, next];
  }

  /** Notifies the projector of committed events. */
  #announce(isAwaited: boolean): void {
    const to = this.#newest();
    const isNew = this.#hasNewSightings || eventTables.some((table) => to[table] > this.#announced[table]);
    if (this.#isHalted || !(isAwaited || isNew)) return;
    this.#announced = to;
    const isBoundary = this.#hasNewSightings;
    this.#hasNewSightings = false;
    this.#send({ kind: 'advance', to, clocks: this.#clocks(), isBoundary, isAwaited });
  }

  /** Returns the delay in milliseconds until changed rows are due to be written; undefined if no rows wait. */
  get #dueMs(): number | undefined {
    if (this.dirty === 0 && !this.#moved) return undefined;
    return Math.max(0, this.#writtenAt + limits.inventoryPauseMs - performance.now());
  }

  /**
   * Applies the waiting deltas and sightings in order, until the deadline or until many rows are changed. With an
   * infinite deadline, applies all of them.
   */
  #applyUntil(deadline: number): void {
    if (this.#position === undefined) return;
    for (;;) {
      if (this.#applying === undefined) {
        if (!this.#isApplying || (deadline !== Number.POSITIVE_INFINITY && this.#isFull)) return;
        const delta = this.#deltas[this.#applied];
        this.#applying = delta === undefined ? this.#shift(this.#pending.first!) : this.#apply(delta);
      }
      while (this.#applying.next().done !== true) if (performance.now() >= deadline) return;
      this.#applying = undefined;
    }
  }

  get #isFull(): boolean {
    return this.dirty > fullRows;
  }

  *#apply(delta: Delta): Generator<undefined> {
    for (const table of eventTables)
      if (delta.from[table] !== this.#position![table])
        throw new Error(
          `a delta of ${table} events begins at ${delta.from[table]} instead of ${this.#position![table]}`,
        );
    for (const pass of delta.passes) {
      // Sightings of batches whose events are all processed.
      while (this.#mayShift) yield* this.#shift(this.#pending.first!);
      const hosts = this.#pending.hostsUpTo(pass.table === 'network' ? pass.to : this.#position!.network);
      yield* this.#record(pass, hosts);
      this.#position![pass.table] = pass.to;
    }
    this.#position = { ...delta.to };
    while (this.#mayShift) yield* this.#shift(this.#pending.first!);
    for (const projection of [...this.#findings, ...this.#projections]) projection.take(delta);
    this.#applied++;
    this.#moved = true;
  }

  *#record(pass: Pass, hosts: HostAt[]): Generator<undefined> {
    const { table, from, to } = pass;
    const rows = { table, from, to };
    // Names are recorded only for known hosts.
    if (table === 'dns')
      for (const host of hosts.splice(0)) {
        this.#recorder.sight(host);
        yield;
      }
    const steps = this.#recorder.record(pass, hosts);
    while (guarded(() => steps.next(), { rows }).done !== true) yield;
    for (const host of hosts) this.#recorder.sight(host);
  }

  /** Processes the rest of the sightings of the oldest batch. */
  *#shift({ hosts, services, names }: BatchSightings): Generator<undefined> {
    for (const sightings of [hosts, services, names])
      for (const sighting of sightings.splice(0)) {
        this.#recorder.sight(sighting);
        yield;
      }
    this.#pending.shift();
    this.#moved = true;
  }

  /** Records the events of a table that were skipped before a position, and removes the records of expired events. */
  #recordFailing(table: Table, before: number): void {
    if (this.#failing[table].size === 0) return;
    const { skippedEvents } = this.#tables;
    const first = this.#events.firstStored(table);
    for (const seq of skippedIn(skippedEvents, table)) if (seq < first) skippedEvents.removeSync([table, seq]);
    for (const [seq, event] of this.#failing[table])
      if (seq < before && !skippedEvents.doesExist([table, seq])) skippedEvents.putSync([table, seq], event);
  }
}

/** Number of changed rows above which a write has a transaction of its own. */
const fullRows = limits.inventoryRowsPerCommit + 2 * limits.settledHostsPerWrite;

/** Maximum time for which a batch waits because too many events are pending, in milliseconds. */
const maxHoldMs = 1500;

/** Maximum characters of the recorded error of a skipped event. */
const maxReasonLength = 300;

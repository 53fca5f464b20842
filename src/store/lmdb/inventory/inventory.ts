import { type EventBlock, openBlock } from '../../../events/block.ts';
import { tables as eventTables } from '../../../events/columns.ts';
import type { IsHome } from '../../../events/home-networks.ts';
import type { Table } from '../../../events/records.ts';
import type { Sighting } from '../../../inventory/sighting.ts';
import { type LimitName, limits } from '../../../limits.ts';
import type { CommittedBlock } from '../../store.ts';
import type { LmdbEvents } from '../events.ts';
import type { Tables } from '../tables.ts';
import { countedTo } from './counted-to.ts';
import { Pace } from './pace.ts';
import type { AssetsPart, InventoryPart } from './parts.ts';
import { type FlowFold, SeenEvents } from './seen-events.ts';
import { type Scanned, Services } from './services.ts';
import { type HostAt, type Sequences, type Told, ToldLater } from './told.ts';

/** Progress of the inventory in a table of events: the first sequence that is not processed. */
export interface FoldedTo {
  readonly next_seq: number;
}

/** A position in the order in which events and sightings are processed. */
export interface Place extends Readonly<Record<Table, number>> {
  /** The newest batch of sightings before it, see `ToldLater`. */
  readonly told: number;
}

interface InventoryOptions<A extends AssetsPart> {
  readonly tables: Tables;
  readonly events: LmdbEvents;
  readonly isHome: IsHome;
  /** Creates the assets, given the services. */
  readonly assets: (services: Services) => A;
  readonly folds?: readonly FlowFold[];
  /** Findings of folds. Written first, because writing them changes assets. */
  readonly found?: InventoryPart;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Default: limits.rememberedConnections. */
  readonly rememberedConnections?: number;
}

/**
 * The network inventory, derived from the stored events in the order of their sequences. The position in
 * that order is committed together with the state derived up to it:
 *
 * ```
 *   events    … 41 42 43 44 45 46 47 48 49 50     committed with each batch
 *   position        ^                             committed with the rows of the inventory
 *   memory             43 44 45 46                changed rows, not written yet
 *   pending                        47 48 49 50    for which the transactions of their batches had no time
 * ```
 *
 * A crash or an aborted transaction discards memory, and the events from the position on are processed again:
 * none is counted twice or lost. The inventory of a file that has none is built the same way.
 *
 * A batch of few events is processed in its own transaction. A batch of 60,000 unknown hosts takes seconds:
 * each transaction processes events for limits.inventoryCountMs and writes for limits.inventoryWriteMs, so
 * that no other has to wait longer.
 *
 * Methods that change state are called inside write transactions, except `catchUp`; `checkpoint` is called at
 * the end of each.
 */
export class Inventory<A extends AssetsPart> {
  readonly services: Services;
  readonly assets: A;
  readonly #tables: Tables;
  readonly #events: LmdbEvents;
  readonly #folds: readonly FlowFold[];
  readonly #found: readonly InventoryPart[];
  readonly #seen: SeenEvents;
  /** Undefined when memory is empty: before the first use and after `forget`. */
  #position: Record<Table, number> | undefined;
  #moved = false;
  #forced = false;
  #writtenAt = Number.NEGATIVE_INFINITY;
  /** Duration of the last write, without the flush. */
  #writingMs = 0;
  readonly #told: ToldLater;
  /**
   * Both tables are processed up to here before either continues, so that neither starves while the other
   * grows.
   */
  #round: Readonly<Record<Table, number>> | undefined;
  readonly #pace = new Pace();
  /** When this transaction must stop processing, by performance.now(); undefined before it starts. */
  #countUntil: number | undefined;
  /** Events that this transaction has processed. */
  #countedRows = 0;
  /** The newest received block, opened. */
  #opened: { readonly buffer: ArrayBuffer; readonly block: EventBlock } | undefined;
  /** Transactions that had to process more than their share. */
  #hurried = 0;

  constructor(options: InventoryOptions<A>) {
    const { tables, events, isHome, assets, folds = [], now } = options;
    this.#tables = tables;
    this.#events = events;
    this.#folds = folds;
    this.#found = options.found === undefined ? [] : [options.found];
    this.services = new Services(tables, (id, by) => this.assets.serviceCountChanged(id, by), now);
    this.assets = assets(this.services);
    const { services } = this;
    const { rememberedConnections = limits.rememberedConnections } = options;
    this.#seen = new SeenEvents({ assets: this.assets, services, folds, isHome, now, rememberedConnections });
    this.#told = new ToldLater(tables);
  }

  /**
   * Processes all pending events, in transactions of its own, so that a kill loses little.
   *
   * @param transaction - runs in one transaction, flushed
   * @returns milliseconds after which `checkpoint` is due; undefined when nothing is pending
   */
  catchUp(transaction: (step: () => void) => void): number | undefined {
    let isCounted = false;
    let settleMs: number | undefined;
    while (!isCounted || this.dirty > 0)
      transaction(() => {
        this.#position ??= this.#recall();
        this.#countUntil = performance.now() + catchUpMs;
        isCounted = this.#countSome([]);
        this.#endCounting();
        if (isCounted) settleMs = this.#settleFolds();
        if (this.dirty > 0 || this.#moved) this.write();
      });
    return settleMs;
  }

  /**
   * Takes in a batch, now or later: its stored blocks, and its sightings, which are not stored as events and
   * are written with this transaction. Hosts come first, those of events and of sightings in order of time,
   * and names last: a name is dropped if its host is unknown.
   */
  take(blocks: readonly CommittedBlock[], sightings: readonly Sighting[]): void {
    if (blocks.length === 0 && sightings.length === 0) return;
    this.#position ??= this.#recall();
    if (sightings.length > 0)
      this.#told.add({
        network: this.#sequences('network', blocks),
        dns: this.#sequences('dns', blocks),
        sightings,
      });
    this.#countSome(blocks);
    this.#opened = undefined;
  }

  /**
   * Takes in scan results for ports of home addresses. The hosts must have been added to the assets before,
   * after `readyTo`.
   */
  scanned(found: readonly Scanned[]): void {
    for (const one of found) {
      const assetId = this.assets.assetAt(one.ip, one.at);
      if (assetId !== undefined) this.services.scanned(assetId, one);
    }
    this.force();
  }

  /** The position after everything that is stored now. */
  get stored(): Place {
    return { ...this.#newest(), told: this.#told.newest };
  }

  /** Whether everything up to a position is processed. */
  hasReached(place: Place): boolean {
    const counted = (table: Table) => this.#position?.[table] ?? this.#written(table);
    return eventTables.every((table) => counted(table) >= place[table]) && !this.#told.waitsFor(place.told);
  }

  /**
   * Brings memory up to a position, however long it takes, before users' changes are planned, which need the
   * current state. Callers wait until `hasReached` is true, so that only an aborted transaction leaves
   * anything to do here.
   */
  readyTo(place: Place): void {
    this.#position ??= this.#recall();
    while (!this.hasReached(place)) if (!this.#countSome([])) this.#again();
  }

  /**
   * Resumes after `forget` with pending events and with state that memory had not written. Not done in every
   * transaction: on a disk without room for the inventory, each of them would be aborted.
   */
  resume(): void {
    this.#position ??= this.#recall();
  }

  /**
   * Writes everything at the end of this transaction, because something changed that is not in the events.
   */
  force(): void {
    this.#forced = true;
  }

  /** Rows in memory that are not written yet. */
  get dirty(): number {
    return this.#parts().reduce((sum, part) => sum + part.dirty, 0);
  }

  /** Whether stored events or sightings are pending. */
  get behind(): boolean {
    return this.uncounted > 0 || this.#told.count > 0;
  }

  /**
   * Number of pending events. Does not include events that have to be processed again after an aborted
   * transaction.
   */
  get uncounted(): number {
    const position = this.#position;
    if (position === undefined) return 0;
    return eventTables.reduce((sum, table) => sum + this.#events.next(table) - position[table], 0);
  }

  /**
   * Processes as much as there is time for, and writes the changes with the position, unless a larger write
   * should wait: writing takes at most a fifth of the time, until memory is full.
   *
   * @returns milliseconds after which the next is due; undefined when everything is processed and written
   */
  checkpoint(): number | undefined {
    let isCounted = this.#position === undefined || this.#countSome([]);
    if (!isCounted) isCounted = this.#hurry();
    this.#endCounting();
    const settleMs = isCounted && this.#position !== undefined ? this.#settleFolds() : undefined;
    const { dirty } = this;
    const isLittle = isCounted && dirty <= limits.inventoryRowsPerCommit;
    const isChanged = dirty > 0 || this.#moved || this.#forced || this.#told.isUnkept;
    if (isChanged && (this.#forced || isLittle || this.#dueMs() <= 0 || this.#isFull())) this.write();
    this.#told.keep();
    if (!isCounted) return 0;
    return this.dirty > 0 ? Math.max(1, this.#dueMs()) : settleMs;
  }

  #settleFolds(): number | undefined {
    const dues = this.#folds.map((fold) => fold.settle?.()).filter((ms) => ms !== undefined);
    return dues.length === 0 ? undefined : Math.min(...dues);
  }

  write(): void {
    const began = performance.now();
    const { dirty } = this;
    for (const part of this.#parts()) part.write();
    if (this.#position !== undefined)
      for (const table of eventTables)
        this.#tables.inventoryState.putSync(table, { next_seq: this.#position[table] });
    this.#told.written();
    this.#moved = false;
    this.#forced = false;
    this.#writtenAt = performance.now();
    this.#writingMs = this.#writtenAt - began;
    this.#pace.wrote(dirty, this.#writingMs);
  }

  /** Called after an aborted transaction: memory may hold state that was never committed. */
  forget(): void {
    for (const part of this.#parts()) part.forget();
    this.#seen.forget();
    this.#told.forget();
    this.#position = undefined;
    this.#round = undefined;
    this.#endCounting();
    this.#opened = undefined;
    this.#moved = false;
    this.#forced = false;
  }

  /** How often data was dropped because of a limit, since this was opened. */
  limitsReached(): Partial<Record<LimitName, number>> {
    const reached = {
      ...this.assets.reached,
      maxServices: this.services.beyondAll,
      maxServicesPerAsset: this.services.beyondAsset,
      maxTransportLength: this.services.withoutTransport,
      rememberedConnections: this.#seen.forgotten.connections,
      maxSpansPerAddress: this.#seen.forgotten.spans,
      rememberedForwarders: this.#seen.forgotten.forwarders,
      maxUncountedEvents: this.#hurried,
    };
    return Object.fromEntries(Object.entries(reached).filter(([, times]) => times > 0));
  }

  #parts(): readonly InventoryPart[] {
    return [...this.#found, this.assets, this.services, ...this.#folds];
  }

  /** Returns the next sequence of each table. */
  #newest(): Record<Table, number> {
    return { network: this.#events.next('network'), dns: this.#events.next('dns') };
  }

  #written(table: Table): number {
    return countedTo(this.#tables, this.#events, table);
  }

  /** Milliseconds until the next write is due when there is little to write. */
  #dueMs(): number {
    return this.#writtenAt + Math.max(limits.inventoryPauseMs, 4 * this.#writingMs) - performance.now();
  }

  /**
   * Processes more when the backlog has grown too large, so that senders have to wait.
   *
   * @returns true when nothing is pending
   */
  #hurry(): boolean {
    const isMuch = () => this.uncounted + this.#told.sightings > limits.maxUncountedEvents;
    if (!isMuch()) return false;
    this.#hurried++;
    const until = performance.now() + hurryMs;
    let isCounted = false;
    while (!isCounted && isMuch() && performance.now() < until) {
      this.#again();
      isCounted = this.#countSome([]);
    }
    return isCounted;
  }

  /** Makes room in memory and starts a new time slice. */
  #again(): void {
    if (this.#isFull()) this.write();
    this.#endCounting();
  }

  #endCounting(): void {
    this.#countUntil = undefined;
    this.#countedRows = 0;
  }

  /** Whether memory holds as much as one transaction can write. */
  #isFull(): boolean {
    return this.dirty >= this.#pace.writableRows;
  }

  /**
   * Processes pending events in order, as long as this transaction has time. Sightings of a batch are
   * processed with its events.
   *
   * @param blocks - some of the stored blocks, in memory
   * @returns true when nothing is pending
   */
  #countSome(blocks: readonly CommittedBlock[]): boolean {
    this.#countUntil ??= performance.now() + limits.inventoryCountMs;
    for (let told = this.#told.first; told !== undefined; told = this.#told.first) {
      if (!this.#countTold(told, blocks)) return false;
      this.#told.shift();
    }
    do {
      // Names come last, so a round covers both tables as of one time.
      this.#round ??= this.#newest();
      const { network, dns } = this.#round;
      if (!this.#countTo('network', network, blocks) || !this.#countTo('dns', dns, blocks)) return false;
      this.#round = undefined;
    } while (this.uncounted > 0);
    return true;
  }

  #countTold({ network, dns, hosts, services, names }: Told, blocks: readonly CommittedBlock[]): boolean {
    if (!this.#countTo('network', network[0], blocks) || !this.#countTo('dns', dns[0], blocks)) return false;
    if (!this.#countTo('network', network[1], blocks, hosts)) return false;
    if (!this.#sight(hosts) || !this.#sight(services)) return false;
    return this.#countTo('dns', dns[1], blocks) && this.#sight(names);
  }

  /** @param sightings - processed ones are removed from it */
  #sight(sightings: Sighting[]): boolean {
    let taken = 0;
    while (taken < sightings.length) {
      if (taken % sightingsPerLook === 0 && this.#isOver(this.#countUntil! - performance.now())) break;
      this.#seen.sight(sightings[taken++]!);
      this.#countedRows++;
    }
    sightings.splice(0, taken);
    this.#moved = true;
    return sightings.length === 0;
  }

  /** Whether this transaction must stop. Small changes are always processed in their own transaction. */
  #isOver(leftMs: number): boolean {
    const isMuch = this.dirty > limits.inventoryRowsPerCommit || this.#countedRows > limits.maxBlockRows;
    return (leftMs <= 0 && isMuch) || this.#isFull();
  }

  /**
   * @param hosts - by time; those up to the last host of the events are processed with them and removed from
   * this list
   */
  #countTo(table: Table, to: number, blocks: readonly CommittedBlock[], hosts: HostAt[] = []): boolean {
    const position = this.#position!;
    while (position[table] < to) {
      const next = this.#next(table, to, blocks);
      if (next === undefined) {
        // If the newest events are no longer stored, there is nothing to process.
        position[table] = Math.max(position[table], Math.min(to, this.#events.next(table)));
        return true;
      }
      const began = performance.now();
      const leftMs = this.#countUntil! - began;
      if (this.#isOver(leftMs)) return false;
      const { block, first, end } = next;
      const rows = this.#pace.rows(block, first, end, leftMs);
      this.#fold(block, first, first + rows, hosts);
      this.#countedRows += rows;
      this.#pace.counted(block, rows, performance.now() - began);
    }
    return true;
  }

  /** Returns the next rows [first, end) of one block to process, from memory or from disk. */
  #next(table: Table, to: number, blocks: readonly CommittedBlock[]) {
    const from = this.#position![table];
    for (const { table: its, first_seq, rows, buffer } of blocks) {
      if (its !== table || from < first_seq || from >= first_seq + rows) continue;
      if (this.#opened?.buffer !== buffer) this.#opened = { buffer, block: openBlock(buffer, first_seq) };
      return { block: this.#opened.block, first: from - first_seq, end: Math.min(rows, to - first_seq) };
    }
    if (from >= this.#events.next(table)) return undefined;
    for (const next of this.#events.rows(table, from, to)) return next;
    return undefined;
  }

  /** Returns the sequences of a batch's events of one table. */
  #sequences(table: Table, blocks: readonly CommittedBlock[]): Sequences {
    const first = blocks.find((block) => block.table === table)?.first_seq;
    const next = this.#events.next(table);
    return [first ?? next, next];
  }

  /** Returns the committed position, and restores the connections that were reported before it. */
  #recall(): Record<Table, number> {
    const position = { network: this.#written('network'), dns: this.#written('dns') };
    this.#seen.recall(this.#events, position.network);
    return position;
  }

  /** Processes rows [first, end) of a block, the next of its table. */
  #fold(block: EventBlock, first: number, end: number, hosts: HostAt[] = []): void {
    this.#seen.fold(block, first, end, hosts);
    this.#position![block.table] = block.firstSeq + end;
    this.#moved = true;
  }
}

/** Time slice of one transaction of `catchUp`. */
const catchUpMs = 250;

/** Maximum time slice of one transaction when the backlog is too large. */
const hurryMs = 1500;

/** Sightings between two checks of the time. */
const sightingsPerLook = 64;

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

/** How far the events of a table are in the inventory: the first sequence that isn't. */
export interface FoldedTo {
  readonly next_seq: number;
}

/** A place in the order in which events, and what sensors told beside them, are counted. */
export interface Place extends Readonly<Record<Table, number>> {
  /** The newest of what was told before it, see `ToldLater`. */
  readonly told: number;
}

interface InventoryOptions<A extends AssetsPart> {
  readonly tables: Tables;
  readonly events: LmdbEvents;
  readonly isHome: IsHome;
  /** The assets, given the services that they know. */
  readonly assets: (services: Services) => A;
  readonly folds?: readonly FlowFold[];
  /** What folds found. It is written first, because it changes what is known of assets. */
  readonly found?: InventoryPart;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Default: limits.rememberedConnections. */
  readonly rememberedConnections?: number;
}

/**
 * What is on the network, counted of the stored events in the order of their sequences. The position in that order is
 * committed together with what was counted up to it:
 *
 * ```
 *   events    … 41 42 43 44 45 46 47 48 49 50     committed with each batch
 *   position        ^                             committed with the rows of the inventory
 *   memory             43 44 45 46                rows that changed since, not written yet
 *   to count                       47 48 49 50    what the transactions of their batches had no time for
 * ```
 *
 * A crash or an undone transaction takes away what memory holds, and the events from the position on are counted anew:
 * nothing is counted twice or lost. The same way builds the inventory of a file that has none.
 *
 * A batch of few events is counted in its own transaction. Of 60,000 hosts that nobody knew, which take seconds, each
 * transaction counts for limits.inventoryCountMs and writes for limits.inventoryWriteMs, so that no other waits longer.
 *
 * What changes it is called inside of write transactions, but for `catchUp`; `checkpoint` at the end of each.
 */
export class Inventory<A extends AssetsPart> {
  readonly services: Services;
  readonly assets: A;
  readonly #tables: Tables;
  readonly #events: LmdbEvents;
  readonly #folds: readonly FlowFold[];
  readonly #found: readonly InventoryPart[];
  readonly #seen: SeenEvents;
  /** Undefined when memory has nothing yet, or nothing any more. */
  #position: Record<Table, number> | undefined;
  #moved = false;
  #forced = false;
  #writtenAt = Number.NEGATIVE_INFINITY;
  /** What the last write took, without the flush. */
  #writingMs = 0;
  readonly #told: ToldLater;
  /** Both tables are counted up to here before either goes on: neither waits for ever while the other grows. */
  #round: Readonly<Record<Table, number>> | undefined;
  readonly #pace = new Pace();
  /** When this transaction has counted for long enough, by performance.now(); undefined before it counts. */
  #countUntil: number | undefined;
  /** Events that this transaction has counted. */
  #countedRows = 0;
  /** The newest block that came, opened. */
  #opened: { readonly buffer: ArrayBuffer; readonly block: EventBlock } | undefined;
  /** Transactions that had to count more than their share. */
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
   * Counts the stored events that were not counted yet, in transactions of its own, so that a kill loses little.
   *
   * @param transaction - runs in one transaction, flushed
   * @returns milliseconds after which `checkpoint` is due; undefined when nothing waits
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
   * Takes in what a batch brought, now or later: the blocks that it stored, and what isn't stored as events, which is
   * written with this transaction. Hosts come first, those of events and of sightings in the order of their times, and
   * names last: they are lost where their host isn't known.
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

  /** Takes in what a scan found at ports of home addresses; the assets are told of the hosts before, after `readyTo`. */
  scanned(found: readonly Scanned[]): void {
    for (const one of found) {
      const assetId = this.assets.assetAt(one.ip, one.at);
      if (assetId !== undefined) this.services.scanned(assetId, one);
    }
    this.force();
  }

  /** All that is stored now. */
  get stored(): Place {
    return { ...this.#newest(), told: this.#told.newest };
  }

  /** Whether all up to a place is counted. */
  hasReached(place: Place): boolean {
    const counted = (table: Table) => this.#position?.[table] ?? this.#written(table);
    return eventTables.every((table) => counted(table) >= place[table]) && !this.#told.waitsFor(place.told);
  }

  /**
   * Brings memory up to a place, however long it takes: before people's changes are planned, which go by what is known.
   * Who asks waits until it `hasReached` the place, so that nothing is left to do but after an undone transaction.
   */
  readyTo(place: Place): void {
    this.#position ??= this.#recall();
    while (!this.hasReached(place)) if (!this.#countSome([])) this.#again();
  }

  /**
   * Goes on after `forget` with what is stored and not counted, and with what memory had not written. Not every
   * transaction does: on a disk that has no room for the inventory, it would be undone for it.
   */
  resume(): void {
    this.#position ??= this.#recall();
  }

  /** Everything is written at the end of this transaction: something changed that isn't in the events. */
  force(): void {
    this.#forced = true;
  }

  /** Rows in memory that are not written. */
  get dirty(): number {
    return this.#parts().reduce((sum, part) => sum + part.dirty, 0);
  }

  /** Whether stored events wait to be counted. */
  get behind(): boolean {
    return this.uncounted > 0 || this.#told.count > 0;
  }

  /** Stored events that wait to be counted. Of those that an undone transaction left to count anew nothing is said. */
  get uncounted(): number {
    const position = this.#position;
    if (position === undefined) return 0;
    return eventTables.reduce((sum, table) => sum + this.#events.next(table) - position[table], 0);
  }

  /**
   * Counts what there is time for, and writes what changed, with the position, unless that is so much that it waits for
   * more: at most a fifth of the time goes into writing, until memory is full.
   *
   * @returns milliseconds after which the next is due; undefined when all is counted and written
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

  /** The transaction was undone: what memory holds may never have been. */
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

  /** How often something was left out because of a limit, since this was opened. */
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

  /** The first sequence of each table that no event has. */
  #newest(): Record<Table, number> {
    return { network: this.#events.next('network'), dns: this.#events.next('dns') };
  }

  #written(table: Table): number {
    return countedTo(this.#tables, this.#events, table);
  }

  /** When the next write is due, where there is little to write. */
  #dueMs(): number {
    return this.#writtenAt + Math.max(limits.inventoryPauseMs, 4 * this.#writingMs) - performance.now();
  }

  /**
   * Events came more quickly than they are counted for so long that who brings more waits.
   *
   * @returns true when nothing is left
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

  /** There is time again, and room in memory. */
  #again(): void {
    if (this.#isFull()) this.write();
    this.#endCounting();
  }

  #endCounting(): void {
    this.#countUntil = undefined;
    this.#countedRows = 0;
  }

  /** As much as one transaction can write. */
  #isFull(): boolean {
    return this.dirty >= this.#pace.writableRows;
  }

  /**
   * Counts what is stored and not counted, in its order, as long as this transaction has time. What batches told beside
   * their events comes with these.
   *
   * @param blocks - some of those that are stored, in memory
   * @returns true when nothing is left
   */
  #countSome(blocks: readonly CommittedBlock[]): boolean {
    this.#countUntil ??= performance.now() + limits.inventoryCountMs;
    for (let told = this.#told.first; told !== undefined; told = this.#told.first) {
      if (!this.#countTold(told, blocks)) return false;
      this.#told.shift();
    }
    do {
      // Names come last: a round has both tables as they are at one time.
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

  /** @param sightings - those that were taken in are removed from it */
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

  /** Whether this transaction counts no more. What changes little is always counted with its own transaction. */
  #isOver(leftMs: number): boolean {
    const isMuch = this.dirty > limits.inventoryRowsPerCommit || this.#countedRows > limits.maxBlockRows;
    return (leftMs <= 0 && isMuch) || this.#isFull();
  }

  /** @param hosts - by time; those up to the last host of the events are taken in with them, and from this list */
  #countTo(table: Table, to: number, blocks: readonly CommittedBlock[], hosts: HostAt[] = []): boolean {
    const position = this.#position!;
    while (position[table] < to) {
      const next = this.#next(table, to, blocks);
      if (next === undefined) {
        // Where the newest events are no longer stored, there is nothing to count.
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

  /** The next rows [first, end) of one block that are to be counted, from memory or as they are stored. */
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

  /** The sequences of a batch's events of one table. */
  #sequences(table: Table, blocks: readonly CommittedBlock[]): Sequences {
    const first = blocks.find((block) => block.table === table)?.first_seq;
    const next = this.#events.next(table);
    return [first ?? next, next];
  }

  /** The committed position, with the connections that were reported before it. */
  #recall(): Record<Table, number> {
    const position = { network: this.#written('network'), dns: this.#written('dns') };
    this.#seen.recall(this.#events, position.network);
    return position;
  }

  /** Rows [first, end) of a block, the next of its table. */
  #fold(block: EventBlock, first: number, end: number, hosts: HostAt[] = []): void {
    this.#seen.fold(block, first, end, hosts);
    this.#position![block.table] = block.firstSeq + end;
    this.#moved = true;
  }
}

/** What one transaction of `catchUp` counts for. */
const catchUpMs = 250;

/** What one transaction counts for at most, where too much waits. */
const hurryMs = 1500;

/** Sightings between two looks at the time. */
const sightingsPerLook = 64;

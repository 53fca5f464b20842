import { type EventBlock, openBlock } from '../../../events/block.ts';
import { tables as eventTables } from '../../../events/columns.ts';
import type { IsHome } from '../../../events/home-networks.ts';
import type { Table } from '../../../events/records.ts';
import { ConnectionMemory } from '../../../inventory/connection-memory.ts';
import { namesInDns } from '../../../inventory/dns-names.ts';
import { Observations } from '../../../inventory/observations.ts';
import type { FlowSink } from '../../../inventory/seen.ts';
import type { Sighting } from '../../../inventory/sighting.ts';
import { type LimitName, limits } from '../../../limits.ts';
import type { CommittedBlock } from '../../store.ts';
import type { LmdbEvents } from '../events.ts';
import type { Tables } from '../tables.ts';
import type { AssetsPart, InventoryPart } from './parts.ts';
import { type Scanned, Services } from './services.ts';

/** How far the events of a table are in the inventory: the first sequence that isn't. */
export interface FoldedTo {
  readonly next_seq: number;
}

/** Something else that is counted of the same events, row by row, and committed with the same positions. */
type FlowFold = FlowSink & InventoryPart;

interface InventoryOptions<A extends AssetsPart> {
  readonly tables: Tables;
  readonly events: LmdbEvents;
  readonly isHome: IsHome;
  /** The assets, given the services that they know. */
  readonly assets: (services: Services) => A;
  readonly folds?: readonly FlowFold[];
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
 *   events    … 41 42 43 44 45 46 47 48      committed with each batch
 *   position        ^                        committed with the rows of the inventory
 *   memory             43 44 45 46 47 48     rows that changed since, not written yet
 * ```
 *
 * A crash or an undone transaction takes away what memory holds, and the events from the position on are counted anew:
 * nothing is counted twice or lost. The same way builds the inventory of a file that has none.
 *
 * All but `catchUp` is called inside of write transactions, `checkpoint` at the end of each.
 */
export class Inventory<A extends AssetsPart> {
  readonly services: Services;
  readonly assets: A;
  readonly #tables: Tables;
  readonly #events: LmdbEvents;
  readonly #isHome: IsHome;
  readonly #folds: readonly FlowFold[];
  readonly #now: () => number;
  readonly #memory: ConnectionMemory;
  readonly #observations = new Observations();
  /** Undefined when memory has nothing yet, or nothing any more. */
  #position: Record<Table, number> | undefined;
  #moved = false;
  #forced = false;
  #writtenAt = Number.NEGATIVE_INFINITY;
  /** What the last write took, without the flush. */
  #writingMs = 0;

  constructor(options: InventoryOptions<A>) {
    const { tables, events, isHome, assets, folds = [], now } = options;
    this.#tables = tables;
    this.#events = events;
    this.#isHome = isHome;
    this.#folds = folds;
    this.#now = now;
    this.#memory = new ConnectionMemory(options.rememberedConnections ?? limits.rememberedConnections);
    this.services = new Services(tables, (id, by) => this.assets.serviceCountChanged(id, by), now);
    this.assets = assets(this.services);
  }

  /**
   * Counts the stored events that were not counted yet, in transactions of its own, so that a kill loses little.
   *
   * @param transaction - runs in one transaction, flushed
   */
  catchUp(transaction: (step: () => void) => void): void {
    let more = true;
    while (more) {
      transaction(() => {
        more = this.#foldSome(catchUpRows);
        this.checkpoint();
      });
    }
    while (this.dirty > 0 || this.#moved) transaction(() => this.write());
  }

  /**
   * Takes in what a batch brought: the blocks that it stored, and what isn't stored as events, which is written with this
   * transaction. Hosts come first, those of events and of sightings in the order of their times, and names last: they are
   * lost where their host isn't known.
   */
  take(blocks: readonly CommittedBlock[], sightings: readonly Sighting[]): void {
    if (blocks.length === 0 && sightings.length === 0) return;
    this.#ready();
    const hosts = sightings.filter(isHost).sort((a, b) => a.at - b.at);
    for (const block of blocks) if (block.table === 'network') this.#observe(block, hosts);
    for (const host of hosts) this.#sight(host);
    for (const sighting of sightings) if (sighting.kind === 'service') this.#sight(sighting);
    for (const block of blocks) if (block.table === 'dns') this.#observe(block);
    for (const sighting of sightings)
      if (sighting.kind === 'name' || sighting.kind === 'system') this.#sight(sighting);
    if (sightings.length > 0) this.force();
  }

  /** @param hosts - by time; those up to the last host of the block are taken in with it, and from this list */
  #observe({ table, first_seq, rows, buffer }: CommittedBlock, hosts: HostAt[] = []): void {
    const position = this.#position!;
    if (position[table] >= first_seq + rows) return;
    if (position[table] !== first_seq)
      throw new Error(`${table} events from ${position[table]} to ${first_seq} are not in the inventory`);
    this.#fold(openBlock(buffer, first_seq), 0, rows, hosts);
  }

  /** Takes in what a scan found at ports of home addresses; the assets are told of the hosts before. */
  scanned(found: readonly Scanned[]): void {
    this.#ready();
    for (const one of found) {
      const assetId = this.assets.assetAt(one.ip, one.at);
      if (assetId !== undefined) this.services.scanned(assetId, one);
    }
    this.force();
  }

  /** Brings memory up to all that is stored: before people's changes are planned, which go by what is known. */
  ready(): void {
    this.#ready();
  }

  /** Everything is written at the end of this transaction: something changed that isn't in the events. */
  force(): void {
    this.#forced = true;
  }

  /** Rows in memory that are not written. */
  get dirty(): number {
    return this.#parts().reduce((sum, part) => sum + part.dirty, 0);
  }

  /**
   * Writes what changed, with the position, unless that is so much that it waits for more: at most a fifth of the time
   * goes into writing, until memory is full. True when all is written.
   */
  checkpoint(): boolean {
    const { dirty } = this;
    if (dirty === 0 && !this.#moved && !this.#forced) return true;
    const due =
      this.#forced ||
      dirty <= limits.inventoryRowsPerCommit ||
      performance.now() - this.#writtenAt >= Math.max(limits.inventoryPauseMs, 4 * this.#writingMs);
    if (due) this.write();
    return this.dirty === 0;
  }

  write(): void {
    const began = performance.now();
    for (const part of this.#parts()) part.write();
    if (this.#position !== undefined)
      for (const table of eventTables)
        this.#tables.inventoryState.putSync(table, { next_seq: this.#position[table] });
    this.#moved = false;
    this.#forced = false;
    this.#writtenAt = performance.now();
    this.#writingMs = this.#writtenAt - began;
  }

  /** The transaction was undone: what memory holds may never have been. */
  forget(): void {
    for (const part of this.#parts()) part.forget();
    this.#observations.clear();
    this.#position = undefined;
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
      rememberedConnections: this.#memory.forgotten,
      maxSpansPerAddress: this.#observations.united,
      rememberedForwarders: this.#observations.forgottenForwarders,
    };
    return Object.fromEntries(Object.entries(reached).filter(([, times]) => times > 0));
  }

  #parts(): readonly InventoryPart[] {
    return [this.assets, this.services, ...this.#folds];
  }

  /** The position, after memory was brought up to all that is stored. */
  #ready(): Record<Table, number> {
    if (this.#position === undefined) {
      try {
        while (this.#foldSome(catchUpRows));
      } catch (error) {
        // Half of it must not stay, where only the call that asked is refused.
        this.forget();
        throw error;
      }
    }
    return this.#position!;
  }

  /** Counts at most so many rows that are stored and not counted; true when there may be more. */
  #foldSome(limit: number): boolean {
    this.#position ??= this.#recall();
    let rows = 0;
    for (const table of eventTables) {
      for (const { block, first, end } of this.#events.rows(table, this.#position[table])) {
        this.#fold(block, first, end);
        rows += end - first;
        if (rows >= limit) return true;
      }
      // Where the newest events are no longer stored, there is nothing to count.
      this.#position[table] = Math.max(this.#position[table], this.#events.next(table));
    }
    return false;
  }

  /** The committed position, with the connections that were reported before it. */
  #recall(): Record<Table, number> {
    const positionOf = (table: Table) => this.#tables.inventoryState.get(table)?.next_seq ?? 1;
    const position = { network: positionOf('network'), dns: positionOf('dns') };
    this.#memory.clear();
    const oldest = Math.max(1, position.network - this.#memory.slots);
    for (const { block, first, end } of this.#events.rows('network', oldest, position.network))
      this.#observations.recall(block, this.#memory, first, end);
    return position;
  }

  /** Rows [first, end) of a block, the next of its table. */
  #fold(block: EventBlock, first: number, end: number, hosts: HostAt[] = []): void {
    if (block.table === 'network') this.#foldFlows(block, first, end, hosts);
    else for (const name of namesInDns(block, this.#isHome, first, end)) this.#sight(name);
    this.#position![block.table] = block.firstSeq + end;
    this.#moved = true;
    if (this.dirty >= limits.maxUnwrittenInventoryRows) this.write();
  }

  #foldFlows(block: EventBlock, first: number, end: number, sighted: HostAt[]): void {
    const observations = this.#observations;
    observations.add(block, this.#memory, this.#folds, first, end);
    for (const mac of observations.gateways()) this.assets.gatewaySeen(mac);
    let next = 0;
    for (const host of observations.hosts()) {
      while (next < sighted.length && sighted[next]!.at <= host.first) this.#sight(sighted[next++]!);
      this.assets.hostSeen(this.#believed(host));
    }
    sighted.splice(0, next);
    for (const each of observations.services()) {
      const service = this.#believed(each);
      const assetId = this.assets.assetAt(service.ip, service.last);
      if (assetId !== undefined) this.services.seen(assetId, service);
    }
    observations.clear();
  }

  /** With times no later than now: a clock that is ahead, or a duration without reason, would stay in front for good. */
  #believed<T extends { readonly first: number; readonly last: number }>(seen: T): T {
    const latest = this.#latest();
    if (seen.last <= latest) return seen;
    return { ...seen, first: Math.min(seen.first, latest), last: latest };
  }

  #latest(): number {
    return this.#now() + limits.maxClockLeadMs;
  }

  #sight(told: Sighting): void {
    const sighting = { ...told, at: Math.min(told.at, this.#latest()) };
    if (sighting.kind !== 'service') {
      this.assets.sight(sighting);
      return;
    }
    const { ip, at } = sighting;
    const assetId = this.assets.assetAt(ip, at) ?? this.assets.hostSeen({ ip, first: at, last: at });
    if (assetId !== undefined) this.services.sight(assetId, sighting);
  }
}

type HostAt = Extract<Sighting, { kind: 'host' }>;
const isHost = (sighting: Sighting): sighting is HostAt => sighting.kind === 'host';

/** Rows between two checkpoints while catching up: a fraction of a second. */
const catchUpRows = 65_536;

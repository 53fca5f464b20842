import type { EventBlock } from '../../events/format/block.ts';
import type { EventStore } from '../../events/store/event-store.ts';
import { limits } from '../../limits.ts';
import type { IsHome } from '../../net/home-networks.ts';
import { ConnectionMemory } from '../model/connection-memory.ts';
import { namesInDns } from '../model/dns-names.ts';
import { Observations } from '../model/observations.ts';
import type { FlowConsumer } from '../model/seen.ts';
import type { Sighting } from '../model/sighting.ts';
import type { AssetsPart, TransactionalState } from './parts.ts';
import type { HostAt } from './pending-sightings.ts';
import type { Services } from './services.ts';
import { guarded } from './skipped-events.ts';

/** A further projection of the events of the inventory, row by row, committed with the positions of the inventory. */
export interface Projection extends FlowConsumer, TransactionalState {
  /** Receives rows [from, to) of a block of DNS events. */
  dns?(block: EventBlock, from: number, to: number): void;
  /**
   * Does deferred work; called when all stored events are processed. If work is pending, returns the
   * milliseconds after which `settle` must be called again.
   */
  settle?(): number | undefined;
}

interface DispatcherOptions {
  readonly assets: AssetsPart;
  readonly services: Services;
  readonly projections: readonly Projection[];
  readonly isHome: IsHome;
  /** Returns the time in epoch milliseconds. */
  readonly now: () => number;
  readonly rememberedConnections: number;
}

/** Passes events and sightings to the assets, the services and the other projections. */
export class EventDispatcher {
  readonly #assets: AssetsPart;
  readonly #services: Services;
  readonly #projections: readonly Projection[];
  readonly #isHome: IsHome;
  readonly #now: () => number;
  readonly #memory: ConnectionMemory;
  readonly #observations = new Observations();
  /** Sightings whose processing failed, as JSON. */
  readonly #failing = new Set<string>();

  constructor(options: DispatcherOptions) {
    this.#assets = options.assets;
    this.#services = options.services;
    this.#projections = options.projections;
    this.#isHome = options.isHome;
    this.#now = options.now;
    this.#memory = new ConnectionMemory(options.rememberedConnections);
  }

  /** Numbers of entries that were evicted or merged because of a limit. They only increase. */
  get forgotten(): { readonly connections: number; readonly spans: number; readonly forwarders: number } {
    const { united, forgottenForwarders } = this.#observations;
    return { connections: this.#memory.forgotten, spans: united, forwarders: forgottenForwarders };
  }

  /**
   * Processes rows [first, end) of a block, which must be the next rows of their table.
   *
   * @param hosts - sightings by time; sightings up to the time of the last host in the rows are processed with
   *   the rows and removed from this list
   */
  dispatch(block: EventBlock, first: number, end: number, hosts: HostAt[]): void {
    if (block.table === 'network') this.#dispatchFlows(block, first, end, hosts);
    else this.#dispatchDns(block, first, end);
  }

  /**
   * Restores the connections that were reported before the given sequence of network events. Reads as many events
   * as the memory has slots. An open connection that was last reported before them is not restored, although the
   * memory may have kept it: its next report counts again.
   *
   * @param rows - yields the network events of a range of sequences
   */
  recall(rows: (from: number, to: number) => ReturnType<EventStore['rows']>, before: number): void {
    this.#memory.clear();
    const oldest = Math.max(1, before - this.#memory.slots);
    for (const { block, first, end } of rows(oldest, before))
      this.#observations.recall(block, this.#memory, first, end);
  }

  forget(): void {
    this.#observations.clear();
  }

  #dispatchDns(block: EventBlock, first: number, end: number): void {
    for (const projection of this.#projections) projection.dns?.(block, first, end);
    for (const name of namesInDns(block, this.#isHome, first, end)) this.#sight(name);
  }

  #dispatchFlows(block: EventBlock, first: number, end: number, sighted: HostAt[]): void {
    const observations = this.#observations;
    observations.add(block, this.#memory, this.#projections, first, end);
    for (const mac of observations.gateways()) this.#assets.gatewaySeen(mac);
    let next = 0;
    for (const host of observations.hosts()) {
      while (next < sighted.length && sighted[next]!.at <= host.first) this.sight(sighted[next++]!);
      this.#assets.hostSeen(this.#believed(host));
    }
    sighted.splice(0, next);
    for (const each of observations.services()) {
      const service = this.#believed(each);
      const assetId = this.#assets.assetAt(service.ip, service.last);
      if (assetId !== undefined) this.#services.seen(assetId, service);
    }
    observations.clear();
  }

  /**
   * Limits times to the present, because a time from a clock that is ahead, or from a wrong duration, would
   * permanently be the latest time.
   */
  #believed<T extends { readonly first: number; readonly last: number }>(seen: T): T {
    const latest = this.#latest();
    if (seen.last <= latest) return seen;
    return { ...seen, first: Math.min(seen.first, latest), last: latest };
  }

  #latest(): number {
    return this.#now() + limits.maxClockLeadMs;
  }

  /** Processes a sighting of a sensor, unless processing it failed before. */
  sight(reported: Sighting): void {
    if (this.#failing.size > 0 && this.#failing.has(JSON.stringify(reported))) return;
    guarded(() => this.#sight(reported), { sighting: reported });
  }

  /** Ignores a sighting from now on. */
  skip(sighting: Sighting): void {
    this.#failing.add(JSON.stringify(sighting));
  }

  #sight(reported: Sighting): void {
    const sighting = { ...reported, at: Math.min(reported.at, this.#latest()) };
    if (sighting.kind !== 'service') {
      this.#assets.sight(sighting);
      return;
    }
    const { ip, at } = sighting;
    const assetId = this.#assets.assetAt(ip, at) ?? this.#assets.hostSeen({ ip, first: at, last: at });
    if (assetId !== undefined) this.#services.sight(assetId, sighting);
  }
}

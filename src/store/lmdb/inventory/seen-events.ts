import type { EventBlock } from '../../../events/block.ts';
import type { IsHome } from '../../../events/home-networks.ts';
import { ConnectionMemory } from '../../../inventory/connection-memory.ts';
import { namesInDns } from '../../../inventory/dns-names.ts';
import { Observations } from '../../../inventory/observations.ts';
import type { FlowSink } from '../../../inventory/seen.ts';
import type { Sighting } from '../../../inventory/sighting.ts';
import { limits } from '../../../limits.ts';
import type { LmdbEvents } from '../events.ts';
import type { AssetsPart, InventoryPart } from './parts.ts';
import type { Services } from './services.ts';
import type { HostAt } from './told.ts';

/** Another projection of the same events, row by row, committed with the same positions. */
export interface FlowFold extends FlowSink, InventoryPart {
  /** Rows [from, to) of a block of DNS events. */
  dns?(block: EventBlock, from: number, to: number): void;
  /**
   * Called when all stored events are processed. Returns milliseconds after which to call this again, if work
   * is pending.
   */
  settle?(): number | undefined;
}

interface SeenOptions {
  readonly assets: AssetsPart;
  readonly services: Services;
  readonly folds: readonly FlowFold[];
  readonly isHome: IsHome;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly rememberedConnections: number;
}

/** Passes events and sightings to the assets, the services and the other projections. */
export class SeenEvents {
  readonly #assets: AssetsPart;
  readonly #services: Services;
  readonly #folds: readonly FlowFold[];
  readonly #isHome: IsHome;
  readonly #now: () => number;
  readonly #memory: ConnectionMemory;
  readonly #observations = new Observations();

  constructor(options: SeenOptions) {
    this.#assets = options.assets;
    this.#services = options.services;
    this.#folds = options.folds;
    this.#isHome = options.isHome;
    this.#now = options.now;
    this.#memory = new ConnectionMemory(options.rememberedConnections);
  }

  /** How often entries were forgotten or united because of a limit. Only grows. */
  get forgotten(): { readonly connections: number; readonly spans: number; readonly forwarders: number } {
    const { united, forgottenForwarders } = this.#observations;
    return { connections: this.#memory.forgotten, spans: united, forwarders: forgottenForwarders };
  }

  /**
   * Processes rows [first, end) of a block, the next of its table.
   *
   * @param hosts - by time; those up to the last host of the rows are processed with them and removed from
   * this list
   */
  fold(block: EventBlock, first: number, end: number, hosts: HostAt[]): void {
    if (block.table === 'network') this.#foldFlows(block, first, end, hosts);
    else this.#foldDns(block, first, end);
  }

  /** Restores the connections that were reported before this sequence of network events. */
  recall(events: LmdbEvents, before: number): void {
    this.#memory.clear();
    const oldest = Math.max(1, before - this.#memory.slots);
    for (const { block, first, end } of events.rows('network', oldest, before))
      this.#observations.recall(block, this.#memory, first, end);
  }

  forget(): void {
    this.#observations.clear();
  }

  #foldDns(block: EventBlock, first: number, end: number): void {
    for (const fold of this.#folds) fold.dns?.(block, first, end);
    for (const name of namesInDns(block, this.#isHome, first, end)) this.sight(name);
  }

  #foldFlows(block: EventBlock, first: number, end: number, sighted: HostAt[]): void {
    const observations = this.#observations;
    observations.add(block, this.#memory, this.#folds, first, end);
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

  /** Limits times to now: a clock that is ahead, or a wrong duration, would stay the latest for good. */
  #believed<T extends { readonly first: number; readonly last: number }>(seen: T): T {
    const latest = this.#latest();
    if (seen.last <= latest) return seen;
    return { ...seen, first: Math.min(seen.first, latest), last: latest };
  }

  #latest(): number {
    return this.#now() + limits.maxClockLeadMs;
  }

  /** Processes a sighting of a sensor. */
  sight(reported: Sighting): void {
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

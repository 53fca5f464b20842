import { limits } from '../../limits.ts';
import type { Pass } from '../model/pass.ts';
import type { Sighting } from '../model/sighting.ts';
import type { AssetsPart } from './parts.ts';
import type { HostAt } from './pending-sightings.ts';
import type { Services } from './services.ts';
import { guarded } from './skipped-events.ts';

interface RecorderOptions {
  readonly assets: AssetsPart;
  readonly services: Services;
  /** Returns the time in epoch milliseconds. */
  readonly now: () => number;
}

/** Records evidence from events, and sightings that sensors reported, in the assets and services. */
export class InventoryRecorder {
  readonly #assets: AssetsPart;
  readonly #services: Services;
  readonly #now: () => number;
  /** Sightings whose processing failed, as JSON. */
  readonly #failing = new Set<string>();

  constructor({ assets, services, now }: RecorderOptions) {
    this.#assets = assets;
    this.#services = services;
    this.#now = now;
  }

  /**
   * Records the evidence of a pass, and pauses after each host, service and name.
   *
   * @param sighted - sightings by time; sightings up to the time of the last host in the pass are recorded with the
   *   pass and removed from this list
   */
  *record({ hosts, services, gateways, names }: Pass, sighted: HostAt[]): Generator<undefined> {
    for (const mac of gateways) this.#assets.gatewaySeen(mac);
    for (const host of hosts) {
      while (sighted.length > 0 && sighted[0]!.at <= host.first) this.sight(sighted.shift()!);
      this.#assets.hostSeen(this.#believed(host));
      yield;
    }
    for (const each of services) {
      const service = this.#believed(each);
      const assetId = this.#assets.assetAt(service.ip, service.last);
      if (assetId !== undefined) this.#services.seen(assetId, service);
      yield;
    }
    for (const name of names) {
      this.#sight(name);
      yield;
    }
  }

  /** Records a sighting that a sensor reported, unless recording it failed before. */
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

  /**
   * Limits times to the present plus `limits.maxClockLeadMs`, because a time from a clock that is ahead, or from a
   * wrong duration, would permanently be the latest time.
   */
  #believed<T extends { readonly first: number; readonly last: number }>(seen: T): T {
    const latest = this.#latest();
    if (seen.last <= latest) return seen;
    return { ...seen, first: Math.min(seen.first, latest), last: latest };
  }

  #latest(): number {
    return this.#now() + limits.maxClockLeadMs;
  }
}

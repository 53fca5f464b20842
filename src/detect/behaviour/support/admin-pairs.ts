import { limits } from '../../../limits.ts';
import type { Flow } from '../detector.ts';
import { BlockCache } from './block-cache.ts';
import { OldestKeys } from './oldest-keys.ts';

/** A service that a source reached. */
export interface Reached {
  readonly dst: string;
  readonly port: number;
  /** Event time of the first flow, epoch milliseconds. */
  first: number;
  last: number;
  /** Sequence of the first flow. */
  seq: number;
}

export interface Reaching {
  /** Services by target and port. */
  readonly pairs: Map<string, Reached>;
  toldAt: number;
  toldRank: number;
  toldFigure: number;
  isRefreshing: boolean;
  /** Time up to which windows need no further evaluation. Absent in states of earlier versions. */
  evaluatedTo?: number;
}

/** The first users of a service, by time. The list is long enough to decide whether the service is public. */
type FirstUsers = { readonly src: string; first: number }[];

export interface AdminPairsState {
  readonly start: number;
  readonly hosts: ReadonlyMap<string, number>;
  readonly sources: ReadonlyMap<string, Reaching>;
  readonly services: ReadonlyMap<string, FirstUsers>;
  /** Sources whose reports are to be refreshed. Absent in states of earlier versions. */
  readonly stale?: readonly string[];
}

interface AdminPairsOptions {
  readonly rememberedMs: number;
  readonly publicSources: number;
  readonly maxSources: number;
  readonly maxPairsOfSource: number;
  readonly maxPairs: number;
  readonly maxHosts: number;
  readonly maxServices: number;
}

/**
 * Records which home hosts administer which other hosts, and since when. Full tables drop their oldest
 * entries.
 */
export class AdminPairs {
  readonly #options: AdminPairsOptions;
  #start = Number.POSITIVE_INFINITY;
  /** Time of the first flow of each home host. */
  readonly #hosts = new Map<string, number>();
  readonly #sources = new Map<string, Reaching>();
  readonly #services = new Map<string, FirstUsers>();
  readonly #eldestHost = new OldestKeys(this.#hosts);
  readonly #eldestSource = new OldestKeys(this.#sources);
  readonly #eldestService = new OldestKeys(this.#services);
  readonly #new = new Set<string>();
  /** Sources that reached a new service since their last report. */
  readonly #stale = new Set<string>();
  #pairs = 0;
  #forgotten = 0;
  /** Values of `#hosts`, cached for the hosts of one block. */
  readonly #firstOfBlock = new BlockCache<number>();

  constructor(options: AdminPairsOptions) {
    this.#options = options;
  }

  /** Time of the first flow of any home host. */
  get start(): number {
    return this.#start;
  }

  get forgotten(): number {
    return this.#forgotten;
  }

  get stale(): number {
    return this.#stale.size;
  }

  /** Records the time of a flow, if it is the first flow of its home host. */
  saw({ src, time, block, srcPlace }: Readonly<Flow>): void {
    const first = this.#firstOfBlock.get(block, srcPlace);
    if (first !== undefined && time >= first) return;
    this.#sawHost(src, time);
    this.#firstOfBlock.set(block, srcPlace, this.#hosts.get(src)!);
  }

  #sawHost(src: string, time: number): void {
    const first = this.#hosts.get(src);
    if (first !== undefined && time >= first) return;
    if (first === undefined && this.#hosts.size >= this.#options.maxHosts) this.#forget(this.#hosts, this.#eldestHost);
    this.#hosts.set(src, time);
    if (time < this.#start) this.#start = time;
  }

  hostSince(src: string, otherwise: number): number {
    return this.#hosts.get(src) ?? otherwise;
  }

  reached({ src, dst, port, time, seq }: Readonly<Flow>): void {
    this.#reached(src, { dst, port, first: time, last: time, seq });
  }

  /** Returns true if enough other sources used the service before this source. */
  isPublic(src: string, { dst, port, first }: Reached): boolean {
    const users = this.#services.get(keyOf(dst, port)) ?? [];
    const before = users.filter((user) => user.src !== src && user.first < first);
    return before.length >= this.#options.publicSources;
  }

  /**
   * Returns sources that reached a new service since the last call. With `refreshes`, also returns a limited number
   * of sources whose reports are due for a refresh.
   */
  takeNew(refreshes = false): [src: string, source: Reaching][] {
    const refreshed = refreshes ? [...this.#stale].slice(0, limits.refreshedKeys) : [];
    const taken = [...new Set([...this.#new, ...refreshed])].flatMap((src): [string, Reaching][] => {
      const source = this.#sources.get(src);
      if (source === undefined) return [];
      source.isRefreshing = refreshes;
      if (!refreshes && source.toldRank >= 0) this.#stale.add(src);
      return [[src, source]];
    });
    for (const src of refreshed) this.#stale.delete(src);
    this.#new.clear();
    return taken;
  }

  /** Includes a source in a later refresh. */
  refreshLater(src: string): void {
    this.#stale.add(src);
  }

  state(): AdminPairsState {
    const [start, hosts, sources] = [this.#start, this.#hosts, this.#sources];
    return { start, hosts, sources, services: this.#services, stale: [...this.#stale] };
  }

  restore(state: AdminPairsState): void {
    for (const table of [this.#hosts, this.#sources, this.#services, this.#new, this.#stale]) table.clear();
    this.#start = Number.POSITIVE_INFINITY;
    this.#firstOfBlock.forget();
    this.#pairs = 0;
    this.merge(state);
    this.#new.clear();
    for (const src of state.stale ?? []) this.#stale.add(src);
  }

  merge({ start, hosts, sources, services }: AdminPairsState): void {
    for (const [src, first] of hosts) this.#sawHost(src, first);
    this.#start = Math.min(this.#start, start);
    for (const [src, source] of sources) {
      for (const pair of source.pairs.values()) this.#reached(src, pair);
      const into = this.#sources.get(src);
      if (into === undefined || source.toldAt < into.toldAt) continue;
      into.toldRank = source.toldAt > into.toldAt ? source.toldRank : Math.max(source.toldRank, into.toldRank);
      if (source.toldAt > into.toldAt) into.toldFigure = source.toldFigure ?? 0;
      else into.toldFigure = Math.max(into.toldFigure, source.toldFigure ?? 0);
      into.toldAt = source.toldAt;
      // States of earlier versions do not say what was evaluated, so their earlier windows are not evaluated again.
      into.evaluatedTo = Math.max(into.evaluatedTo!, source.evaluatedTo ?? Number.POSITIVE_INFINITY);
    }
    for (const [key, users] of services) for (const { src, first } of users) this.#use(key, src, first);
  }

  #reached(src: string, { dst, port, first, last, seq }: Reached): void {
    const key = keyOf(dst, port);
    this.#use(key, src, first);
    const source = this.#source(src);
    const known = source.pairs.get(key);
    if (known === undefined) {
      if (source.pairs.size >= this.#options.maxPairsOfSource) {
        this.#forget(source.pairs);
        this.#pairs--;
      }
      source.pairs.set(key, { dst, port, first, last, seq });
      this.#pairs++;
      this.#new.add(src);
      this.#trim(src);
    } else if (first > known.last + this.#options.rememberedMs) {
      Object.assign(known, { first, last, seq });
      this.#new.add(src);
    } else {
      if (first < known.first) Object.assign(known, { first, seq });
      if (last > known.last) known.last = last;
    }
  }

  #source(src: string): Reaching {
    const known = this.#sources.get(src);
    if (known !== undefined) return known;
    const source: Reaching = {
      pairs: new Map(),
      toldAt: Number.NEGATIVE_INFINITY,
      toldRank: -1,
      toldFigure: 0,
      isRefreshing: false,
      evaluatedTo: Number.NEGATIVE_INFINITY,
    };
    this.#sources.set(src, source);
    return source;
  }

  /** Drops the oldest sources, except `kept`, until the limits are met. */
  #trim(kept: string): void {
    const { maxSources, maxPairs } = this.#options;
    while (this.#sources.size > 1 && (this.#sources.size > maxSources || this.#pairs > maxPairs)) {
      const src = this.#eldestSource.next();
      if (src === undefined || src === kept) continue;
      const pairs = this.#sources.get(src)?.pairs.size ?? 0;
      this.#pairs -= pairs;
      this.#forgotten += pairs;
      this.#sources.delete(src);
      this.#new.delete(src);
      this.#stale.delete(src);
    }
  }

  #use(key: string, src: string, first: number): void {
    const users = this.#services.get(key);
    if (users === undefined) {
      if (this.#services.size >= this.#options.maxServices) this.#forget(this.#services, this.#eldestService);
      this.#services.set(key, [{ src, first }]);
      return;
    }
    const known = users.find((user) => user.src === src);
    // One more user than the number that makes a service public, because the evaluated source may be among the users.
    const kept = this.#options.publicSources + 1;
    if (known !== undefined) {
      if (first >= known.first) return;
      known.first = first;
    } else if (users.length < kept || first < users.at(-1)!.first) users.push({ src, first });
    else return;
    users.sort((a, b) => a.first - b.first || (a.src < b.src ? -1 : 1));
    if (users.length > kept) users.pop();
  }

  #forget(table: Map<string, unknown>, eldest = new OldestKeys(table)): void {
    const key = eldest.next();
    if (key === undefined || !table.delete(key)) return;
    this.#forgotten++;
    if (table === this.#hosts) this.#firstOfBlock.forget();
  }
}

const keyOf = (dst: string, port: number): string => `${dst} ${port}`;

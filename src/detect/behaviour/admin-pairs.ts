import { limits } from '../../limits.ts';
import type { Flow } from './detector.ts';
import { Eldest } from './eldest.ts';
import { OfBlock } from './of-block.ts';

/** One service that a source reached. */
export interface Reached {
  readonly dst: string;
  readonly port: number;
  /** Event time, epoch milliseconds. */
  first: number;
  last: number;
  /** Of the first. */
  seq: number;
}

export interface Reaching {
  /** By target and port. */
  readonly pairs: Map<string, Reached>;
  toldAt: number;
  toldRank: number;
  toldFigure: number;
  isRefreshing: boolean;
}

/** Who used a service first, in order of time: so many as make it a service for all. */
type FirstUsers = { readonly src: string; first: number }[];

export interface AdminPairsState {
  readonly start: number;
  readonly hosts: ReadonlyMap<string, number>;
  readonly sources: ReadonlyMap<string, Reaching>;
  readonly services: ReadonlyMap<string, FirstUsers>;
  /** Sources whose reports are to be refreshed. Absent in states of earlier versions. */
  readonly stale?: readonly string[];
}

interface Terms {
  readonly rememberedMs: number;
  readonly publicSources: number;
  readonly maxSources: number;
  readonly maxPairsOfSource: number;
  readonly maxPairs: number;
  readonly maxHosts: number;
  readonly maxServices: number;
}

/** Which home host reaches which others where one administers, and since when. Full tables forget what came first. */
export class AdminPairs {
  readonly #terms: Terms;
  #start = Number.POSITIVE_INFINITY;
  /** Home hosts, and when the first flow of each began. */
  readonly #hosts = new Map<string, number>();
  readonly #sources = new Map<string, Reaching>();
  readonly #services = new Map<string, FirstUsers>();
  readonly #eldestHost = new Eldest(this.#hosts);
  readonly #eldestSource = new Eldest(this.#sources);
  readonly #eldestService = new Eldest(this.#services);
  readonly #new = new Set<string>();
  /** Sources that were reported and reached something new since. */
  readonly #stale = new Set<string>();
  #pairs = 0;
  #forgotten = 0;
  /** Of hosts of a block, what `#hosts` has. */
  readonly #firstOfBlock = new OfBlock<number>();

  constructor(terms: Terms) {
    this.#terms = terms;
  }

  /** When the first flow of a home host began. */
  get start(): number {
    return this.#start;
  }

  get forgotten(): number {
    return this.#forgotten;
  }

  get stale(): number {
    return this.#stale.size;
  }

  /** For every flow of a home host. */
  saw({ src, time, block, srcPlace }: Readonly<Flow>): void {
    const first = this.#firstOfBlock.get(block, srcPlace);
    if (first !== undefined && time >= first) return;
    this.#sawHost(src, time);
    this.#firstOfBlock.set(block, srcPlace, this.#hosts.get(src)!);
  }

  #sawHost(src: string, time: number): void {
    const first = this.#hosts.get(src);
    if (first !== undefined && time >= first) return;
    if (first === undefined && this.#hosts.size >= this.#terms.maxHosts)
      this.#forget(this.#hosts, this.#eldestHost);
    this.#hosts.set(src, time);
    if (time < this.#start) this.#start = time;
  }

  hostSince(src: string, otherwise: number): number {
    return this.#hosts.get(src) ?? otherwise;
  }

  reached({ src, dst, port, time, seq }: Readonly<Flow>): void {
    this.#reached(src, { dst, port, first: time, last: time, seq });
  }

  /** Whether enough others used the service before this source did. */
  isPublic(src: string, { dst, port, first }: Reached): boolean {
    const users = this.#services.get(keyOf(dst, port)) ?? [];
    const before = users.filter((user) => user.src !== src && user.first < first);
    return before.length >= this.#terms.publicSources;
  }

  /** Sources that reached something new since it was asked last, and those whose reports are to be refreshed. */
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
      into.toldRank =
        source.toldAt > into.toldAt ? source.toldRank : Math.max(source.toldRank, into.toldRank);
      into.toldAt = source.toldAt;
      into.toldFigure = Math.max(into.toldFigure, source.toldFigure ?? 0);
    }
    for (const [key, users] of services) for (const { src, first } of users) this.#use(key, src, first);
  }

  #reached(src: string, { dst, port, first, last, seq }: Reached): void {
    const key = keyOf(dst, port);
    this.#use(key, src, first);
    const source = this.#source(src);
    const known = source.pairs.get(key);
    if (known === undefined) {
      if (source.pairs.size >= this.#terms.maxPairsOfSource) {
        this.#forget(source.pairs);
        this.#pairs--;
      }
      source.pairs.set(key, { dst, port, first, last, seq });
      this.#pairs++;
      this.#new.add(src);
      this.#trim(src);
    } else if (first > known.last + this.#terms.rememberedMs) {
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
    };
    this.#sources.set(src, source);
    return source;
  }

  /** Makes room by forgetting the sources that came first, but not this one. */
  #trim(kept: string): void {
    const { maxSources, maxPairs } = this.#terms;
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
      if (this.#services.size >= this.#terms.maxServices) this.#forget(this.#services, this.#eldestService);
      this.#services.set(key, [{ src, first }]);
      return;
    }
    const known = users.find((user) => user.src === src);
    // One more than makes it public: the source that is judged may be among them.
    const kept = this.#terms.publicSources + 1;
    if (known !== undefined) {
      if (first >= known.first) return;
      known.first = first;
    } else if (users.length < kept || first < users.at(-1)!.first) users.push({ src, first });
    else return;
    users.sort((a, b) => a.first - b.first || (a.src < b.src ? -1 : 1));
    if (users.length > kept) users.pop();
  }

  #forget(table: Map<string, unknown>, eldest = new Eldest(table)): void {
    const key = eldest.next();
    if (key === undefined || !table.delete(key)) return;
    this.#forgotten++;
    if (table === this.#hosts) this.#firstOfBlock.forget();
  }
}

const keyOf = (dst: string, port: number): string => `${dst} ${port}`;

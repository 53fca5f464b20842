import { type ClientCount, clientsIn, mergeUpTo, noClients } from '../../sketch/client-count.ts';
import { TopList } from '../../sketch/top-list.ts';

/** Exact counters, in storage order. */
export const counters = [
  'network_events',
  'dns_events',
  'bytes',
  'rejected_connections',
  'nxdomain',
  'new_assets',
  'new_services',
] as const;
export type Counter = (typeof counters)[number];

/** Index of each counter in `counts`. */
export const counterAt = Object.fromEntries(counters.map((counter, i) => [counter, i])) as Readonly<
  Record<Counter, number>
>;

/** Quantities whose distinct values are counted. */
export const distincts = ['sources', 'destinations', 'domains'] as const;
export type DistinctCounter = (typeof distincts)[number];

/** Quantities with a list of the most frequent values. */
export const tops = ['talkers', 'destinations', 'services', 'domains'] as const;
export type Top = (typeof tops)[number];

/**
 * The precision of a rollup: number of hashes up to which a distinct count is exact, `most` of each `TopList`, and
 * maximum bytes.
 */
export interface Fineness {
  readonly hashes: number;
  readonly entries: number;
  /** Maximum value of a sum of bytes. */
  readonly bytes: number;
}

/** The statistics of a span of time. Rollups of two spans can be merged. */
export class Rollup {
  readonly fineness: Fineness;
  readonly counts = new Float64Array(counters.length);
  readonly distinct: Record<DistinctCounter, ClientCount> = {
    sources: noClients,
    destinations: noClients,
    domains: noClients,
  };
  readonly top: Record<Top, TopList>;
  /** Number of times that the bytes exceeded the capacity of a link. */
  overflows = 0;

  constructor(fineness: Fineness) {
    this.fineness = fineness;
    const list = () => new TopList(fineness.entries, fineness.bytes);
    this.top = { talkers: list(), destinations: list(), services: list(), domains: list() };
  }

  count(counter: Counter): number {
    return this.counts[counterAt[counter]]!;
  }

  add(counter: Counter, by: number): void {
    this.counts[counterAt[counter]]! += by;
  }

  /** Returns the number of distinct values, which is exact if `isExact` is true. */
  different(of: DistinctCounter): number {
    return clientsIn(this.distinct[of]);
  }

  isExact(of: DistinctCounter): boolean {
    return this.distinct[of] instanceof Uint32Array;
  }

  merge(other: Rollup): void {
    for (let i = 0; i < counters.length; i++) this.counts[i]! += other.counts[i]!;
    this.limitBytes();
    this.mergeDistinct(other);
    for (const top of tops) this.top[top].merge(other.top[top]);
  }

  limitBytes(): void {
    if (this.counts[counterAt.bytes]! <= this.fineness.bytes) return;
    this.counts[counterAt.bytes] = this.fineness.bytes;
    this.overflows++;
  }

  /** Merges only the distinct values. */
  mergeDistinct(other: Rollup): void {
    for (const of of distincts)
      this.distinct[of] = mergeUpTo(this.fineness.hashes, this.distinct[of], other.distinct[of]);
  }

  /** Approximate size, as a number of list entries. */
  get size(): number {
    let size = 0;
    for (const of of distincts) size += this.distinct[of].byteLength >>> 6;
    for (const top of tops) size += this.top[top].entries.size;
    return size;
  }
}

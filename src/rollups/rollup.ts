import { type ClientCount, clientsIn, mergeUpTo, noClients } from '../inventory/client-count.ts';
import { TopList } from './top-list.ts';

/** What is counted exactly, in the order in which it is kept. */
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

/** The place of each in `counts`. */
export const counterAt = Object.fromEntries(counters.map((counter, i) => [counter, i])) as Readonly<
  Record<Counter, number>
>;

/** Of which it is counted how many different ones there were. */
export const distincts = ['sources', 'destinations', 'domains'] as const;
export type Distinct = (typeof distincts)[number];

/** Of which those are kept that were met most. */
export const tops = ['talkers', 'destinations', 'services', 'domains'] as const;
export type Top = (typeof tops)[number];

/** How exact it is: hashes that are kept before a number is estimated, and entries of a list. */
export interface Fineness {
  readonly hashes: number;
  readonly entries: number;
  /** Where sums of bytes stop. */
  readonly bytes: number;
}

/** All that is known of a stretch of time. Rollups of stretches merge into that of both together. */
export class Rollup {
  readonly fineness: Fineness;
  readonly counts = new Float64Array(counters.length);
  readonly distinct: Record<Distinct, ClientCount> = {
    sources: noClients,
    destinations: noClients,
    domains: noClients,
  };
  readonly top: Record<Top, TopList>;
  /** How often its bytes went beyond those that a link carries. */
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

  /** How many different ones: exact where `isExact`. */
  different(of: Distinct): number {
    return clientsIn(this.distinct[of]);
  }

  isExact(of: Distinct): boolean {
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

  /** Only what is different in the other. */
  mergeDistinct(other: Rollup): void {
    for (const of of distincts)
      this.distinct[of] = mergeUpTo(this.fineness.hashes, this.distinct[of], other.distinct[of]);
  }

  /** About how much room it takes, in entries of lists. */
  get size(): number {
    let size = 0;
    for (const of of distincts) size += this.distinct[of].byteLength >>> 6;
    for (const top of tops) size += this.top[top].entries.size;
    return size;
  }
}

import { type LimitName, limits } from '../../limits.ts';
import type { Services } from '../services.ts';

/**
 * What the front remembers for shippers that speak to Splunk's collector: the channels, and whether there was room.
 *
 * Answers come after the flush. So the ids of a channel, given one after the other from 0, are all true, and one number is
 * kept of each. It begins anew with the service, or when a channel was forgotten: `false` is then said of ids that were
 * given before. Who sends their records again, sends them twice.
 */
export class SplunkCollector {
  readonly #limitReached: (limit: LimitName) => void;
  /** Principal → channel → the id that comes next; of each, those first that were used longest ago. */
  readonly #channels = new Map<string, Map<string, number>>();
  #count = 0;
  #fullUntil = 0;

  constructor(limitReached: (limit: LimitName) => void) {
    this.#limitReached = limitReached;
  }

  /** How many channels are remembered. */
  get channels(): number {
    return this.#count;
  }

  /** The id of a body that is on disk. */
  ackId(principal: string, channel: string): number {
    const id = this.#channels.get(principal)?.get(channel);
    if (id === undefined) this.#makeRoom(principal);
    this.#put(principal, channel, (id ?? 0) + 1);
    return id ?? 0;
  }

  /** One past the last id that was given on the channel. */
  nextId(principal: string, channel: string): number {
    const next = this.#channels.get(principal)?.get(channel);
    if (next === undefined) return 0;
    this.#put(principal, channel, next);
    return next;
  }

  /** A body was refused for want of room, at `now` (milliseconds of any clock that never goes back). */
  refused(now: number): void {
    this.#fullUntil = now + limits.splunkFullMs;
  }

  /** A body was stored. */
  stored(): void {
    this.#fullUntil = 0;
  }

  isFull(now: number): boolean {
    return now < this.#fullUntil;
  }

  /** Puts both last: maps are in order of insertion. */
  #put(principal: string, channel: string, next: number): void {
    const own = this.#channels.get(principal) ?? new Map<string, number>();
    if (!own.delete(channel)) this.#count++;
    own.set(channel, next);
    this.#channels.delete(principal);
    this.#channels.set(principal, own);
  }

  #makeRoom(principal: string): void {
    const own = this.#channels.get(principal);
    if (own !== undefined && own.size >= limits.maxSplunkChannelsPerPrincipal) {
      this.#limitReached('maxSplunkChannelsPerPrincipal');
      this.#forgetFirst(principal, own);
    }
    if (this.#count < limits.maxSplunkChannels) return;
    this.#limitReached('maxSplunkChannels');
    for (const [first, channels] of this.#channels) return this.#forgetFirst(first, channels);
  }

  #forgetFirst(principal: string, channels: Map<string, number>): void {
    for (const channel of channels.keys()) {
      channels.delete(channel);
      this.#count--;
      break;
    }
    if (channels.size === 0) this.#channels.delete(principal);
  }
}

/** One for each service that this process runs. */
const collectors = new WeakMap<Services, SplunkCollector>();

export function collectorOf(services: Services): SplunkCollector {
  let collector = collectors.get(services);
  if (collector === undefined) {
    collector = new SplunkCollector(services.metrics.limitReached);
    collectors.set(services, collector);
  }
  return collector;
}

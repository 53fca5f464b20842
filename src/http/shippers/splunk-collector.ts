import { type LimitName, limits } from '../../limits.ts';
import type { Services } from '../services.ts';

/**
 * The HTTP server's state for Splunk shippers: their channels, and whether a body was recently refused with an
 * error after which a retry can succeed.
 *
 * Responses are sent after the flush. Therefore all ids that a channel has issued, in order from 0, are
 * acknowledged, and one number per channel suffices. The number restarts at 0 with the service, or after the
 * channel was dropped: earlier ids are then reported as `false`, and shippers may send their records twice.
 */
export class SplunkCollector {
  readonly #limitReached: (limit: LimitName) => void;
  /** The next id by principal and channel. Principals and channels are in order of their last use. */
  readonly #channels = new Map<string, Map<string, number>>();
  #count = 0;
  #fullUntil = 0;

  constructor(limitReached: (limit: LimitName) => void) {
    this.#limitReached = limitReached;
  }

  /** The number of channels kept. */
  get channels(): number {
    return this.#count;
  }

  /** Issues the id of a body that is on disk. */
  ackId(principal: string, channel: string): number {
    const id = this.#channels.get(principal)?.get(channel);
    if (id === undefined) this.#makeRoom(principal);
    this.#put(principal, channel, (id ?? 0) + 1);
    return id ?? 0;
  }

  /** Returns the id that the next body of the channel will get. */
  nextId(principal: string, channel: string): number {
    const next = this.#channels.get(principal)?.get(channel);
    if (next === undefined) return 0;
    this.#put(principal, channel, next);
    return next;
  }

  /** Records that a body was refused at `now` (milliseconds of a monotonic clock), and must be sent again. */
  refused(now: number): void {
    this.#fullUntil = now + limits.splunkFullMs;
  }

  /** Records that a body was stored: the service is then not reported as full. */
  stored(): void {
    this.#fullUntil = 0;
  }

  isFull(now: number): boolean {
    return now < this.#fullUntil;
  }

  /**
   * Sets the next id, and moves the principal and the channel to the end of their maps, which keep the order
   * of insertion.
   */
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

/** The collector of each service in this process. */
const collectors = new WeakMap<Services, SplunkCollector>();

export function collectorOf(services: Services): SplunkCollector {
  let collector = collectors.get(services);
  if (collector === undefined) {
    collector = new SplunkCollector(services.metrics.limitReached);
    collectors.set(services, collector);
  }
  return collector;
}

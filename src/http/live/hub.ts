import { setTimeout as delay } from 'node:timers/promises';
import type { ChannelName } from '../../contract/channels.ts';
import { errorCodes, ServiceError } from '../../errors.ts';
import { type LimitName, limits } from '../../limits.ts';
import { errorMessage } from '../error-reply.ts';
import { type Backlogged, Backpressure } from './backpressure.ts';
import type { Channel, LiveBatch, LiveMessage, SubscriptionKey } from './channel.ts';
import { ConcurrencyLimit } from './concurrency-limit.ts';
import { CpuBudget } from './cpu-budget.ts';
import { RecentBatches } from './recent-batches.ts';
import { SubscriptionIndex } from './subscription-index.ts';

/** A connected reader, which is the part of a socket that the hub uses. */
export interface Reader extends Backlogged {
  send(text: string): void;
  /** Calls `write`, and sends its messages in one system call. */
  cork(write: () => void): void;
}

/**
 * ```
 *   subscribe ──since──► replaying ──► reads missed messages, waiting for the reader and for a slot
 *       │                  │    ▲
 *       │     reached the  │    │ publish had no time left, or an earlier commit is missing
 *       │   recent batches ▼    │
 *       └────────────────► live ──► sends while the backlog allows, else dropped += n, reported by `lagged`
 * ```
 *
 * `after` is the sequence up to which a subscription has been served: messages up to this sequence are not
 * sent again. `after` is exact during a replay; in the live state, it may lag, but not behind the start of the
 * subscription.
 */
interface Subscription {
  readonly id: string;
  readonly stream: Stream;
  readonly matcher: unknown;
  readonly key: SubscriptionKey | undefined;
  readonly reader: Reader;
  /** The common prefix of the subscription's messages: `{"type":"event","channel":…,"id":…,"seq":`. */
  readonly prefix: string;
  /** Aborts the work of the subscription when it ends. */
  readonly stop: AbortController;
  state: 'live' | 'replaying' | 'ended';
  after: number;
  /** Number of messages that were not sent, and whose loss was not reported yet. */
  dropped: number;
  /** Resumes a replay that waits for the reader. */
  resume: (() => void) | undefined;
}

interface Stream {
  readonly name: ChannelName;
  readonly channel: Channel;
  readonly live: SubscriptionIndex<Subscription>;
  readonly recent: RecentBatches;
  published: number;
  /** Number of subscriptions in any state. */
  subscriptions: number;
}

export interface HubObserver {
  /** Counts messages sent to sockets, and messages skipped for slow readers. */
  live(outcome: 'sent' | 'dropped', n: number): void;
  limitReached(limit: LimitName): void;
}

/** Delivers commits to subscriptions. Owns all subscriptions; runs on the main thread. */
export class Hub {
  readonly #streams: Readonly<Record<ChannelName, Stream>>;
  readonly #observer: HubObserver;
  readonly #logError: (error: unknown, message: string) => void;
  readonly #byReader = new Map<Reader, Map<string, Subscription>>();
  readonly #backlogs: Backpressure;
  readonly #turns = new ConcurrencyLimit(limits.maxConcurrentReplays);
  readonly #matchTime: CpuBudget;
  #subscriptions = 0;
  /** Number of messages that were sent and not yet reported to the observer. */
  #sent = 0;

  /** Creates a hub. Every later commit must be published. */
  constructor(
    channels: Readonly<Record<ChannelName, Channel>>,
    observer: HubObserver,
    logError: (error: unknown, message: string) => void,
    clock: () => number = () => performance.now(),
  ) {
    const stream = (name: ChannelName, channel: Channel): Stream => {
      const published = channel.head();
      const recent = new RecentBatches(published);
      return { name, channel, live: new SubscriptionIndex(), recent, published, subscriptions: 0 };
    };
    this.#streams = Object.fromEntries(
      Object.entries(channels).map(([name, channel]) => [name, stream(name as ChannelName, channel)]),
    ) as Record<ChannelName, Stream>;
    this.#observer = observer;
    this.#logError = logError;
    this.#backlogs = new Backpressure(observer.limitReached.bind(observer));
    this.#matchTime = new CpuBudget(limits.maxLiveMatchMsPerS, limits.maxLiveMatchMsPerS / 4, clock);
  }

  channel(name: ChannelName): Channel {
    return this.#streams[name].channel;
  }

  /** The number of subscriptions of all readers. */
  get subscriptions(): number {
    return this.#subscriptions;
  }

  /** Returns the newest published sequence, which is the start of a subscription without `since`. */
  published(channelName: ChannelName): number {
    return this.#streams[channelName].published;
  }

  /** Returns whether a channel has any subscription. */
  isWatched(channelName: ChannelName): boolean {
    return this.#streams[channelName].subscriptions > 0;
  }

  subscriptionCount(reader: Reader): number {
    return this.#byReader.get(reader)?.size ?? 0;
  }

  has(reader: Reader, id: string): boolean {
    return this.#byReader.get(reader)?.has(id) ?? false;
  }

  /** Returns the ids of a reader's subscriptions to one channel. */
  idsOf(reader: Reader, channelName: ChannelName): string[] {
    const own = this.#byReader.get(reader)?.values() ?? [];
    return [...own].filter(({ stream }) => stream.name === channelName).map(({ id }) => id);
  }

  /**
   * Starts a subscription. The caller must have checked that the id is free and that `since` is not after the
   * channel's head. With `since`, missed messages are sent first, then new messages, without gaps or
   * repetitions.
   */
  subscribe(reader: Reader, id: string, channelName: ChannelName, matcher: unknown, since: number | undefined): void {
    const stream = this.#streams[channelName];
    const subscription: Subscription = {
      id,
      stream,
      matcher,
      key: stream.channel.subscriptionKey(matcher),
      reader,
      prefix: `{"type":"event","channel":${JSON.stringify(channelName)},"id":${JSON.stringify(id)},"seq":`,
      stop: new AbortController(),
      state: 'live',
      after: since ?? stream.published,
      dropped: 0,
      resume: undefined,
    };
    let own = this.#byReader.get(reader);
    if (!own) {
      own = new Map();
      this.#byReader.set(reader, own);
    }
    own.set(id, subscription);
    this.#subscriptions++;
    stream.subscriptions++;
    if (since === undefined) stream.live.add(subscription);
    else this.#startReplay(subscription);
  }

  /** Ends a subscription and returns its channel; undefined if the id does not exist. */
  unsubscribe(reader: Reader, id: string): ChannelName | undefined {
    const subscription = this.#byReader.get(reader)?.get(id);
    if (!subscription) return undefined;
    if (subscription.dropped > 0) this.#sayLagged(subscription);
    this.#end(subscription);
    return subscription.stream.name;
  }

  /** Ends all subscriptions of a reader. The reader may still read earlier messages. */
  silence(reader: Reader): void {
    for (const subscription of this.#byReader.get(reader)?.values() ?? []) this.#end(subscription);
  }

  /** Removes a reader that has disconnected. */
  remove(reader: Reader): void {
    this.silence(reader);
    this.#backlogs.forget(reader);
  }

  /** Continues the subscriptions of a reader that has read a part of its backlog. */
  drain(reader: Reader): void {
    this.#backlogs.look(reader);
    if (!this.#backlogs.hasCaughtUp(reader)) return;
    for (const subscription of this.#byReader.get(reader)?.values() ?? []) {
      if (subscription.state === 'live' && subscription.dropped > 0) this.#sayLagged(subscription);
      subscription.resume?.();
    }
  }

  /** Sends one commit to all matching subscriptions. Must be called in commit order, after the flush. */
  publish(channelName: ChannelName, batch: LiveBatch): void {
    const stream = this.#streams[channelName];
    const before = stream.published;
    if (batch.lastSeq <= before) {
      // A late batch is expected on channels without skipped sequences: when the gap appeared, live subscriptions were
      // switched to reading from disk.
      if (batch.firstSeq === undefined)
        this.#logError(new Error(`${channelName}: ${batch.lastSeq} arrived after ${before}`), 'out of order');
      return;
    }
    stream.published = batch.lastSeq;
    const follows = batch.firstSeq === undefined || batch.firstSeq <= before + 1;
    if (follows) this.#send(stream, batch, before);
    else {
      stream.recent.restart((batch.firstSeq ?? 1) - 1);
      for (const subscription of [...stream.live]) this.#fallBack(subscription, before);
    }
    stream.recent.push(batch);
    batch.forgetTexts();
  }

  #send(stream: Stream, batch: LiveBatch, before: number): void {
    const timestamp = timestampNow();
    let late = false;
    for (const subscription of stream.live.candidates(batch)) {
      // Sending may have ended the subscription.
      if (subscription.state !== 'live') continue;
      if (this.#matchTime.isLeft()) {
        const messages = this.#matchTime.measure(() => batch.match(subscription.matcher));
        if (messages.length > 0) this.#deliver(subscription, messages, timestamp);
      } else {
        late = true;
        this.#fallBack(subscription, before);
      }
    }
    if (late) this.#observer.limitReached('maxLiveMatchMsPerS');
    this.#tellSent();
  }

  /**
   * Reports sent messages, once per commit, because updating a metric takes longer than sending a message.
   */
  #tellSent(): void {
    if (this.#sent > 0) this.#observer.live('sent', this.#sent);
    this.#sent = 0;
  }

  #deliver(subscription: Subscription, messages: readonly LiveMessage[], timestamp: string): void {
    const { reader, after } = subscription;
    const unserved = (messages[0]?.seq ?? 0) > after ? messages : messages.filter(({ seq }) => seq > after);
    let sent = 0;
    // A gap must be reported to the reader before any later message.
    const open = subscription.dropped === 0 || this.#backlogs.hasCaughtUp(reader);
    if (open) {
      reader.cork(() => {
        if (subscription.dropped > 0) this.#sayLagged(subscription);
        for (const message of unserved) {
          if (!this.#backlogs.hasRoom(reader)) break;
          reader.send(this.#written(subscription, message, timestamp));
          sent++;
        }
      });
      this.#sent += sent;
      this.#backlogs.look(reader);
    }
    if (sent < unserved.length) this.#drop(subscription, unserved.length - sent);
  }

  #written({ prefix }: Subscription, message: LiveMessage, timestamp: string): string {
    const json = this.#matchTime.measure(() => message.json);
    return `${prefix}${message.seq}${timestamp}${json}}`;
  }

  #drop(subscription: Subscription, count: number): void {
    if (subscription.dropped === 0) this.#observer.limitReached('maxSocketBacklogBytes');
    subscription.dropped += count;
    this.#observer.live('dropped', count);
  }

  #sayLagged(subscription: Subscription): void {
    const { stream, id, dropped } = subscription;
    subscription.dropped = 0;
    subscription.reader.send(JSON.stringify({ type: 'lagged', channel: stream.name, id, dropped }));
  }

  /** Switches a live subscription to reading from disk, from the sequence `before`. */
  #fallBack(subscription: Subscription, before: number): void {
    subscription.stream.live.delete(subscription);
    subscription.after = Math.max(subscription.after, before);
    this.#startReplay(subscription);
  }

  #startReplay(subscription: Subscription): void {
    subscription.state = 'replaying';
    void this.#replay(subscription).catch((error: unknown) => this.#failReplay(subscription, error));
  }

  async #replay(subscription: Subscription): Promise<void> {
    const { stream, matcher, stop } = subscription;
    let failures = 0;
    for (;;) {
      await this.#readerReady(subscription);
      if (!(await this.#turns.take(stop.signal))) return;
      try {
        if (stop.signal.aborted) return;
        const reached = this.#goLive(subscription);
        if (reached === 'live') return;
        if (reached === 'not yet') {
          const part = await stream.channel.replay(matcher, subscription.after, limits.maxReplayMessages, stop.signal);
          if (stop.signal.aborted) return;
          subscription.dropped += part.lost;
          subscription.after += part.lost;
          if (this.#sendMissed(subscription, part.messages))
            subscription.after = Math.max(subscription.after, part.next);
          failures = 0;
        }
      } catch (error) {
        const retry = error instanceof ServiceError && errorCodes[error.code].retry;
        if (!retry || ++failures > limits.maxReplayRetries) throw error;
      } finally {
        this.#turns.end();
      }
      if (failures > 0) await delay(1000, undefined, { signal: stop.signal, ref: false });
    }
  }

  /** Sends the recent batches after the subscription's position, and makes the subscription live. */
  #goLive(subscription: Subscription): 'live' | 'not yet' | 'reader is slow' {
    const { stream, matcher } = subscription;
    const batches = stream.recent.since(subscription.after);
    if (!batches) return 'not yet';
    if (!this.#sendMissed(subscription, [])) return 'reader is slow';
    for (const batch of batches) {
      if (!this.#matchTime.isLeft()) return 'not yet';
      const messages = this.#matchTime.measure(() => batch.match(matcher));
      const all = this.#sendMissed(subscription, messages);
      batch.forgetTexts();
      if (!all) return 'reader is slow';
      subscription.after = Math.max(subscription.after, batch.lastSeq);
    }
    // Sending may have ended the subscription.
    if (subscription.state === 'replaying') {
      subscription.state = 'live';
      stream.live.add(subscription);
    }
    return 'live';
  }

  /**
   * Reports lost messages, then sends messages while the reader keeps up. Returns true if all messages were
   * sent.
   */
  #sendMissed(subscription: Subscription, messages: readonly LiveMessage[]): boolean {
    const { reader } = subscription;
    if (!this.#backlogs.hasCaughtUp(reader)) return false;
    const timestamp = timestampNow();
    let place = 0;
    let sent = 0;
    reader.cork(() => {
      if (subscription.dropped > 0) this.#sayLagged(subscription);
      for (; place < messages.length; place++) {
        const message = messages[place]!;
        if (message.seq <= subscription.after) continue;
        if (!this.#backlogs.hasCaughtUp(reader)) return;
        reader.send(this.#written(subscription, message, timestamp));
        subscription.after = message.seq;
        sent++;
      }
    });
    this.#sent += sent;
    this.#tellSent();
    this.#backlogs.look(reader);
    return place === messages.length;
  }

  /** Reports the failure and the last served sequence, so that the reader can subscribe again from there. */
  #failReplay(subscription: Subscription, error: unknown): void {
    if (subscription.state === 'ended') return;
    const { id, stream, after, reader } = subscription;
    this.#end(subscription);
    const known = error instanceof ServiceError;
    if (!known) this.#logError(error, 'a replay failed');
    const code = known ? (errorCodes[error.code].retry ? 'UNAVAILABLE' : error.code) : 'INTERNAL';
    const message = known ? error.message : 'the replay failed';
    const told = new ServiceError(code, message, { channel: stream.name, after });
    reader.send(errorMessage(told, Date.now(), id));
  }

  /** Waits until the reader's backlog allows another part of a replay, or the subscription has ended. */
  #readerReady(subscription: Subscription): Promise<void> {
    if (subscription.state === 'ended' || this.#backlogs.hasCaughtUp(subscription.reader)) return Promise.resolve();
    return new Promise((resolve) => {
      subscription.resume = () => {
        subscription.resume = undefined;
        resolve();
      };
    });
  }

  #end(subscription: Subscription): void {
    const own = this.#byReader.get(subscription.reader);
    own?.delete(subscription.id);
    if (own?.size === 0) this.#byReader.delete(subscription.reader);
    if (subscription.state === 'live') subscription.stream.live.delete(subscription);
    subscription.state = 'ended';
    this.#subscriptions--;
    subscription.stream.subscriptions--;
    subscription.stop.abort();
    subscription.resume?.();
  }
}

/** Returns the part of an event message between `seq` and the resource. */
function timestampNow(): string {
  return `,"timestamp":"${new Date().toISOString()}","data":`;
}

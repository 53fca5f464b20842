import type { Static } from 'typebox';
import {
  type ChannelEvent,
  type ChannelName,
  type channels,
  closeCodes,
  type ServerMessage,
} from '../contract/channels.ts';
import { errorCodes, invalidField, ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { QueryValues } from './client.ts';
import {
  type ConnectionEnd,
  LiveConnection,
  type LiveSocketClass,
  type LiveToken,
} from './live-connection.ts';
import { retryDelayMs } from './retry-delay.ts';
import { toldError } from './told-error.ts';

export interface LiveOptions {
  /** Absolute: `https://siem.example`, or `location.origin`. */
  readonly baseUrl: string;
  /**
   * A token that is good now, and until when (epoch milliseconds). Asked for on every connection and before the one in
   * use expires. `used` is the one that is about to expire or was refused: another is wanted. Rejects when signed out.
   */
  token(used?: string): Promise<LiveToken>;
  /** Told of every change, the first of which is `connecting`, before `openLive` returns. */
  onState(state: LiveState): void;
  /** The class of the socket, such as that of the package `ws`: for runtimes without a global one (Node before 22). */
  readonly WebSocket?: LiveSocketClass;
}

export type LiveState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  /** Nothing was heard since this time (epoch milliseconds), though pings go out. */
  | { readonly kind: 'behind'; readonly sinceMs: number }
  /** `reason`: what the service said, or why there was no token; absent where it could not be reached. */
  | {
      readonly kind: 'offline';
      readonly sinceMs: number;
      readonly retryAtMs: number;
      readonly reason?: ServiceError;
    }
  | { readonly kind: 'closed' };

/** Filters of a channel: of each one value, or several of which any may match. */
export type ChannelFilters<C extends ChannelName> = Omit<
  QueryValues<Static<(typeof channels)[C]['filters']>>,
  'since'
>;

export interface SubscriptionHandlers<C extends ChannelName> {
  /** Each event once, in the order of `seq`, over lost connections and restarts of the service too. */
  onEvent(event: ChannelEvent<C>): void;
  /**
   * Events that this reader was too slow for, or that are no longer stored; undefined where nobody knows how many,
   * because the service has gone back to an earlier state of its data.
   */
  onLagged?(dropped: number | undefined): void;
  /** What comes after this sequence follows. Told again after a lost connection. */
  onSubscribed?(seq: number): void;
  /** It is refused or has ended: nothing follows, and it is not tried again. */
  onError?(error: ServiceError): void;
}

export interface Live {
  /** @param options - `since`: begin after this `seq`, e.g. that of a topology; default: with what comes from now on */
  subscribe<C extends ChannelName>(
    channel: C,
    filters: ChannelFilters<C>,
    handlers: SubscriptionHandlers<C>,
    options?: { readonly since?: number },
  ): { close(): void };
  /** To be called when the page becomes visible or the browser says that it is online: probes or connects at once. */
  wake(): void;
  /** To be called when the network went or came back: the connection counts as lost, and another is tried at once. */
  reconnect(): void;
  close(): void;
}

/**
 * A live connection that comes back by itself: one socket for all subscriptions, which go on where they were.
 *
 * What handlers throw is thrown into the event loop: they are called as messages come, and nothing is queued for them.
 */
export function openLive(options: LiveOptions): Live {
  if ((options.WebSocket ?? globalThis.WebSocket) === undefined)
    throw new TypeError(
      'WebSocket: this runtime has none; use Node 22 or later, or pass the class of the package ws as the option WebSocket',
    );
  return new LiveClient(options);
}

interface Subscription {
  readonly id: string;
  readonly channel: ChannelName;
  readonly filters: Record<string, unknown>;
  readonly handlers: SubscriptionHandlers<ChannelName>;
  /** Sequence up to which everything was heard. The service gives each event one of its own, so that it is exact. */
  since: number | undefined;
  /** `since` comes from the service. */
  accepted: boolean;
  /** Refusals in a row that may pass, on this connection. */
  refusals: number;
  retry: ReturnType<typeof setTimeout> | undefined;
}

/** A connection that lived this long was a good one: what fails after it is the first failure. */
const stableMs = 10_000;
/** How often a subscription is tried again on one connection, where the service says that this can help. */
const maxRefusals = 5;

class LiveClient implements Live {
  readonly #url: string;
  readonly #options: LiveOptions;
  readonly #subscriptions = new Map<string, Subscription>();
  #ids = 0;
  #connection: LiveConnection | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  /** Connections in a row that failed or were short, and tokens in a row that were refused. */
  #failures = 0;
  #refusedTokens = 0;
  /** The token that was refused, until another is taken. */
  #refusedToken: string | undefined;
  /** Up to when everything is known: when the lost connection was heard last. */
  #sinceMs = Date.now();
  #closed = false;

  constructor(options: LiveOptions) {
    const url = new URL(`${options.baseUrl.replace(/\/+$/, '')}/ws`);
    url.protocol = url.protocol.replace('http', 'ws');
    this.#url = url.href;
    this.#options = options;
    this.#connect();
  }

  subscribe<C extends ChannelName>(
    channel: C,
    filters: ChannelFilters<C>,
    handlers: SubscriptionHandlers<C>,
    { since }: { readonly since?: number } = {},
  ): { close(): void } {
    const subscription: Subscription = {
      id: `s${++this.#ids}`,
      channel,
      filters: { ...filters },
      handlers: handlers as SubscriptionHandlers<ChannelName>,
      since,
      accepted: false,
      refusals: 0,
      retry: undefined,
    };
    const fault = this.#faultOf(subscription);
    if (fault !== undefined) queueMicrotask(() => handlers.onError?.(fault));
    else {
      this.#subscriptions.set(subscription.id, subscription);
      this.#send(subscription);
    }
    return {
      close: () => {
        if (this.#forget(subscription)) this.#connection?.send({ type: 'unsubscribe', id: subscription.id });
      },
    };
  }

  wake(): void {
    if (this.#closed) return;
    if (this.#connection === undefined) this.#connect();
    else this.#connection.probe();
  }

  reconnect(): void {
    if (this.#closed) return;
    this.#connection?.giveUp();
    // What failed before failed on another network.
    this.#failures = 0;
    this.#connect();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#connection?.close();
    this.#connection = undefined;
    for (const subscription of [...this.#subscriptions.values()]) this.#forget(subscription);
    this.#options.onState({ kind: 'closed' });
  }

  #connect(): void {
    clearTimeout(this.#retry);
    const { onState } = this.#options;
    onState({ kind: 'connecting' });
    if (this.#closed) return;
    this.#connection = new LiveConnection(
      this.#url,
      this.#options.WebSocket ?? WebSocket,
      async (used) => this.#options.token(used),
      this.#refusedToken,
      {
        onOpen: () => {
          for (const subscription of this.#subscriptions.values()) {
            clearTimeout(subscription.retry);
            subscription.refusals = 0;
            this.#send(subscription);
          }
        },
        onLive: () => {
          this.#refusedToken = undefined;
          onState({ kind: 'live' });
        },
        onBehind: (sinceMs) => onState({ kind: 'behind', sinceMs }),
        onMessage: (message) => this.#take(message),
        onEnd: (end) => this.#lost(end),
      },
    );
  }

  #lost({ code, error, token, heardMs, liveForMs }: ConnectionEnd): void {
    this.#connection = undefined;
    this.#sinceMs = heardMs ?? this.#sinceMs;
    if (liveForMs >= stableMs) this.#failures = this.#refusedTokens = 0;
    if (code === closeCodes.forbidden)
      for (const subscription of [...this.#subscriptions.values()])
        this.#refuse(subscription, error ?? new ServiceError('FORBIDDEN', 'live events may not be read'));
    if (this.#closed) return;
    if (code === closeCodes.unauthenticated) {
      this.#refusedToken = token;
      if (++this.#refusedTokens === 1) return this.#connect();
    }
    const delayMs = retryDelayMs({ code, error }, this.#failures++, Math.random());
    this.#retry = setTimeout(() => this.#connect(), delayMs);
    this.#options.onState({
      kind: 'offline',
      sinceMs: this.#sinceMs,
      retryAtMs: Date.now() + delayMs,
      ...(error === undefined ? {} : { reason: error }),
    });
  }

  #take(message: ServerMessage): void {
    if (message.type === 'pong' || message.id === undefined) return;
    const subscription = this.#subscriptions.get(message.id);
    if (subscription === undefined) return;
    const { handlers } = subscription;
    switch (message.type) {
      case 'event':
        subscription.since = message.seq;
        subscription.refusals = 0;
        return handlers.onEvent(message);
      case 'lagged':
        return handlers.onLagged?.(message.dropped);
      case 'subscribed':
        subscription.since = message.seq;
        subscription.accepted = true;
        return handlers.onSubscribed?.(message.seq);
      case 'error': {
        const error = toldError(message);
        return error && this.#refuse(subscription, error);
      }
    }
  }

  #refuse(subscription: Subscription, error: ServiceError): void {
    if (subscription.accepted && error.details?.field === 'since') {
      // Its data are those of an earlier day: a backup was restored.
      subscription.since = undefined;
      subscription.accepted = false;
      subscription.handlers.onLagged?.(undefined);
      return this.#send(subscription);
    }
    const retry = errorCodes[error.code].retry && ++subscription.refusals <= maxRefusals;
    if (retry) {
      const delayMs = retryDelayMs({ code: undefined, error }, subscription.refusals, Math.random());
      subscription.retry = setTimeout(() => this.#send(subscription), delayMs);
    } else {
      this.#forget(subscription);
      subscription.handlers.onError?.(error);
    }
  }

  #send({ id, channel, filters, since }: Subscription): void {
    // A handler may have closed it.
    if (!this.#subscriptions.has(id)) return;
    this.#connection?.send({
      type: 'subscribe',
      id,
      channel,
      filters,
      ...(since === undefined ? {} : { since }),
    });
  }

  #forget(subscription: Subscription): boolean {
    clearTimeout(subscription.retry);
    return this.#subscriptions.delete(subscription.id);
  }

  /** What the service would end the whole socket for. */
  #faultOf({ filters, since }: Subscription): ServiceError | undefined {
    if (this.#subscriptions.size >= limits.maxSubscriptionsPerSocket)
      return new ServiceError(
        'RATE_LIMITED',
        `there are ${limits.maxSubscriptionsPerSocket} subscriptions already`,
      );
    if (since !== undefined && !(Number.isSafeInteger(since) && since >= 0))
      return invalidField('since', 'must be an integer from 0 to 2^53 − 1');
    const bytes = new TextEncoder().encode(JSON.stringify(filters)).byteLength;
    // The rest of the message is short.
    return bytes > limits.maxSocketMessageBytes - 1024
      ? invalidField('filters', 'are too long for a message')
      : undefined;
  }
}

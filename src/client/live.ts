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
import { type ConnectionEnd, LiveConnection, type LiveSocketClass, type LiveToken } from './live-connection.ts';
import { parseError } from './parse-response.ts';
import { retryDelayMs } from './retry-delay.ts';

export interface LiveOptions {
  /** Absolute URL: `https://siem.example`, or `location.origin`. */
  readonly baseUrl: string;
  /**
   * Returns a valid token and its expiry (epoch milliseconds). Called for every connection and before the current token
   * expires. `used` is a token that is about to expire or was rejected, so a different token is needed. Rejects when
   * signed out.
   */
  token(used?: string): Promise<LiveToken>;
  /** Called on every change; first with `connecting`, before `openLive` returns. */
  onState(state: LiveState): void;
  /**
   * The class of the socket, such as that of the package `ws`, for runtimes without a global WebSocket (Node before
   * 22).
   */
  readonly WebSocket?: LiveSocketClass;
}

export type LiveState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  /** A ping is unanswered; no message has arrived since this time (epoch milliseconds). */
  | { readonly kind: 'behind'; readonly sinceMs: number }
  /**
   * `reason`: the error of the service, or why there was no token; absent if the service could not be
   * reached.
   */
  | {
      readonly kind: 'offline';
      readonly sinceMs: number;
      readonly retryAtMs: number;
      readonly reason?: ServiceError;
    }
  | { readonly kind: 'closed' };

/** Filters of a channel. Each filter accepts one value, or several values of which any may match. */
export type ChannelFilters<C extends ChannelName> = Omit<QueryValues<Static<(typeof channels)[C]['filters']>>, 'since'>;

export interface SubscriptionHandlers<C extends ChannelName> {
  /** Called once per event, in the order of `seq`, across lost connections and restarts of the service. */
  onEvent(event: ChannelEvent<C>): void;
  /**
   * Called when events were dropped because this reader was too slow, or because they are no longer stored.
   * `dropped` is undefined if the number is unknown, because the service was restored to an earlier state.
   */
  onLagged?(dropped: number | undefined): void;
  /** Called when events after this sequence will follow; called again after a lost connection. */
  onSubscribed?(seq: number): void;
  /** Called when the subscription is rejected or has ended; it is not retried. */
  onError?(error: ServiceError): void;
}

export interface Live {
  /**
   * Subscribes to a channel. @param options - `since`: start after this `seq`, for example that of a topology; default:
   * only new events
   */
  subscribe<C extends ChannelName>(
    channel: C,
    filters: ChannelFilters<C>,
    handlers: SubscriptionHandlers<C>,
    options?: { readonly since?: number },
  ): { close(): void };
  /**
   * Probes the connection, or connects immediately. Call this when the page becomes visible or the browser reports
   * being online.
   */
  wake(): void;
  /** Drops the connection and connects immediately. Call this when the network was lost or has returned. */
  reconnect(): void;
  close(): void;
}

/**
 * Opens a live connection that reconnects automatically: one socket for all subscriptions, which resume where they were
 * interrupted.
 *
 * Exceptions of handlers are thrown into the event loop: handlers are called synchronously for each message, without a
 * queue.
 */
export function openLive(options: LiveOptions): Live {
  if ((options.WebSocket ?? globalThis.WebSocket) === undefined)
    throw new TypeError(
      'WebSocket: missing in this runtime; use Node 22 or later, or pass the class of the package ws as the option WebSocket',
    );
  return new LiveClient(options);
}

interface Subscription {
  readonly id: string;
  readonly channel: ChannelName;
  readonly filters: Record<string, unknown>;
  readonly handlers: SubscriptionHandlers<ChannelName>;
  /**
   * Sequence up to which all events have been delivered. Sequences are unique per event, so no event is lost or
   * repeated.
   */
  since: number | undefined;
  /** Whether `since` was set by the service. */
  accepted: boolean;
  /** Consecutive temporary rejections on this connection. */
  refusals: number;
  retry: ReturnType<typeof setTimeout> | undefined;
}

/** Minimum duration of a connection that resets the count of failures, in milliseconds. */
const stableMs = 10_000;
/** Maximum consecutive retries of a subscription per connection, if its error is temporary. */
const maxRefusals = 5;

class LiveClient implements Live {
  readonly #url: string;
  readonly #options: LiveOptions;
  readonly #subscriptions = new Map<string, Subscription>();
  #ids = 0;
  #connection: LiveConnection | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  /** Consecutive failed or short connections. */
  #failures = 0;
  /** Consecutive rejected tokens. */
  #refusedTokens = 0;
  /** The rejected token, until another token is accepted. */
  #refusedToken: string | undefined;
  /** Time of the last message, across connections, in epoch milliseconds. */
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
    const fault = this.#validate(subscription);
    if (fault !== undefined) queueMicrotask(() => handlers.onError?.(fault));
    else {
      this.#subscriptions.set(subscription.id, subscription);
      this.#send(subscription);
    }
    return {
      close: () => {
        if (this.#remove(subscription)) this.#connection?.send({ type: 'unsubscribe', id: subscription.id });
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
    // Earlier failures happened on another network, so they must not lengthen the delay.
    this.#failures = 0;
    this.#connect();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#connection?.close();
    this.#connection = undefined;
    for (const subscription of [...this.#subscriptions.values()]) this.#remove(subscription);
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
        onMessage: (message) => this.#handle(message),
        onEnd: (end) => this.#handleEnd(end),
      },
    );
  }

  #handleEnd({ code, error, token, heardMs, liveForMs }: ConnectionEnd): void {
    this.#connection = undefined;
    this.#sinceMs = heardMs ?? this.#sinceMs;
    if (liveForMs >= stableMs) this.#failures = this.#refusedTokens = 0;
    if (code === closeCodes.forbidden)
      for (const subscription of [...this.#subscriptions.values()])
        this.#reject(subscription, error ?? new ServiceError('FORBIDDEN', 'not allowed to read live events'));
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

  #handle(message: ServerMessage): void {
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
        const error = parseError(message);
        return error && this.#reject(subscription, error);
      }
    }
  }

  #reject(subscription: Subscription, error: ServiceError): void {
    if (subscription.accepted && error.details?.field === 'since') {
      // The service has older data than before, because a backup was restored.
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
      this.#remove(subscription);
      subscription.handlers.onError?.(error);
    }
  }

  #send({ id, channel, filters, since }: Subscription): void {
    // A handler may have closed the subscription.
    if (!this.#subscriptions.has(id)) return;
    this.#connection?.send({
      type: 'subscribe',
      id,
      channel,
      filters,
      ...(since === undefined ? {} : { since }),
    });
  }

  #remove(subscription: Subscription): boolean {
    clearTimeout(subscription.retry);
    return this.#subscriptions.delete(subscription.id);
  }

  /** Returns an error for input for which the service would close the whole socket. */
  #validate({ filters, since }: Subscription): ServiceError | undefined {
    if (this.#subscriptions.size >= limits.maxSubscriptionsPerSocket)
      return new ServiceError('RATE_LIMITED', `subscription limit reached (${limits.maxSubscriptionsPerSocket})`);
    if (since !== undefined && !(Number.isSafeInteger(since) && since >= 0))
      return invalidField('since', 'must be an integer from 0 to 2^53 − 1');
    const bytes = new TextEncoder().encode(JSON.stringify(filters)).byteLength;
    // Leaves 1024 bytes for the rest of the message.
    const maxFilterBytes = limits.maxSocketMessageBytes - 1024;
    return bytes > maxFilterBytes
      ? invalidField('filters', `must have at most ${maxFilterBytes} bytes as JSON (got ${bytes})`)
      : undefined;
  }
}

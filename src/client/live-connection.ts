import type { ClientMessage, ServerMessage } from '../contract/channels.ts';
import { ServiceError } from '../errors.ts';
import { parseError } from './parse-response.ts';
import type { Ending } from './retry-delay.ts';

/** A bearer token and its expiry (epoch milliseconds; Infinity if it does not expire). */
export interface LiveToken {
  readonly token: string;
  readonly expiresAt: number;
}

/** The part of the standard WebSocket that a connection uses. */
export interface LiveSocket {
  readonly readyState: number;
  send(text: string): void;
  close(): void;
  addEventListener(type: 'open' | 'error', listener: () => void): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: 'close', listener: (event: { readonly code: number }) => void): void;
}

export type LiveSocketClass = new (url: string) => LiveSocket;

export interface ConnectionEvents {
  /** Called when the token has been sent. Later messages follow it. */
  onOpen(): void;
  /** Called when the service has accepted the token, or responds again after a silence. */
  onLive(): void;
  /** Called when a ping is unanswered: no message has arrived since `sinceMs` (epoch milliseconds). */
  onBehind(sinceMs: number): void;
  /** Called when a message for a subscription has arrived. */
  onMessage(message: ServerMessage): void;
  /** Called once, as the last event; not called after `close`. */
  onEnd(ending: ConnectionEnd): void;
}

export interface ConnectionEnd extends Ending {
  /** The last token that was sent to the service. */
  readonly token: string | undefined;
  /** Time of the last message, in epoch milliseconds; undefined before the first message. */
  readonly heardMs: number | undefined;
  /** How long the connection was live, in milliseconds; 0 if it never was live. */
  readonly liveForMs: number;
}

/** The value of `WebSocket.OPEN`. */
const openState = 1;
const pingEveryMs = 5000;
/** Time after which an unanswered ping is reported. */
const answerWithinMs = 3000;
/** Time after which an unanswered ping ends the connection, or the attempt to connect. */
const giveUpAfterMs = 20_000;
/**
 * Shorter value of `giveUpAfterMs` if the machine was asleep or the user has returned to the page. The connection has
 * then probably been dead for a while.
 */
const giveUpProbeAfterMs = 5000;
const tickMs = 1000;
/** Gap between ticks above which the machine was asleep, or a browser throttled the timers of a hidden page. */
const oversleptMs = 5000;
/** Time before their expiry at which tokens are renewed; a fifth of their remaining lifetime if that is less. */
const renewBeforeMs = 60_000;
const renewAgainAfterMs = 10_000;
const shortestRenewalMs = 1000;

/**
 * A connection to `/ws`, from requesting a token to its end. Durations are measured with the monotonic clock,
 * which stops on some machines during sleep; expiry and reported times use the wall clock.
 *
 * ```
 *   token ──► socket ──► auth, subscriptions, ping ──pong──► live ◄──► behind (3 s)
 *     └──────────┴───────────────── 20 s ─────────────────────┴──────────┴── 20 s ──► ended
 * ```
 */
export class LiveConnection {
  readonly #url: string;
  readonly #Socket: LiveSocketClass;
  readonly #requestToken: (used?: string) => Promise<LiveToken>;
  readonly #events: ConnectionEvents;
  readonly #ticks: ReturnType<typeof setInterval>;
  #socket: LiveSocket | undefined;
  #token: string | undefined;
  #renewMs = Number.POSITIVE_INFINITY;
  #state: 'opening' | 'live' | 'behind' | 'over' = 'opening';
  #liveAt: number | undefined;
  /** Time of the last ping, or of the start of the attempt, by the monotonic clock. */
  #pingedAt = performance.now();
  /** Whether a message has arrived since the last ping. */
  #answered = false;
  #giveUpAfterMs = giveUpAfterMs;
  #lastMessageMs: number | undefined;
  #tickedMs = Date.now();
  /** The service's error about the whole connection. The service closes the connection next. */
  #error: ServiceError | undefined;

  /** @param used - a token that must not be used again */
  constructor(
    url: string,
    Socket: LiveSocketClass,
    requestToken: (used?: string) => Promise<LiveToken>,
    used: string | undefined,
    events: ConnectionEvents,
  ) {
    this.#url = url;
    this.#Socket = Socket;
    this.#requestToken = requestToken;
    this.#events = events;
    this.#ticks = setInterval(() => this.#tick(), tickMs);
    void this.#open(used);
  }

  /** Sends a message if the connection is open. Use `onOpen` to send initial messages. */
  send(message: ClientMessage): void {
    if (this.#socket?.readyState === openState) this.#socket.send(JSON.stringify(message));
  }

  /** Checks immediately whether the connection is alive. */
  probe(): void {
    if (this.#state === 'opening' || this.#state === 'over') return;
    const silentMs = Date.now() - (this.#lastMessageMs ?? 0);
    if (silentMs > pingEveryMs + answerWithinMs) this.#reportBehind();
    if (this.#answered) this.#ping(giveUpProbeAfterMs);
    else this.#giveUpAfterMs = giveUpProbeAfterMs;
  }

  /** Ends the connection as unresponsive. For a caller that knows that the connection is dead. */
  giveUp(): void {
    this.#end(undefined, this.#error);
  }

  close(): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    clearInterval(this.#ticks);
    this.#socket?.close();
  }

  async #open(used: string | undefined): Promise<void> {
    let credentials: LiveToken;
    let socket: LiveSocket;
    try {
      credentials = await this.#requestToken(used);
      if (this.#state === 'over') return;
      socket = new this.#Socket(this.#url);
    } catch (error) {
      return this.#end(undefined, asServiceError(error));
    }
    this.#socket = socket;
    socket.addEventListener('open', () => {
      if (this.#state === 'over') return;
      this.#use(credentials);
      this.#events.onOpen();
      this.#ping(giveUpAfterMs);
    });
    socket.addEventListener('message', ({ data }) => this.#receive(data));
    socket.addEventListener('close', ({ code }) => this.#end(code, this.#error));
    socket.addEventListener('error', () => {
      // If the connection failed, Node 22 emits no `close`; otherwise `close` follows with its code.
      if (this.#token === undefined) this.#end(undefined, undefined);
    });
  }

  #receive(data: unknown): void {
    // On a dead network, messages and the close event of a socket can arrive minutes after it was abandoned.
    if (this.#state === 'over') return;
    const message = decodeMessage(data);
    if (message === undefined)
      return this.#end(undefined, new ServiceError('UNAVAILABLE', 'received an unknown message'));
    this.#lastMessageMs = Date.now();
    this.#answered = true;
    if (message.type === 'error' && message.id === undefined) {
      this.#error = parseError(message);
      return;
    }
    if (this.#state === 'opening') this.#liveAt = performance.now();
    if (this.#state !== 'live') {
      this.#state = 'live';
      this.#events.onLive();
    }
    if (message.type !== 'pong') this.#events.onMessage(message);
  }

  #tick(): void {
    const now = Date.now();
    const overslept = Math.abs(now - this.#tickedMs) > oversleptMs;
    this.#tickedMs = now;
    const waitedMs = performance.now() - this.#pingedAt;
    if (this.#answered) {
      if (overslept) this.#ping(giveUpProbeAfterMs);
      else if (waitedMs >= pingEveryMs) this.#ping(giveUpAfterMs);
    } else if (waitedMs >= this.#giveUpAfterMs) {
      // A reply to a ping from before the sleep may still be waiting, or may have been lost although the connection
      // works.
      if (overslept && this.#giveUpAfterMs === giveUpAfterMs && this.#state !== 'opening')
        this.#ping(giveUpProbeAfterMs);
      else return this.#end(undefined, this.#error);
    } else if (waitedMs >= answerWithinMs && this.#state === 'live') this.#reportBehind();
    if (now >= this.#renewMs) void this.#renew();
  }

  #ping(giveUpMs: number): void {
    this.#pingedAt = performance.now();
    this.#answered = false;
    this.#giveUpAfterMs = giveUpMs;
    this.send({ type: 'ping' });
  }

  #reportBehind(): void {
    if (this.#state !== 'live') return;
    this.#state = 'behind';
    this.#events.onBehind(this.#lastMessageMs ?? Date.now());
  }

  /**
   * Renews the token. The service keeps the connection until the old token expires, so a failed renewal can be retried.
   */
  async #renew(): Promise<void> {
    this.#renewMs = Number.POSITIVE_INFINITY;
    try {
      const credentials = await this.#requestToken(this.#token);
      if (this.#state !== 'over') this.#use(credentials);
    } catch {
      this.#renewMs = Date.now() + renewAgainAfterMs;
    }
  }

  #use({ token, expiresAt }: LiveToken): void {
    const left = expiresAt - Date.now();
    const early = Math.min(renewBeforeMs, left / 5);
    this.#renewMs = Math.max(expiresAt - early, Date.now() + shortestRenewalMs);
    if (token === this.#token) return;
    this.#token = token;
    this.send({ type: 'auth', token });
  }

  #end(code: number | undefined, error: ServiceError | undefined): void {
    if (this.#state === 'over') return;
    this.close();
    const liveForMs = this.#liveAt === undefined ? 0 : performance.now() - this.#liveAt;
    this.#events.onEnd({ code, error, token: this.#token, heardMs: this.#lastMessageMs, liveForMs });
  }
}

function decodeMessage(data: unknown): ServerMessage | undefined {
  if (typeof data !== 'string') return undefined;
  try {
    const message: unknown = JSON.parse(data);
    return typeof message === 'object' && message !== null && 'type' in message
      ? (message as ServerMessage)
      : undefined;
  } catch {
    return undefined;
  }
}

function asServiceError(error: unknown): ServiceError {
  return error instanceof ServiceError ? error : new ServiceError('UNAVAILABLE', String(error));
}

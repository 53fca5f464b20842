import type { ClientMessage, ServerMessage } from '../contract/channels.ts';
import { ServiceError } from '../errors.ts';
import type { Ending } from './retry-delay.ts';
import { toldError } from './told-error.ts';

/** A bearer token and its expiry (epoch milliseconds; Infinity if it does not expire). */
export interface LiveToken {
  readonly token: string;
  readonly expiresAt: number;
}

export interface ConnectionEvents {
  /** The token has been sent; later messages follow it. */
  onOpen(): void;
  /** The service has accepted the token, or responds again after a silence. */
  onLive(): void;
  /** A ping is unanswered; no message has arrived since `sinceMs` (epoch milliseconds). */
  onBehind(sinceMs: number): void;
  /** A message for a subscription has arrived. */
  onMessage(message: ServerMessage): void;
  /** Called once, as the last event; not called after `close`. */
  onEnd(ending: ConnectionEnd): void;
}

export interface ConnectionEnd extends Ending {
  /** The last token that was sent to the service. */
  readonly token: string | undefined;
  /** When the last message arrived, in epoch milliseconds; undefined if none did. */
  readonly heardMs: number | undefined;
  /** How long the connection was live, in milliseconds; 0 if it never was. */
  readonly liveForMs: number;
}

const pingEveryMs = 5000;
/** An unanswered ping is reported after this time … */
const answerWithinMs = 3000;
/** … and after this time the connection, or the attempt to connect, ends … */
const giveUpAfterMs = 20_000;
/**
 * … or after this shorter time, if the machine was asleep or the user has returned to the page, when the
 * connection has probably been dead for a while.
 */
const giveUpProbeAfterMs = 5000;
const tickMs = 1000;
/**
 * A larger gap between ticks means that the machine was asleep, or that a browser throttled the timers of a
 * hidden page.
 */
const oversleptMs = 5000;
/** Tokens are renewed this long before they expire, or a fifth of their remaining lifetime if that is less. */
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
  readonly #requestToken: (used?: string) => Promise<LiveToken>;
  readonly #events: ConnectionEvents;
  readonly #listening = new AbortController();
  readonly #ticks: ReturnType<typeof setInterval>;
  #socket: WebSocket | undefined;
  #token: string | undefined;
  #renewMs = Number.POSITIVE_INFINITY;
  #state: 'opening' | 'live' | 'behind' | 'over' = 'opening';
  #liveAt: number | undefined;
  /** When the last ping was sent, or the attempt started; monotonic clock. */
  #pingedAt = performance.now();
  /** Whether a message has arrived since. */
  #answered = false;
  #giveUpAfterMs = giveUpAfterMs;
  #lastMessageMs: number | undefined;
  #tickedMs = Date.now();
  /** The error of the service about the whole connection, which it closes next. */
  #error: ServiceError | undefined;

  /** @param used - a token that must not be used again */
  constructor(
    url: string,
    requestToken: (used?: string) => Promise<LiveToken>,
    used: string | undefined,
    events: ConnectionEvents,
  ) {
    this.#url = url;
    this.#requestToken = requestToken;
    this.#events = events;
    this.#ticks = setInterval(() => this.#tick(), tickMs);
    void this.#open(used);
  }

  /** Sends a message if the connection is open. Use `onOpen` to send initial messages. */
  send(message: ClientMessage): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  /** Checks immediately whether the connection is alive. */
  probe(): void {
    if (this.#state === 'opening' || this.#state === 'over') return;
    const silentMs = Date.now() - (this.#lastMessageMs ?? 0);
    if (silentMs > pingEveryMs + answerWithinMs) this.#reportBehind();
    if (this.#answered) this.#ping(giveUpProbeAfterMs);
    else this.#giveUpAfterMs = giveUpProbeAfterMs;
  }

  /** Ends the connection as unresponsive, if the caller knows that it is dead. */
  giveUp(): void {
    this.#end(undefined, this.#error);
  }

  close(): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    clearInterval(this.#ticks);
    // On a dead network, the close event of a socket arrives only minutes later.
    this.#listening.abort();
    this.#socket?.close();
  }

  async #open(used: string | undefined): Promise<void> {
    let credentials: LiveToken;
    let socket: WebSocket;
    try {
      credentials = await this.#requestToken(used);
      if (this.#state === 'over') return;
      socket = new WebSocket(this.#url);
    } catch (error) {
      return this.#end(undefined, asServiceError(error));
    }
    const { signal } = this.#listening;
    this.#socket = socket;
    socket.addEventListener(
      'open',
      () => {
        this.#use(credentials);
        this.#events.onOpen();
        this.#ping(giveUpAfterMs);
      },
      { signal },
    );
    socket.addEventListener('message', ({ data }) => this.#receive(data), { signal });
    socket.addEventListener('close', ({ code }) => this.#end(code, this.#error), { signal });
    socket.addEventListener(
      'error',
      () => {
        // If the connection failed, Node 22 emits no `close`; otherwise `close` follows with its code.
        if (this.#token === undefined) this.#end(undefined, undefined);
      },
      { signal },
    );
  }

  #receive(data: unknown): void {
    const message = decodeMessage(data);
    if (message === undefined)
      return this.#end(undefined, new ServiceError('UNAVAILABLE', 'received an unknown message'));
    this.#lastMessageMs = Date.now();
    this.#answered = true;
    if (message.type === 'error' && message.id === undefined) {
      this.#error = toldError(message);
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
      // A reply to a ping from before the sleep may be waiting, or was lost although the connection works.
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

  /** The service keeps the connection until the old token expires, so a failed renewal can be retried. */
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

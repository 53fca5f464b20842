import type { ClientMessage, ServerMessage } from '../contract/channels.ts';
import { ServiceError } from '../errors.ts';
import type { Ending } from './retry-delay.ts';
import { toldError } from './told-error.ts';

/** A bearer token, and until when it is good (epoch milliseconds; Infinity where it does not expire). */
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
  /** The token is sent; what is sent now follows it. */
  onOpen(): void;
  /** The service has accepted the token, or has answered again after it was silent. */
  onLive(): void;
  /** Nothing was heard since then (epoch milliseconds), though it was asked. */
  onBehind(sinceMs: number): void;
  /** What is about a subscription. */
  onMessage(message: ServerMessage): void;
  /** Told once, and nothing after it; not told where `close` was called. */
  onEnd(ending: ConnectionEnd): void;
}

export interface ConnectionEnd extends Ending {
  /** The token that the service was shown last. */
  readonly token: string | undefined;
  /** When it was heard last, in epoch milliseconds; undefined where never. */
  readonly heardMs: number | undefined;
  /** How long it was live, in milliseconds; 0 where it never was. */
  readonly liveForMs: number;
}

/** `WebSocket.OPEN` */
const openState = 1;
const pingEveryMs = 5000;
/** Silence for this long after a ping is told … */
const answerWithinMs = 3000;
/** … and for this long ends the connection, or the attempt to have one … */
const giveUpAfterMs = 20_000;
/** … or this long, where the machine has slept, or somebody has come to look: then it has probably been dead a while. */
const giveUpProbeAfterMs = 5000;
const tickMs = 1000;
/** Ticks that are this far apart: the machine slept, or a browser holds the timers of a hidden page back. */
const oversleptMs = 5000;
/** A token is renewed this long before it expires, or a fifth of its life where that is less. */
const renewBeforeMs = 60_000;
const renewAgainAfterMs = 10_000;
const shortestRenewalMs = 1000;

/**
 * One connection to `/ws`, from asking for a token to its end. Durations are measured with the monotonic clock, which
 * stands still on some machines while they sleep; expiry, and what is told, with the wall clock.
 *
 * ```
 *   token ──► socket ──► auth, subscriptions, ping ──pong──► live ◄──► behind (3 s)
 *     └──────────┴───────────────── 20 s ─────────────────────┴──────────┴── 20 s ──► ended
 * ```
 */
export class LiveConnection {
  readonly #url: string;
  readonly #Socket: LiveSocketClass;
  readonly #askToken: (used?: string) => Promise<LiveToken>;
  readonly #events: ConnectionEvents;
  readonly #ticks: ReturnType<typeof setInterval>;
  #socket: LiveSocket | undefined;
  #token: string | undefined;
  #renewMs = Number.POSITIVE_INFINITY;
  #state: 'opening' | 'live' | 'behind' | 'over' = 'opening';
  #liveAt: number | undefined;
  /** When the last ping went out, or the attempt began; by the monotonic clock. */
  #asked = performance.now();
  /** Whether anything was heard since. */
  #answered = false;
  #giveUpAfterMs = giveUpAfterMs;
  #heardMs: number | undefined;
  #tickedMs = Date.now();
  /** What the service said of the connection as a whole: it closes it next. */
  #error: ServiceError | undefined;

  /** @param used - a token that is not to be shown again */
  constructor(
    url: string,
    Socket: LiveSocketClass,
    askToken: (used?: string) => Promise<LiveToken>,
    used: string | undefined,
    events: ConnectionEvents,
  ) {
    this.#url = url;
    this.#Socket = Socket;
    this.#askToken = askToken;
    this.#events = events;
    this.#ticks = setInterval(() => this.#tick(), tickMs);
    void this.#open(used);
  }

  /** Sends a message; before the connection is open, nothing: `onOpen` is the time to send what there is. */
  send(message: ClientMessage): void {
    if (this.#socket?.readyState === openState) this.#socket.send(JSON.stringify(message));
  }

  /** Asks at once whether it still lives. */
  probe(): void {
    if (this.#state === 'opening' || this.#state === 'over') return;
    const silentMs = Date.now() - (this.#heardMs ?? 0);
    if (silentMs > pingEveryMs + answerWithinMs) this.#sayBehind();
    if (this.#answered) this.#ping(giveUpProbeAfterMs);
    else this.#giveUpAfterMs = giveUpProbeAfterMs;
  }

  /** Ends it as one that answers no more, for who knows that it is dead. */
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
      credentials = await this.#askToken(used);
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
      // Where no connection came about, Node 22 tells of no close; else `close` follows, with its code.
      if (this.#token === undefined) this.#end(undefined, undefined);
    });
  }

  #receive(data: unknown): void {
    // A socket on a dead network closes, and may deliver, minutes after it was given up.
    if (this.#state === 'over') return;
    const message = decodeMessage(data);
    if (message === undefined)
      return this.#end(undefined, new ServiceError('UNAVAILABLE', 'what came is no message of this service'));
    this.#heardMs = Date.now();
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
    const waitedMs = performance.now() - this.#asked;
    if (this.#answered) {
      if (overslept) this.#ping(giveUpProbeAfterMs);
      else if (waitedMs >= pingEveryMs) this.#ping(giveUpAfterMs);
    } else if (waitedMs >= this.#giveUpAfterMs) {
      // The answer to a ping from before the sleep may be waiting, or lost with a connection that works.
      if (overslept && this.#giveUpAfterMs === giveUpAfterMs && this.#state !== 'opening')
        this.#ping(giveUpProbeAfterMs);
      else return this.#end(undefined, this.#error);
    } else if (waitedMs >= answerWithinMs && this.#state === 'live') this.#sayBehind();
    if (now >= this.#renewMs) void this.#renew();
  }

  #ping(giveUpMs: number): void {
    this.#asked = performance.now();
    this.#answered = false;
    this.#giveUpAfterMs = giveUpMs;
    this.send({ type: 'ping' });
  }

  #sayBehind(): void {
    if (this.#state !== 'live') return;
    this.#state = 'behind';
    this.#events.onBehind(this.#heardMs ?? Date.now());
  }

  /** The service closes the connection when the old token expires: until then it can be tried again. */
  async #renew(): Promise<void> {
    this.#renewMs = Number.POSITIVE_INFINITY;
    try {
      const credentials = await this.#askToken(this.#token);
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
    this.#events.onEnd({ code, error, token: this.#token, heardMs: this.#heardMs, liveForMs });
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

import { TokenBuckets } from '../../admission/token-buckets.ts';
import { type ClientMessage, closeCodes } from '../../contract/channels.ts';
import { validateClientMessage } from '../../contract/validate.ts';
import { invalidField, ServiceError } from '../../errors.ts';
import { type LimitName, limits } from '../../limits.ts';
import { errorMessage } from '../error-reply.ts';
import type { Hub, Reader } from './hub.ts';
import { type MayRead, type Preset, Subscriptions } from './subscriptions.ts';

/** The owner of a socket, valid until `expiresAt` (epoch milliseconds). */
export interface SocketIdentity {
  readonly principalId: string;
  /** The id of the session or token; absent for client certificates. */
  readonly jti?: string;
  /** Checks access at each call, because the policy may change. */
  readonly mayRead: MayRead;
  readonly expiresAt: number;
}

/** The part of a connected socket that a session uses. */
export interface Wire extends Reader {
  /** Closes the socket when the sent bytes have been read. */
  close(code: number, reason: string): void;
}

export interface SessionOptions {
  readonly hub: Hub;
  /** Returns the identity for a token. Throws UNAUTHENTICATED if the token is not valid. */
  readonly authenticate: (token: string) => Promise<SocketIdentity>;
  readonly now: () => number;
  readonly limitReached: (limit: LimitName) => void;
  /** Called once, when valid and sufficient credentials were received. */
  readonly onAdmitted?: () => void;
  /**
   * Whether a socket with invalid credentials in the upgrade stays open, because a token may follow in a
   * message.
   */
  readonly othersMayCome?: boolean;
  /** Receives errors that are bugs. */
  readonly logError: (error: unknown, message: string) => void;
  /** The subscription of a `…/stream` path, which begins when the socket is authenticated. */
  readonly preset?: Preset;
}

const messageMs = 1000 / limits.maxSocketMessagesPerS;
const messageRate = { tokenMs: messageMs, bucketMs: limits.maxSocketMessageBurst * messageMs };

/**
 * The protocol of one socket. Messages are processed in order: while a token is being checked, later messages
 * wait.
 *
 * ```
 *   open ──► waiting for auth (5 s) ──auth──► open for subscriptions ──► closed
 *     └────── credentials of the upgrade ──────────┘   ├─ 4401 when the credentials expire or are revoked
 *                                                      └─ 4403 when the credentials may no longer read
 *                                                         any channel
 * ```
 */
export class Session {
  readonly #wire: Wire;
  readonly #options: SessionOptions;
  readonly #subscriptions: Subscriptions;
  #identity: SocketIdentity | undefined;
  /** Repeats the credential check that returned `#identity`. */
  #check: (() => Promise<SocketIdentity>) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #turn: Promise<void> = Promise.resolve();
  /**
   * Number of waiting messages, which is limited because a client may send faster than tokens can be checked.
   */
  #waiting = 0;
  readonly #messages = new TokenBuckets(messageRate);
  #closed = false;

  /**
   * Begins a session.
   *
   * @param check - checks the credentials of the upgrade, if the upgrade had credentials
   */
  constructor(wire: Wire, options: SessionOptions, check: (() => Promise<SocketIdentity>) | undefined) {
    this.#wire = wire;
    this.#options = options;
    this.#subscriptions = new Subscriptions(wire, options);
    this.#timer = setTimeout(() => {
      options.limitReached('socketAuthTimeoutMs');
      this.#end('authTimeout', new ServiceError('UNAUTHENTICATED', 'no credentials were sent in time'));
    }, limits.socketAuthTimeoutMs);
    if (check)
      this.#turn = this.#authenticate(check, options.othersMayCome).catch((error: unknown) => this.#fail(error));
  }

  get jti(): string | undefined {
    return this.#identity?.jti;
  }

  get principalId(): string | undefined {
    return this.#identity?.principalId;
  }

  /** Handles a decoded message from the client. `text` is undefined for a binary message. */
  receive(text: string | undefined): void {
    if (this.#closed) return;
    if (this.#messages.take(this.#options.now()) > 0)
      return this.#tooMany('maxSocketMessagesPerS', 'messages exceed the rate limit');
    if (this.#waiting >= limits.maxWaitingSocketMessages)
      return this.#tooMany('maxWaitingSocketMessages', 'messages arrive faster than they can be answered');
    // Replies would accumulate for a client that does not read.
    if (this.#wire.backlogBytes() > 2 * limits.maxSocketBacklogBytes)
      return this.#tooMany('maxSocketBacklogBytes', 'too many unread replies');
    this.#waiting++;
    this.#turn = this.#turn
      .then(async () => {
        this.#waiting--;
        if (!this.#closed) await this.#answer(text);
      })
      .catch((error: unknown) => this.#fail(error));
  }

  drained(): void {
    this.#options.hub.drain(this.#wire);
  }

  /** Ends the session after the socket has closed. */
  closed(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#options.hub.remove(this.#wire);
  }

  /** Closes the socket because its token, or the user's login session, was revoked. */
  revoke(): void {
    this.#end('unauthenticated', new ServiceError('UNAUTHENTICATED', 'the credentials were revoked'));
  }

  /**
   * Checks the credentials again after a change that may affect them, and closes the socket if they no longer
   * suffice.
   */
  recheckCredentials(): void {
    const check = this.#check;
    if (this.#closed || check === undefined) return;
    this.#turn = this.#turn
      .then(async () => {
        // If newer credentials have arrived, they have just been checked.
        if (!this.#closed && this.#check === check) await this.#authenticate(check);
      })
      .catch((error: unknown) => this.#fail(error));
  }

  /** Ends the session because the service stops serving its connection. */
  stop(reason = 'the service is stopping'): void {
    if (this.#closed) return;
    this.#leave();
    this.#wire.close(closeCodes.goingAway, reason);
  }

  async #answer(text: string | undefined): Promise<void> {
    if (text !== undefined && Buffer.byteLength(text) > limits.maxSocketMessageBytes) {
      this.#options.limitReached('maxSocketMessageBytes');
      const reason = `must have at most ${limits.maxSocketMessageBytes} bytes`;
      return this.#end('badMessage', invalidField('message', reason));
    }
    let message: ClientMessage;
    try {
      message = parseMessage(text);
    } catch (error) {
      return this.#end('badMessage', asServiceError(error));
    }
    if (message.type === 'auth') {
      const { token } = message;
      return this.#authenticate(() => this.#options.authenticate(token));
    }
    if (!this.#identity)
      return this.#end('unauthenticated', new ServiceError('UNAUTHENTICATED', 'the first message must be auth'));
    switch (message.type) {
      case 'ping':
        return this.#wire.send(pong);
      case 'unsubscribe':
        return this.#subscriptions.unsubscribe(message);
      case 'subscribe':
        if (this.#subscriptions.count >= limits.maxSubscriptionsPerSocket)
          return this.#tooMany(
            'maxSubscriptionsPerSocket',
            `a socket may have at most ${limits.maxSubscriptionsPerSocket} subscriptions`,
          );
        return this.#subscriptions.subscribe(message, this.#identity.mayRead);
    }
  }

  async #authenticate(check: () => Promise<SocketIdentity>, othersMayCome = false): Promise<void> {
    let identity: SocketIdentity;
    try {
      identity = await check();
    } catch (error) {
      const fault = asServiceError(error);
      if (othersMayCome && fault.code === 'UNAUTHENTICATED') return;
      return this.#end('unauthenticated', fault);
    }
    if (this.#closed) return;
    this.#check = check;
    this.#admit(identity);
  }

  #admit(identity: SocketIdentity): void {
    clearTimeout(this.#timer);
    const { preset, onAdmitted } = this.#options;
    if (!Subscriptions.areOpenTo(identity.mayRead, preset))
      return this.#end('forbidden', new ServiceError('FORBIDDEN', 'this role cannot read live events'));
    const first = this.#identity === undefined;
    this.#identity = identity;
    this.#expireAt(identity.expiresAt);
    if (!first) return this.#subscriptions.withdraw(identity.mayRead);
    onAdmitted?.();
    if (!preset) return;
    try {
      this.#subscriptions.begin({ id: preset.channel, ...preset }, identity.mayRead);
    } catch (error) {
      const fault = asServiceError(error);
      this.#end(fault.code === 'OVERLOADED' ? 'tooMany' : 'badMessage', fault);
    }
  }

  #expireAt(time: number): void {
    if (!Number.isFinite(time)) return;
    // Timers are 32-bit, so for a long-lived token, the expiry is checked again when the longest possible
    // timer ends. Because the timer runs for the whole remaining time, the session ends even if the clock was
    // set back.
    const left = time - this.#options.now();
    const delay = Math.min(left, 2 ** 31 - 1);
    this.#timer = setTimeout(() => {
      if (delay < left && this.#options.now() < time) this.#expireAt(time);
      else this.#end('unauthenticated', new ServiceError('UNAUTHENTICATED', 'the credentials have expired'));
    }, delay);
    this.#timer.unref();
  }

  #tooMany(limit: LimitName, message: string): void {
    this.#options.limitReached(limit);
    this.#end('tooMany', new ServiceError('RATE_LIMITED', message));
  }

  /** Closes the socket after an error that is a bug. */
  #fail(error: unknown): void {
    this.#options.logError(error, 'could not answer a WebSocket message');
    this.#end('internal', new ServiceError('INTERNAL', 'internal error'));
  }

  #leave(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#options.hub.silence(this.#wire);
  }

  /** Sends the error as the last message and closes the socket. */
  #end(code: keyof typeof closeCodes | 'internal', error: ServiceError): void {
    if (this.#closed) return;
    this.#leave();
    this.#wire.send(errorMessage(error, this.#options.now()));
    this.#wire.close(code === 'internal' ? internalError : closeCodes[code], error.message);
  }
}

function asServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  throw error;
}

const pong = JSON.stringify({ type: 'pong' });

/** The close code for an internal error (RFC 6455, section 7.4.1). */
const internalError = 1011;

/** Parses a message. Throws INVALID_REQUEST. */
function parseMessage(text: string | undefined): ClientMessage {
  if (text === undefined) throw invalidField('message', 'must be text');
  try {
    return validateClientMessage(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) throw invalidField('message', 'must be JSON');
    throw error;
  }
}

import { type ClientMessage, closeCodes } from '../../contract/channels.ts';
import { validateClientMessage } from '../../contract/validate.ts';
import { invalidField, ServiceError } from '../../errors.ts';
import { type LimitName, limits } from '../../limits.ts';
import { errorMessage } from './error-message.ts';
import type { Hub, Reader } from './hub.ts';
import { type MayRead, type Preset, Subscriptions } from './subscriptions.ts';

/** Who a socket belongs to, as long as `expiresAt` (epoch milliseconds) is ahead. */
export interface SocketIdentity {
  readonly principalId: string;
  /** Absent for client certificates. */
  readonly jti?: string;
  /** As of now. */
  readonly mayRead: MayRead;
  readonly expiresAt: number;
}

/** A connected socket: what a session needs of it. */
export interface Wire extends Reader {
  /** Closes it once what was sent has been read. */
  close(code: number, reason: string): void;
}

export interface SessionOptions {
  readonly hub: Hub;
  /** @throws ServiceError UNAUTHENTICATED */
  readonly authenticate: (token: string) => Promise<SocketIdentity>;
  readonly now: () => number;
  readonly limitReached: (limit: LimitName) => void;
  /** Told once, when the credentials of the socket are known and good for it. */
  readonly onAdmitted?: () => void;
  /** Credentials of the upgrade that mean nobody do not end it: a token may come in a message. */
  readonly othersMayCome?: boolean;
  /** Told of what is a bug. */
  readonly logError: (error: unknown, message: string) => void;
  /** Subscribed to as soon as the socket is authenticated: the `…/stream` paths. */
  readonly preset?: Preset;
}

/**
 * The protocol of one socket. Messages are answered in the order in which they came: while a token is being checked,
 * later messages wait.
 *
 * ```
 *   open ──► waiting for auth (5 s) ──auth──► open for subscriptions ──► closed
 *     └────── credentials of the upgrade ──────────┘   ├─ 4401 when the credentials expire or are revoked
 *                                                      └─ 4403 when nothing is left that they may read
 * ```
 */
export class Session {
  readonly #wire: Wire;
  readonly #options: SessionOptions;
  readonly #subscriptions: Subscriptions;
  #identity: SocketIdentity | undefined;
  /** Reads the credentials that `#identity` came from. */
  #check: (() => Promise<SocketIdentity>) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #turn: Promise<void> = Promise.resolve();
  /** Messages that wait for their turn: bounded, because a client may send faster than tokens can be checked. */
  #waiting = 0;
  /** Messages that may come now; grows with time. */
  #credit: number = limits.maxSocketMessageBurst;
  #creditAt: number;
  #closed = false;

  /** @param check - tells what the credentials of the upgrade mean, where it had any */
  constructor(wire: Wire, options: SessionOptions, check: (() => Promise<SocketIdentity>) | undefined) {
    this.#wire = wire;
    this.#options = options;
    this.#subscriptions = new Subscriptions(wire, options);
    this.#creditAt = options.now();
    this.#timer = setTimeout(() => {
      options.limitReached('socketAuthTimeoutMs');
      this.#end('authTimeout', new ServiceError('UNAUTHENTICATED', 'no credentials came in time'));
    }, limits.socketAuthTimeoutMs);
    if (check)
      this.#turn = this.#authenticate(check, options.othersMayCome).catch((error: unknown) =>
        this.#fail(error),
      );
  }

  get jti(): string | undefined {
    return this.#identity?.jti;
  }

  get principalId(): string | undefined {
    return this.#identity?.principalId;
  }

  /** One message of the client, already decoded; undefined where it was no text. */
  receive(text: string | undefined): void {
    if (this.#closed) return;
    if (!this.#isInTime())
      return this.#tooMany('maxSocketMessagesPerS', 'messages come faster than a client may send them');
    if (this.#waiting >= limits.maxWaitingSocketMessages)
      return this.#tooMany('maxWaitingSocketMessages', 'messages come faster than they can be answered');
    // An answer that the reader leaves unread would only pile up.
    if (this.#wire.backlogBytes() > 2 * limits.maxSocketBacklogBytes)
      return this.#tooMany('maxSocketBacklogBytes', 'answers are left unread');
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

  /** The socket is gone. */
  closed(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#options.hub.remove(this.#wire);
  }

  /** The token or session of this socket was revoked. */
  revoke(): void {
    this.#end('unauthenticated', new ServiceError('UNAUTHENTICATED', 'the credentials were revoked'));
  }

  /** Something changed that its credentials depend on: they are read again, and it ends where they are no longer good. */
  judgeAnew(): void {
    const check = this.#check;
    if (this.#closed || check === undefined) return;
    this.#turn = this.#turn
      .then(async () => {
        // Other credentials may have come meanwhile: they have just been read.
        if (!this.#closed && this.#check === check) await this.#authenticate(check);
      })
      .catch((error: unknown) => this.#fail(error));
  }

  /** The service stops. */
  stop(): void {
    if (this.#closed) return;
    this.#leave();
    this.#wire.close(closeCodes.goingAway, 'the service is stopping');
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
      return this.#end(
        'unauthenticated',
        new ServiceError('UNAUTHENTICATED', 'the first message must be auth'),
      );
    switch (message.type) {
      case 'ping':
        return this.#wire.send(pong);
      case 'unsubscribe':
        return this.#subscriptions.unsubscribe(message);
      case 'subscribe':
        if (this.#subscriptions.count >= limits.maxSubscriptionsPerSocket)
          return this.#tooMany(
            'maxSubscriptionsPerSocket',
            `a socket holds at most ${limits.maxSubscriptionsPerSocket} subscriptions`,
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
      return this.#end('forbidden', new ServiceError('FORBIDDEN', 'this role may not read live events'));
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
    // Timers are 32-bit: a long-lived token is looked at again when the longest timer ends. One that ran for as long as
    // was left ends the session, whatever a clock that was set back says then.
    const left = time - this.#options.now();
    const delay = Math.min(left, 2 ** 31 - 1);
    this.#timer = setTimeout(() => {
      if (delay < left && this.#options.now() < time) this.#expireAt(time);
      else this.#end('unauthenticated', new ServiceError('UNAUTHENTICATED', 'the credentials have expired'));
    }, delay);
    this.#timer.unref();
  }

  /** Takes one message out of what the client may send. */
  #isInTime(): boolean {
    const now = this.#options.now();
    const grown = this.#credit + (Math.max(0, now - this.#creditAt) * limits.maxSocketMessagesPerS) / 1000;
    this.#creditAt = now;
    this.#credit = Math.min(limits.maxSocketMessageBurst, grown) - 1;
    return this.#credit >= 0;
  }

  #tooMany(limit: LimitName, message: string): void {
    this.#options.limitReached(limit);
    this.#end('tooMany', new ServiceError('RATE_LIMITED', message));
  }

  /** A bug: the socket ends, the service goes on. */
  #fail(error: unknown): void {
    this.#options.logError(error, 'a WebSocket message could not be answered');
    this.#end('internal', new ServiceError('INTERNAL', 'internal error'));
  }

  #leave(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#options.hub.silence(this.#wire);
  }

  /** The last thing that the client is told. Nothing is sent behind it. */
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

/** RFC 6455, section 7.4.1. */
const internalError = 1011;

/** @throws ServiceError INVALID_REQUEST */
function parseMessage(text: string | undefined): ClientMessage {
  if (text === undefined) throw invalidField('message', 'must be text');
  try {
    return validateClientMessage(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) throw invalidField('message', 'must be JSON');
    throw error;
  }
}

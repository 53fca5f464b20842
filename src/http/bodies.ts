import { type Budget, type BudgetOfEach, type ByteLimit, Reservation } from '../admission/budget.ts';
import { ServiceError } from '../errors.ts';
import { type LimitName, limits } from '../limits.ts';

/** The size of the blocks in which large bodies are received. */
const blockBytes = 256 * 2 ** 10;

/**
 * Blocks of received bodies that are kept for reuse. Fresh memory pages cost more than copying (2.1 ms for 3.7 MB,
 * compared with 0.3 ms for the copy), and freeing pages stops all threads briefly. At most `limits.maxSpareBodyBytes`
 * are kept.
 */
class SpareBlocks {
  readonly #spare: ArrayBuffer[] = [];

  /** Returns a block, which may still contain bytes of an earlier body. */
  take(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#spare.pop() ?? new ArrayBuffer(blockBytes));
  }

  /**
   * Keeps the blocks for reuse; the caller must hold the only references. Blocks of other sizes are left to
   * the garbage collector.
   */
  give(blocks: readonly ArrayBuffer[]): void {
    for (const block of blocks) {
      if (this.#spare.length * blockBytes >= limits.maxSpareBodyBytes) return;
      if (block.byteLength === blockBytes) this.#spare.push(block);
    }
  }
}

/** The spare blocks of the main thread, the only thread that receives bodies. */
const spareBlocks = new SpareBlocks();

/** The limits of a body. */
export interface BodyLimits {
  readonly maxBytes: number;
  /** The budget that counts the bytes of the body as they arrive. */
  readonly budget: Budget;
  /**
   * Budgets by principal, which also count the bytes, and the limit that metrics report as reached when the bytes do
   * not fit the budget of the caller.
   */
  readonly ofPrincipal?: { readonly budget: BudgetOfEach; readonly overloaded: LimitName };
  /** The limit that metrics report as reached when the body is too long. */
  readonly tooLong: LimitName;
  /** The limit that metrics report as reached when the bytes do not fit `budget`. */
  readonly overloaded: LimitName;
}

/**
 * A complete body. Its bytes count against the budgets until `release`, which must be called once the body is
 * processed.
 */
export interface ArrivedBody {
  /** Number of bytes of the body. */
  readonly length: number;
  /**
   * The body in order, in separate buffers that may be transferred to another thread. The last buffer may be
   * longer than its content.
   */
  readonly pieces: readonly ArrayBuffer[];
  /** The body in one buffer of its exact length, which is assembled on access. */
  readonly bytes: ArrayBuffer;
  /** Takes back pieces that are no longer read, and reuses them to receive other bodies. */
  recycle(pieces: readonly ArrayBuffer[]): void;
  release(): void;
}

/** The empty value for requests that have no body. */
export const noBody: ArrivedBody = {
  length: 0,
  pieces: [],
  get bytes() {
    return new ArrayBuffer(0);
  },
  recycle: () => undefined,
  release: () => undefined,
};

/** The part of a uWebSockets.js response that delivers bodies. */
interface BodySource {
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): unknown;
  close(): unknown;
}

/**
 * The body of one request while it is received.
 *
 * ```
 *   kept ──last chunk, and accept──▶ the received blocks
 *    │ │ too long, or a budget is used up
 *    │ ▼
 *    └──discard──▶ discarded ──last chunk, or too much──▶ drained
 * ```
 *
 * uWebSockets.js delivers the first bytes right after the request handler, and its chunks are valid only in the
 * callback. The handler is therefore attached immediately, and bytes are copied and counted before the server has
 * determined whether the body is wanted (checking credentials is asynchronous). Budgets are charged as bytes arrive,
 * never for the announced length. An announced length over the limit is refused before reading.
 */
export class IncomingBody {
  readonly #source: BodySource;
  readonly #length: number | undefined;
  readonly #limits: BodyLimits;
  readonly #reservation: Reservation;
  /** Reservation of the same bytes in the budget of the principal. */
  #ownReservation: Reservation | undefined;
  readonly #limitReached: (limit: LimitName) => void;
  #state: 'kept' | 'discarded' = 'kept';
  /**
   * The received blocks. All blocks except the last are full, because many small chunks would cost many times
   * their bytes.
   */
  #blocks: Uint8Array<ArrayBuffer>[] = [];
  /** Total size of all blocks in bytes. */
  #room = 0;
  #received = 0;
  #complete = false;
  #aborted = false;
  #fault: ServiceError | undefined;
  #timer: NodeJS.Timeout | undefined;
  #wake: (() => void) | undefined;

  /** Begins to receive a body. `length` is the Content-Length; undefined for a chunked body. */
  constructor(
    source: BodySource,
    length: number | undefined,
    bodyLimits: BodyLimits,
    limitReached: (limit: LimitName) => void,
  ) {
    this.#length = length;
    this.#limits = bodyLimits;
    this.#reservation = new Reservation(bodyLimits.budget);
    this.#limitReached = limitReached;
    if (length !== undefined && length > bodyLimits.maxBytes) this.#refuseLength();
    this.#source = source;
    this.#endAfter('bodyTimeoutMs');
    source.onData((chunk, isLast) => this.#receive(chunk, isLast));
  }

  /** Number of bytes of the body that have arrived. */
  get received(): number {
    return this.#received;
  }

  /** Whether the length was announced, so that unwanted bytes can be dropped after the response. */
  get isAnnounced(): boolean {
    return this.#length !== undefined;
  }

  /** Whether `accept` can return immediately. */
  get isSettled(): boolean {
    return this.#complete || this.#aborted || (this.isAnnounced && this.#fault !== undefined);
  }

  /** Shortens the timeout for the rest of the body of an unauthenticated caller. */
  hurry(): void {
    if (!this.#complete && !this.#aborted) this.#endAfter('bodyTimeoutWithoutIdentityMs');
  }

  /**
   * Returns the whole body. Throws PAYLOAD_TOO_LARGE, OVERLOADED (the bytes do not fit the budget), RATE_LIMITED (the
   * bytes do not fit `own`), and CANCELLED after `abort`. After an error, all received bytes are dropped.
   *
   * @param own - the budget of the principal
   */
  async accept(own?: ByteLimit): Promise<ArrivedBody> {
    if (own !== undefined && this.#fault === undefined) {
      this.#ownReservation = new Reservation(own);
      if (!this.#ownReservation.growTo(this.#room)) this.#refuseOwn();
    }
    if (!this.#complete && this.#fault === undefined) await this.#progress();
    if (this.#fault !== undefined) throw this.#fault;
    this.#state = 'discarded';
    const pieces = this.#blocks.map(({ buffer }) => buffer);
    this.#blocks = [];
    const reservations = [this.#reservation, this.#ownReservation].map((each) => each?.handOver());
    const length = this.#received;
    return {
      length,
      pieces,
      get bytes() {
        return joined(pieces, length);
      },
      recycle: (spent) => spareBlocks.give(spent),
      release() {
        for (const each of reservations) each?.release();
      },
    };
  }

  /**
   * Drops the body and resolves when the response may be sent: immediately for an announced body, or at the end
   * of a chunked body. A short rest of an announced body is read and dropped after the response. Returns true if
   * the connection must be closed because the rest is too long to read.
   */
  async discard(): Promise<boolean> {
    this.#drop();
    if (this.#length !== undefined) return this.#length - this.#received > limits.maxDiscardedBodyBytes;
    if (!this.#complete && this.#received <= limits.maxDiscardedBodyBytes) await this.#progress();
    return !this.#complete;
  }

  /** Drops all further bytes, because no endpoint accepts this body. */
  ignore(): void {
    this.#drop();
  }

  /** Ends the reception, because the client disconnected or the response was sent. */
  abort(): void {
    this.#aborted = true;
    clearTimeout(this.#timer);
    this.#fault ??= new ServiceError('CANCELLED', 'the client disconnected before its request was complete');
    this.#drop();
    this.#notify();
  }

  #endAfter(limit: 'bodyTimeoutMs' | 'bodyTimeoutWithoutIdentityMs'): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#limitReached(limit);
      this.#source.close();
    }, limits[limit]).unref();
  }

  #receive(chunk: ArrayBuffer, isLast: boolean): void {
    const offset = this.#received;
    this.#received += chunk.byteLength;
    if (this.#state === 'kept' && chunk.byteLength > 0) this.#store(new Uint8Array(chunk), offset);
    if (isLast) {
      this.#complete = true;
      clearTimeout(this.#timer);
    }
    if (isLast || this.#received > limits.maxDiscardedBodyBytes) this.#notify();
  }

  #store(chunk: Uint8Array, offset: number): void {
    if (this.#received > this.#limits.maxBytes) return this.#refuseLength();
    const last = this.#blocks.at(-1);
    const free = this.#room - offset;
    if (last !== undefined && free > 0) last.set(chunk.subarray(0, free), last.byteLength - free);
    for (let at = free; at < chunk.byteLength; ) {
      const block = this.#newBlock(chunk.byteLength - at);
      if (block === undefined) return;
      block.set(chunk.subarray(at, at + block.byteLength));
      at += block.byteLength;
    }
  }

  /** Returns a block for the next bytes; undefined if a budget is used up. */
  #newBlock(atHand: number): Uint8Array<ArrayBuffer> | undefined {
    const most = (this.#length ?? this.#limits.maxBytes) - this.#room;
    const wanted = Math.max(minBlockBytes, this.#room, atHand);
    const size = Math.min(blockBytes, wanted, most);
    if (!this.#reservation.growTo(this.#room + size)) return this.#refuseLoad();
    if (this.#ownReservation?.growTo(this.#room + size) === false) return this.#refuseOwn();
    const block = size === blockBytes ? spareBlocks.take() : new Uint8Array(size);
    this.#blocks.push(block);
    this.#room += size;
    return block;
  }

  #refuseLength(): void {
    const { maxBytes, tooLong } = this.#limits;
    const details = { max_bytes: maxBytes };
    this.#refuse(
      tooLong,
      new ServiceError('PAYLOAD_TOO_LARGE', `the body must have at most ${maxBytes} bytes`, details),
    );
  }

  #refuseLoad(): undefined {
    const message = 'too many request bytes in progress; nothing of this request was kept';
    this.#refuse(this.#limits.overloaded, new ServiceError('OVERLOADED', message));
  }

  #refuseOwn(): undefined {
    const message = 'too many request bytes of this principal in progress; nothing of this request was kept';
    const fault = new ServiceError('RATE_LIMITED', message, { retry_after_s: 1 });
    this.#refuse(this.#limits.ofPrincipal?.overloaded ?? this.#limits.overloaded, fault);
  }

  #refuse(limit: LimitName, fault: ServiceError): void {
    this.#limitReached(limit);
    this.#fault = fault;
    this.#drop();
    // Some clients read the response to a chunked body only after they have sent the whole body.
    if (this.isAnnounced) this.#notify();
  }

  #drop(): void {
    this.#state = 'discarded';
    spareBlocks.give(this.#blocks.map(({ buffer }) => buffer));
    this.#blocks = [];
    this.#reservation.release();
    this.#ownReservation?.release();
  }

  #progress(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #notify(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}

/**
 * Minimum size of an allocation. Memory is allocated in steps as large as the part that has arrived, up to
 * the size of a block.
 */
const minBlockBytes = 4096;

function joined(pieces: readonly ArrayBuffer[], length: number): ArrayBuffer {
  const [only] = pieces;
  if (pieces.length === 1 && only?.byteLength === length) return only;
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const piece of pieces) {
    whole.set(new Uint8Array(piece, 0, Math.min(piece.byteLength, length - offset)), offset);
    offset += piece.byteLength;
  }
  return whole.buffer;
}

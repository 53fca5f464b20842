import { ServiceError } from '../errors.ts';
import { type LimitName, limits } from '../limits.ts';
import { type Budget, Share } from './budget.ts';

/** What a body is allowed to be. */
export interface BodyTerms {
  readonly maxBytes: number;
  /** Holds the body's bytes from their arrival on. */
  readonly budget: Budget;
  /** What is counted when the body is too long, or does not fit the budget. */
  readonly tooLong: LimitName;
  readonly overloaded: LimitName;
}

/** A body that has arrived. Its bytes stay counted until `release`, which is due when the work on them is done. */
export interface ArrivedBody {
  /** Exactly the body, in a buffer of its own: it may be moved to another thread. */
  readonly bytes: ArrayBuffer;
  release(): void;
}

/** The part of a uWebSockets.js response that bodies arrive at. */
export interface BodySource {
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): unknown;
  close(): unknown;
}

/**
 * The body of one request, on its way in.
 *
 * ```
 *   undecided ──accept──▶ kept ──last chunk──▶ one exactly-sized ArrayBuffer
 *       │                   │ too long, or the budget is used up
 *       └──discard──▶ discarded ──last chunk, or too much──▶ drained
 * ```
 *
 * uWebSockets.js delivers the first bytes in the turn of the request, and its chunks live only in the callback; so
 * the handler is attached at once, and what arrives before the decision (credentials take a moment) is copied and
 * counted. A body of known length is checked before anything of it is read.
 */
export class IncomingBody {
  readonly #length: number | undefined;
  readonly #terms: BodyTerms;
  readonly #share: Share;
  readonly #limitReached: (limit: LimitName) => void;
  #state: 'undecided' | 'kept' | 'discarded' = 'undecided';
  #chunks: Uint8Array[] = [];
  /** Where a body of known length is put together, once it is accepted. */
  #buffer: Uint8Array<ArrayBuffer> | undefined;
  #received = 0;
  #complete = false;
  #fault: ServiceError | undefined;
  #timer: NodeJS.Timeout | undefined;
  #wake: (() => void) | undefined;

  /** `length` is the Content-Length; undefined for a chunked body. */
  constructor(
    source: BodySource,
    length: number | undefined,
    terms: BodyTerms,
    limitReached: (limit: LimitName) => void,
  ) {
    this.#length = length;
    this.#terms = terms;
    this.#share = new Share(terms.budget);
    this.#limitReached = limitReached;
    if (length !== undefined && length > terms.maxBytes) this.#refuseLength();
    this.#timer = setTimeout(() => {
      limitReached('bodyTimeoutMs');
      source.close();
    }, limits.bodyTimeoutMs).unref();
    source.onData((chunk, isLast) => this.#receive(chunk, isLast));
  }

  /** Bytes of the body that have arrived. */
  get received(): number {
    return this.#received;
  }

  /**
   * The whole body. Errors: PAYLOAD_TOO_LARGE, OVERLOADED (the budget; nothing was kept), CANCELLED after `abort`.
   */
  async accept(): Promise<ArrivedBody> {
    this.#keep();
    if (!this.#complete && this.#fault === undefined) await this.#progress();
    if (this.#fault !== undefined) throw this.#fault;
    const bytes = this.#assemble();
    const share = this.#share.handOver();
    return { bytes, release: () => share.release() };
  }

  /**
   * Forgets the body and resolves when the answer may be sent: at once where the rest is known to be small (it is
   * read and dropped behind the answer), for a chunked body at its end. True when the connection must be cut,
   * because more would follow than is worth reading.
   */
  async discard(): Promise<boolean> {
    this.#drop();
    if (this.#length !== undefined) return this.#length - this.#received > limits.maxDiscardedBodyBytes;
    if (!this.#complete && this.#received <= limits.maxDiscardedBodyBytes) await this.#progress();
    return !this.#complete;
  }

  /** Nobody wants it: what arrives is dropped from now on. */
  ignore(): void {
    this.#drop();
  }

  /** The client is gone, or the request is answered: nothing may arrive any more. */
  abort(): void {
    clearTimeout(this.#timer);
    this.#fault ??= new ServiceError('CANCELLED', 'the client went away before its request was complete');
    this.#drop();
    this.#notify();
  }

  #keep(): void {
    if (this.#fault !== undefined || this.#state !== 'undecided') return;
    this.#state = 'kept';
    if (this.#complete || this.#length === undefined) return;
    if (!this.#share.growTo(this.#length)) {
      this.#refuseLoad();
      return;
    }
    const buffer = new Uint8Array(this.#length);
    let offset = 0;
    for (const chunk of this.#chunks) {
      buffer.set(chunk, offset);
      offset += chunk.byteLength;
    }
    this.#chunks = [];
    this.#buffer = buffer;
  }

  #receive(chunk: ArrayBuffer, isLast: boolean): void {
    const offset = this.#received;
    this.#received += chunk.byteLength;
    if (this.#state !== 'discarded' && chunk.byteLength > 0) this.#store(chunk, offset);
    if (isLast) {
      this.#complete = true;
      clearTimeout(this.#timer);
    }
    if (isLast || this.#received > limits.maxDiscardedBodyBytes) this.#notify();
  }

  #store(chunk: ArrayBuffer, offset: number): void {
    if (this.#received > this.#terms.maxBytes) {
      this.#refuseLength();
      return;
    }
    if (!this.#share.growTo(this.#received)) {
      this.#refuseLoad();
      return;
    }
    if (this.#buffer === undefined) this.#chunks.push(new Uint8Array(chunk.slice(0)));
    else this.#buffer.set(new Uint8Array(chunk), offset);
  }

  #assemble(): ArrayBuffer {
    this.#state = 'discarded';
    if (this.#buffer !== undefined) return this.#buffer.buffer;
    const [only] = this.#chunks;
    if (this.#chunks.length === 1 && only !== undefined) return only.buffer as ArrayBuffer;
    const whole = new Uint8Array(this.#received);
    let offset = 0;
    for (const chunk of this.#chunks) {
      whole.set(chunk, offset);
      offset += chunk.byteLength;
    }
    this.#chunks = [];
    return whole.buffer;
  }

  #refuseLength(): void {
    const { maxBytes, tooLong } = this.#terms;
    const details = { max_bytes: maxBytes };
    this.#refuse(
      tooLong,
      new ServiceError('PAYLOAD_TOO_LARGE', `the body has more than ${maxBytes} bytes`, details),
    );
  }

  #refuseLoad(): void {
    const message = 'too many bytes of requests are in work; nothing of this one was kept';
    this.#refuse(this.#terms.overloaded, new ServiceError('OVERLOADED', message));
  }

  #refuse(limit: LimitName, fault: ServiceError): void {
    this.#limitReached(limit);
    this.#fault = fault;
    this.#drop();
  }

  #drop(): void {
    this.#state = 'discarded';
    this.#chunks = [];
    this.#buffer = undefined;
    this.#share.release();
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

import { ServiceError } from '../errors.ts';
import { type LimitName, limits } from '../limits.ts';
import { blockBytes, spareBlocks } from './body-blocks.ts';
import { type Budget, type BudgetOfEach, type Held, Share } from './budget.ts';

/** What a body is allowed to be. */
export interface BodyTerms {
  readonly maxBytes: number;
  /** Holds the body's bytes from their arrival on. */
  readonly budget: Budget;
  /** Holds them too, from when it is known whose they are; `overloaded` is counted when they do not fit this one. */
  readonly ofPrincipal?: { readonly budget: BudgetOfEach; readonly overloaded: LimitName };
  /** What is counted when the body is too long, or does not fit the budget. */
  readonly tooLong: LimitName;
  readonly overloaded: LimitName;
}

/** A body that has arrived. Its bytes stay counted until `release`, which is due when the work on them is done. */
export interface ArrivedBody {
  /** Of all pieces together. */
  readonly length: number;
  /** The body in order, in buffers of their own that may be moved to another thread; the last may have room left over. */
  readonly pieces: readonly ArrayBuffer[];
  /** Exactly the body, in one buffer, which is made of the pieces where it is asked for. */
  readonly bytes: ArrayBuffer;
  /** Takes the pieces back, once nobody reads them any more: another body will arrive in them. */
  recycle(pieces: readonly ArrayBuffer[]): void;
  release(): void;
}

/** Of a request without one. */
export const noBody: ArrivedBody = {
  length: 0,
  pieces: [],
  get bytes() {
    return new ArrayBuffer(0);
  },
  recycle: () => undefined,
  release: () => undefined,
};

/** The part of a uWebSockets.js response that bodies arrive at. */
export interface BodySource {
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): unknown;
  close(): unknown;
}

/**
 * The body of one request, on its way in.
 *
 * ```
 *   kept ──last chunk, and accept──▶ the blocks that it arrived in
 *    │ │ too long, or a budget is used up
 *    │ ▼
 *    └──discard──▶ discarded ──last chunk, or too much──▶ drained
 * ```
 *
 * uWebSockets.js delivers the first bytes in the turn of the request, and its chunks live only in the callback; so
 * the handler is attached at once, and what arrives is copied and counted before it is known whether it is wanted
 * (credentials take a moment). Room is taken as bytes arrive, never for what was only announced. A length that is too
 * long is refused before anything of it is read.
 */
export class IncomingBody {
  readonly #source: BodySource;
  readonly #length: number | undefined;
  readonly #terms: BodyTerms;
  readonly #share: Share;
  /** What its principal holds. */
  #ownShare: Share | undefined;
  readonly #limitReached: (limit: LimitName) => void;
  #state: 'kept' | 'discarded' = 'kept';
  /** All full but the last: many small chunks would cost many times their bytes. */
  #blocks: Uint8Array<ArrayBuffer>[] = [];
  /** Bytes of all blocks. */
  #room = 0;
  #received = 0;
  #complete = false;
  #aborted = false;
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
    this.#source = source;
    this.#endAfter('bodyTimeoutMs');
    source.onData((chunk, isLast) => this.#receive(chunk, isLast));
  }

  /** Bytes of the body that have arrived. */
  get received(): number {
    return this.#received;
  }

  /** Its length came with the head, so that what is not wanted of it can be dropped behind the answer. */
  get isAnnounced(): boolean {
    return this.#length !== undefined;
  }

  /** True when `accept` has nothing to wait for. */
  get isSettled(): boolean {
    return this.#complete || this.#aborted || (this.isAnnounced && this.#fault !== undefined);
  }

  /** Of a caller who is not known: the rest must come soon. */
  hurry(): void {
    if (!this.#complete && !this.#aborted) this.#endAfter('bodyTimeoutWithoutIdentityMs');
  }

  /**
   * The whole body. Errors: PAYLOAD_TOO_LARGE, OVERLOADED (the budget; nothing was kept), RATE_LIMITED (the same, of
   * `own`), CANCELLED after `abort`.
   *
   * @param own - what the principal may hold
   */
  async accept(own?: Held): Promise<ArrivedBody> {
    if (own !== undefined && this.#fault === undefined) {
      this.#ownShare = new Share(own);
      if (!this.#ownShare.growTo(this.#room)) this.#refuseOwn();
    }
    if (!this.#complete && this.#fault === undefined) await this.#progress();
    if (this.#fault !== undefined) throw this.#fault;
    this.#state = 'discarded';
    const pieces = this.#blocks.map(({ buffer }) => buffer);
    this.#blocks = [];
    const shares = [this.#share, this.#ownShare].map((share) => share?.handOver());
    const length = this.#received;
    return {
      length,
      pieces,
      get bytes() {
        return joined(pieces, length);
      },
      recycle: (spent) => spareBlocks.give(spent),
      release() {
        for (const share of shares) share?.release();
      },
    };
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
    this.#aborted = true;
    clearTimeout(this.#timer);
    this.#fault ??= new ServiceError('CANCELLED', 'the client went away before its request was complete');
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
    if (this.#received > this.#terms.maxBytes) return this.#refuseLength();
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

  /** Room for what comes next; undefined when it was refused. */
  #newBlock(atHand: number): Uint8Array<ArrayBuffer> | undefined {
    const most = (this.#length ?? this.#terms.maxBytes) - this.#room;
    const wanted = Math.max(minBlockBytes, this.#room, atHand);
    const size = Math.min(blockBytes, wanted, most);
    if (!this.#share.growTo(this.#room + size)) return this.#refuseLoad();
    if (this.#ownShare?.growTo(this.#room + size) === false) return this.#refuseOwn();
    const block = size === blockBytes ? spareBlocks.take() : new Uint8Array(size);
    this.#blocks.push(block);
    this.#room += size;
    return block;
  }

  #refuseLength(): void {
    const { maxBytes, tooLong } = this.#terms;
    const details = { max_bytes: maxBytes };
    this.#refuse(
      tooLong,
      new ServiceError('PAYLOAD_TOO_LARGE', `the body has more than ${maxBytes} bytes`, details),
    );
  }

  #refuseLoad(): undefined {
    const message = 'too many bytes of requests are in work; nothing of this one was kept';
    this.#refuse(this.#terms.overloaded, new ServiceError('OVERLOADED', message));
  }

  #refuseOwn(): undefined {
    const message = 'too many bytes of requests of this principal are in work; nothing of this one was kept';
    const fault = new ServiceError('RATE_LIMITED', message, { retry_after_s: 1 });
    this.#refuse(this.#terms.ofPrincipal?.overloaded ?? this.#terms.overloaded, fault);
  }

  #refuse(limit: LimitName, fault: ServiceError): void {
    this.#limitReached(limit);
    this.#fault = fault;
    this.#drop();
    // The sender of a chunked body may not look for an answer before its end.
    if (this.isAnnounced) this.#notify();
  }

  #drop(): void {
    this.#state = 'discarded';
    spareBlocks.give(this.#blocks.map(({ buffer }) => buffer));
    this.#blocks = [];
    this.#share.release();
    this.#ownShare?.release();
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

/** Room is taken in steps: as much again as has come, from here up to a block. */
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

import { equalHashes, type Hash, hashBytes } from '../../tlog/tree.ts';
import type { SignedHead } from '../storage/storage.ts';

/** The root of a segment's own leaves at a size, and, for a head, the signed root. */
export interface RootAt {
  readonly size: number;
  readonly root: Hash;
  readonly signed: Hash | undefined;
}

/** Bytes of a packed root: size, whether there is a signed root, both roots. */
const packedBytes = 8 + 1 + 2 * hashBytes;

/**
 * Records roots at heads of a segment and at other sizes, ascending, while the tree grows. The roots are packed into
 * one buffer, because a segment may have a head for each leaf. Objects would take ten times as much memory and would be
 * slow to send to another thread.
 */
export class RootRecorder {
  readonly #heads: Generator<SignedHead>;
  readonly #also: readonly number[];
  #head: SignedHead | undefined;
  #next = 0;
  #last: RootAt | undefined;
  #packed = Buffer.alloc(16 * packedBytes);
  #length = 0;

  constructor(heads: Generator<SignedHead>, also: readonly number[]) {
    this.#heads = heads;
    this.#also = also;
    this.#head = this.#take();
  }

  /** The recorded roots in a form that can be sent to another thread; read with `unpackRoots`. */
  get packed(): Uint8Array {
    return this.#packed.subarray(0, this.#length);
  }

  reached(size: number, rootOf: () => Hash): void {
    const wanted: (Hash | undefined)[] = [];
    for (; this.#head !== undefined && this.#head.size <= size; this.#head = this.#take()) {
      if (this.#head.size === size) wanted.push(this.#head.root);
    }
    for (; (this.#also[this.#next] ?? Number.POSITIVE_INFINITY) <= size; this.#next++) {
      if (this.#also[this.#next] === size) wanted.push(undefined);
    }
    if (wanted.length === 0) return;
    const root = rootOf();
    for (const signed of wanted) this.#add({ size, root, signed });
  }

  /** Heads of the same size are signed repeatedly; a repeated root is recorded once. */
  #add(found: RootAt): void {
    const last = this.#last;
    this.#last = found;
    if (last?.size === found.size && last.signed !== undefined && found.signed !== undefined) {
      if (equalHashes(last.signed, found.signed)) return;
    }
    if (this.#length === this.#packed.length) this.#packed = Buffer.concat([this.#packed], 2 * this.#length);
    const at = this.#packed.writeDoubleBE(found.size, this.#length);
    this.#packed[at] = Number(found.signed !== undefined);
    this.#packed.set(found.root, at + 1);
    if (found.signed !== undefined) this.#packed.set(found.signed, at + 1 + hashBytes);
    this.#length += packedBytes;
  }

  #take(): SignedHead | undefined {
    const { value, done } = this.#heads.next();
    return done === true ? undefined : value;
  }
}

export function* unpackRoots(packed: Uint8Array): Generator<RootAt> {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.length);
  for (let at = 0; at < bytes.length; at += packedBytes) {
    const root = at + 9;
    const hash = (from: number) => new Uint8Array(bytes.subarray(from, from + hashBytes));
    yield {
      size: bytes.readDoubleBE(at),
      root: hash(root),
      signed: bytes[at + 8] === 1 ? hash(root + hashBytes) : undefined,
    };
  }
}

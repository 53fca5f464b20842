import type { AddressList } from '../../events/format/column-readers.ts';
import { addressWord } from '../../net/ip.ts';

/** Maximum characters of a text that are hashed: about twice the maximum length of a DNS name. */
const hashedCharacters = 512;

/**
 * HalfSipHash-2-4 with 32 bits of output (Aumasson, Bernstein: SipHash, 2012; reference code, halfsiphash.c).
 * Without the key, an attacker cannot choose addresses and names whose hashes collide. An address takes 20 to
 * 30 ns.
 */
export class KeyedHash {
  readonly #k0: number;
  readonly #k1: number;
  readonly #words = new Uint32Array(hashedCharacters / 2);

  /** Takes the key as two 32-bit numbers. */
  constructor([k0, k1]: readonly [number, number]) {
    this.#k0 = k0 | 0;
    this.#k1 = k1 | 0;
  }

  /**
   * Hashes an address in a block's list. The hash of an IPv4 address does not depend on the form in which it is
   * stored.
   */
  address(list: AddressList, index: number): number {
    const words = this.#words;
    if (list.v4 !== undefined) {
      words[0] = list.v4[index]!;
      return this.#hash(1, 0);
    }
    const { bytes } = list;
    const at = 16 * index;
    for (let i = 0; i < 4; i++) words[i] = addressWord(bytes, at + 4 * i);
    if (words[0] !== 0 || words[1] !== 0 || words[2] !== 0xffff) return this.#hash(4, 0);
    words[0] = words[3]!;
    return this.#hash(1, 0);
  }

  text(text: string): number {
    const length = Math.min(text.length, hashedCharacters);
    const words = this.#words;
    for (let i = 0; i + 1 < length; i += 2) words[i >>> 1] = text.charCodeAt(i) | (text.charCodeAt(i + 1) << 16);
    const rest = length % 2 === 1 ? text.charCodeAt(length - 1) : 0;
    return this.#hash(length >>> 1, rest, 2 * length);
  }

  /** Hashes up to 1,024 bytes. */
  bytes(bytes: Uint8Array): number {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const whole = Math.min(bytes.length >>> 2, this.#words.length);
    for (let i = 0; i < whole; i++) this.#words[i] = view.getUint32(4 * i, true);
    let rest = 0;
    for (let i = 4 * whole; i < bytes.length && i < 4 * whole + 3; i++) rest |= bytes[i]! << (8 * (i % 4));
    return this.#hash(whole, rest, bytes.length);
  }

  /** Hashes the first `count` words and the remaining bytes, `rest`. `length` is the total number of bytes. */
  #hash(count: number, rest: number, length: number = 4 * count): number {
    let v0 = this.#k0;
    let v1 = this.#k1;
    let v2 = 0x6c796765 ^ this.#k0;
    let v3 = 0x74656462 ^ this.#k1;
    for (let i = 0; i < count + 5; i++) {
      // Two rounds for each word, including the last word with the length, and then four final rounds.
      const isFinal = i > count;
      const word = isFinal ? 0 : i === count ? (length << 24) | rest : this.#words[i]! | 0;
      if (i === count + 1) v2 ^= 0xff;
      v3 ^= word;
      for (let round = isFinal ? 1 : 0; round < 2; round++) {
        v0 = (v0 + v1) | 0;
        v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
        v0 = (v0 << 16) | (v0 >>> 16);
        v2 = (v2 + v3) | 0;
        v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
        v0 = (v0 + v3) | 0;
        v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
        v2 = (v2 + v1) | 0;
        v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
        v2 = (v2 << 16) | (v2 >>> 16);
      }
      v0 ^= word;
    }
    return (v1 ^ v3) >>> 0;
  }
}

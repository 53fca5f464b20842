import { reject } from '../rejection.ts';

/** Wire types of fields. */
export const wire = { varint: 0, eight: 1, bytes: 2, four: 5 } as const;
export type Wire = (typeof wire)[keyof typeof wire];

const longestLength = 2 ** 31;

/**
 * Reads the fields of a message in Protocol Buffers' wire format one after the other, in place, without
 * copying or allocating. `next` checks the whole value, so a field is skipped by calling `next` again.
 *
 * An invalid message is a Rejection of field `protobuf`. A message is invalid if it has a length beyond its end, a
 * varint of more than 64 bits, a group (proto3 has no groups), field 0, or a wire type other than `expect` requires.
 */
export class ProtobufReader {
  readonly #bytes: Buffer;
  #at: number;
  #end: number;
  /** Field number of the current field. */
  field = 0;
  #wire = 0;
  /** Start of a bytes field's value. */
  start = 0;
  /** End of a bytes field's value, exclusive. */
  stop = 0;
  /** Upper 32 bits of the value of a field with another wire type, unsigned. */
  high = 0;
  /** Lower 32 bits of that value, unsigned. */
  low = 0;

  constructor(bytes: Buffer, start = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  /** Moves to the next field of the message; returns false after the last field. */
  next(): boolean {
    if (this.#at >= this.#end) return false;
    this.#varint();
    if (this.high !== 0) reject('protobuf', 'has a field number of more than 29 bits');
    this.field = this.low >>> 3;
    if (this.field === 0) reject('protobuf', 'has a field with the number 0');
    this.#wire = this.low & 7;
    switch (this.#wire) {
      case wire.varint:
        this.#varint();
        return true;
      case wire.bytes:
        this.#varint();
        this.start = this.#at;
        this.#skip(this.high !== 0 ? longestLength : this.low);
        this.stop = this.#at;
        return true;
      case wire.eight:
        this.#skip(8);
        this.low = this.#fixed32(this.#at - 8);
        this.high = this.#fixed32(this.#at - 4);
        return true;
      case wire.four:
        this.#skip(4);
        this.low = this.#fixed32(this.#at - 4);
        this.high = 0;
        return true;
      default:
        return reject('protobuf', 'has a group, or an invalid wire type');
    }
  }

  /** Rejects the message unless the current field has this wire type. */
  expect(wanted: Wire): void {
    if (this.#wire !== wanted)
      reject('protobuf', `has field ${this.field} with wire type ${this.#wire}, not ${wanted}`);
  }

  /** Enters the message in the current field. Pass the result to `leave` to continue after the message. */
  enter(): number {
    this.expect(wire.bytes);
    const outer = this.#end;
    this.#at = this.start;
    this.#end = this.stop;
    return outer;
  }

  leave(outer: number): void {
    this.#at = this.#end;
    this.#end = outer;
  }

  /** Continues with the fields of the message in `[start, end)`. */
  moveTo(start: number, end: number): void {
    this.#at = start;
    this.#end = end;
  }

  /** Returns the text of the current field. Invalid UTF-8 becomes U+FFFD, as in all data from sensors. */
  text(): string {
    this.expect(wire.bytes);
    return this.#bytes.toString('utf8', this.start, this.stop);
  }

  #skip(bytes: number): void {
    if (bytes > this.#end - this.#at) reject('protobuf', 'is truncated');
    this.#at += bytes;
  }

  #fixed32(at: number): number {
    const bytes = this.#bytes;
    return (
      ((bytes[at] as number) |
        ((bytes[at + 1] as number) << 8) |
        ((bytes[at + 2] as number) << 16) |
        ((bytes[at + 3] as number) << 24)) >>>
      0
    );
  }

  /** Reads a varint into `low` and `high`. A varint has at most ten bytes; the tenth byte has only one bit. */
  #varint(): void {
    const bytes = this.#bytes;
    const end = this.#end;
    let at = this.#at;
    let low = 0;
    let high = 0;
    for (let shift = 0; ; shift += 7) {
      if (at >= end) reject('protobuf', 'is truncated');
      const byte = bytes[at++] as number;
      const bits = byte & 127;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high = bits >> 4;
      } else high |= bits << (shift - 32);
      if (byte < 128) {
        if (shift === 63 && bits > 1) reject('protobuf', 'has a varint of more than 64 bits');
        break;
      }
      if (shift === 63) reject('protobuf', 'has a varint of more than 10 bytes');
    }
    this.#at = at;
    this.low = low >>> 0;
    this.high = high >>> 0;
  }
}

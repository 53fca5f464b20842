import { finish, step as mix } from '../sketch/hash.ts';

/**
 * Which texts a block may have: a Bloom filter (Burton H. Bloom, "Space/time trade-offs in hash coding with allowable
 * errors", 1970) of 12 bits a row, 8 of them set for each text. It says yes to 3 in 1,000 texts that the block has not,
 * and never no to one that it has; a block of 8,160 ids then needs not be read, 0.1 ms each.
 *
 * The hash has no secret: whoever chooses ids can set at most 8 different bits with each. So he gets the share of false
 * answers for other ids from 0.3 to 4 %, or makes blocks say yes to ids that he knows, which are then read as they were
 * without a filter. What is found is right whatever he does.
 */
const bitsPerRow = 12;
const bitsPerText = 8;

/** Two words of 32 bits, which a text has whatever the block. */
export interface TextHash {
  readonly start: number;
  readonly step: number;
}

/** Texts of rows in one run of UTF-8: that of row n lies at [offsets[n], offsets[n + 1]). Rows without one are left out. */
export function encodeTextFilter(
  utf8: Uint8Array,
  offsets: Uint32Array,
  present: Uint8Array,
  rows: number,
): Uint8Array {
  const filter = new Uint8Array(Math.ceil((bitsPerRow * rows) / 8));
  const bits = 8 * filter.length;
  const view = new DataView(utf8.buffer, utf8.byteOffset, utf8.byteLength);
  for (let row = 0; row < rows; row++) {
    if (present[row] === 0) continue;
    hash(view, offsets[row]!, offsets[row + 1]!);
    let at = start;
    for (let i = 0; i < bitsPerText; i++) {
      const bit = placeOf(at, bits);
      filter[bit >>> 3]! |= 1 << (bit & 7);
      at = (at + step) | 0;
    }
  }
  return filter;
}

/** Whether the texts of which this is the filter may have the one with this hash; no is certain. */
export function mayHave(filter: Uint8Array, text: TextHash): boolean {
  const bits = 8 * filter.length;
  let at = text.start;
  for (let i = 0; i < bitsPerText; i++) {
    const bit = placeOf(at, bits);
    if ((filter[bit >>> 3]! & (1 << (bit & 7))) === 0) return false;
    at = (at + text.step) | 0;
  }
  return true;
}

/** Whether a filter has the length of one of so many rows. Any other is none. */
export const isTextFilter = (filter: Uint8Array, rows: number): boolean =>
  filter.length > 0 && filter.length === Math.ceil((bitsPerRow * rows) / 8);

export function hashOfText(utf8: Uint8Array): TextHash {
  hash(new DataView(utf8.buffer, utf8.byteOffset, utf8.byteLength), 0, utf8.byteLength);
  return { start, step };
}

/** By the high bits, which a product takes without division. */
const placeOf = (word: number, bits: number): number => Math.floor(((word >>> 0) * bits) / 2 ** 32);

/** What `hash` leaves: an object for each row would cost more than the hash. */
let start = 0;
let step = 0;

/** Words of four bytes, mixed and finished as in MurmurHash3: 12 ns for an id of 18 bytes. */
function hash(bytes: DataView, from: number, to: number): void {
  let h = to - from;
  let at = from;
  for (; at + 4 <= to; at += 4) h = mix(h, bytes.getUint32(at, true));
  let last = 0;
  for (let shift = 0; at < to; at++, shift += 8) last |= bytes.getUint8(at) << shift;
  h = finish(mix(h, last)) | 0;
  start = h;
  step = finish(h ^ 0x9e3779b9) | 1;
}

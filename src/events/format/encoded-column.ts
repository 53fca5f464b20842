import { encodings } from './block-format.ts';

/**
 * An encoded column: the fields of its header entry, and its parts. Views are valid until the next `encode`.
 */
export interface EncodedColumn {
  readonly encoding: number;
  readonly width: number;
  readonly compressed: boolean;
  readonly codes: Uint8Array;
  readonly dictionary: Uint8Array;
  readonly entries: number;
  readonly min: number;
  readonly max: number;
  readonly inline: Uint8Array;
  /** The bytes after the dictionary, or after the codes of a plain column. */
  readonly tail: Uint8Array;
  /** Number of IPv4 addresses in a dictionary of both families. */
  readonly ipv4: number;
}

export const none = new Uint8Array(0);
export const absent: EncodedColumn = {
  encoding: encodings.absent,
  width: 0,
  compressed: false,
  codes: none,
  dictionary: none,
  entries: 0,
  min: Number.NaN,
  max: Number.NaN,
  inline: none,
  tail: none,
  ipv4: 0,
};

export const bytesOf = (array: ArrayBufferView): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

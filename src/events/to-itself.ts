import { AddressList, compareEntries } from './address-list.ts';
import { encodings } from './block-format.ts';
import type { EncodedColumn } from './encoded-column.ts';
import { type Pair, unknown, withPairs } from './tallies.ts';

/** No network has more hosts that talk to themselves among 8,160 events; who makes some up gets no more bytes than these. */
const most = 64;

/**
 * The column of originators with their rows to themselves behind its tail, and how many it lists: an address that is at
 * both ends has the rows of one and of the other, less these.
 */
export function withRowsToItself(src: EncodedColumn, dst: EncodedColumn, rows: number) {
  const none = { column: src, toItself: unknown };
  if (src.encoding !== encodings.dictionary || dst.encoding !== encodings.dictionary) return none;
  const partners = partnersOf(listOf(src), listOf(dst));
  const found = new Uint32Array(partners.length);
  const from = codesOf(src, rows);
  const to = codesOf(dst, rows);
  for (let row = 0; row < rows; row++) {
    const code = from[row]!;
    // Code 0 is absent: its partner is none that a row has.
    if (partners[code] === to[row]!) found[code]!++;
  }
  const pairs: Pair[] = [];
  for (let code = 1; code < found.length; code++) if (found[code]! > 0) pairs.push([code - 1, found[code]!]);
  if (pairs.length > most) return none;
  return { column: { ...src, tail: withPairs(src.tail, pairs) }, toItself: pairs.length };
}

const nobody = 0xffff;

/** For each code of one column that of the other which is the same address. */
function partnersOf(src: AddressList, dst: AddressList): Uint16Array {
  const partners = new Uint16Array(src.length + 1).fill(nobody);
  for (let i = 0, j = 0; i < src.length && j < dst.length; ) {
    const order = compareEntries(src, i, dst, j);
    if (order === 0) partners[i + 1] = j + 1;
    if (order <= 0) i++;
    if (order >= 0) j++;
  }
  return partners;
}

function listOf({ dictionary, inline, entries, ipv4 }: EncodedColumn): AddressList {
  return new AddressList(dictionary.length > 0 ? dictionary : inline, entries, ipv4);
}

function codesOf({ codes, width }: EncodedColumn, rows: number): Uint8Array | Uint16Array {
  const { buffer, byteOffset } = codes;
  return width === 1 ? new Uint8Array(buffer, byteOffset, rows) : new Uint16Array(buffer, byteOffset, rows);
}

import { AddressList, compareEntries } from './address-list.ts';
import { encodings } from './block-format.ts';
import type { EncodedColumn } from './encoded-column.ts';
import { type Pair, unknown, withPairs } from './tallies.ts';

/**
 * Maximum number of addresses that are listed. In a block of a real network (at most 8,160 events), fewer addresses are
 * both source and destination of the same event. The limit bounds the bytes that forged events can take.
 */
const most = 64;

/**
 * Appends a list to the source address column: for each address that rows have at both ends, the number of these rows.
 * Returns the number of listed addresses. These rows are counted in both columns, so the number of rows with an address
 * is the sum of both columns minus these rows. If there are too many such addresses, or if a column does not have a
 * dictionary with several addresses, the column is unchanged and the number is `unknown`.
 */
export function withSelfConnections(src: EncodedColumn, dst: EncodedColumn, rows: number) {
  const none = { column: src, toItself: unknown };
  if (src.encoding !== encodings.dictionary || dst.encoding !== encodings.dictionary) return none;
  const partners = partnersOf(listOf(src), listOf(dst));
  const found = new Uint32Array(partners.length);
  const from = codesOf(src, rows);
  const to = codesOf(dst, rows);
  for (let row = 0; row < rows; row++) {
    const code = from[row]!;
    // The partner of code 0 (absent) is a code that no row has.
    if (partners[code] === to[row]!) found[code]!++;
  }
  const pairs: Pair[] = [];
  for (let code = 1; code < found.length; code++) if (found[code]! > 0) pairs.push([code - 1, found[code]!]);
  if (pairs.length > most) return none;
  return { column: { ...src, tail: withPairs(src.tail, pairs) }, toItself: pairs.length };
}

const noPartner = 0xffff;

/** Returns for each code of one column the code of the same address in the other column. */
function partnersOf(src: AddressList, dst: AddressList): Uint16Array {
  const partners = new Uint16Array(src.length + 1).fill(noPartner);
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

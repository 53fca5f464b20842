import { invalidField } from '../../errors.ts';
import { type AddressRange, addressRanges, compareAddress, disjointRanges } from '../../net/ip.ts';
import type { EventBlock } from '../format/block.ts';
import type { AddressList } from '../format/column-readers.ts';
import type { ColumnName } from '../format/columns.ts';
import { costs, eitherMarked, type Marked, markedIn, type Term } from './term.ts';

/** Matches rows that have, in one of the columns (at most two), an address in one of the ranges. */
export function addressTerm(names: readonly ColumnName[], values: readonly string[], field: string): Term {
  const ranges = disjointRanges(
    values.flatMap((value) => {
      const found = addressRanges(value);
      if (found === undefined) throw invalidField(field, 'must be an IPv4 or IPv6 address or CIDR block');
      return found;
    }),
  );
  const oneAddress = ranges.length === 1 && isOne(ranges[0]!);
  return {
    cost: costs.address,
    prepare(block) {
      const found = names.map((name) => find(block, name, ranges)).filter((end) => end !== undefined);
      if (found.some((end) => end.rows === block.rows)) return true;
      const [one, two] = found.map((end) => ({ ...end, codes: block.addressCodes(end.name) }));
      if (one === undefined) return false;
      if (one.codes === undefined || (two !== undefined && two.codes === undefined)) return true;
      if (two === undefined) return markedIn(one.codes, one);
      return eitherMarked(one.codes, one, two.codes!, two);
    },
    count(block) {
      let sum: number | undefined = 0;
      let ends = 0;
      let twice: number | undefined;
      for (const name of names) {
        const found = find(block, name, ranges);
        if (found === undefined) continue;
        if (found.rows === block.rows) return block.rows;
        if (found.rows === undefined) sum = undefined;
        else if (sum !== undefined) sum += found.rows;
        twice ??= oneAddress ? found.toItself : undefined;
        ends++;
      }
      if (ends < 2) return sum;
      // Rows with a match in both columns are counted twice. For a single address, these are the rows with the
      // address at both ends. For several addresses, the number of these rows is unknown.
      return sum === undefined || twice === undefined ? undefined : sum - twice;
    },
  };
}

/** The entries of a column that are in the ranges. */
interface Found extends Marked {
  readonly name: ColumnName;
  /** Number of rows with these entries; undefined if the block does not store this number. */
  readonly rows: number | undefined;
  /**
   * Number of rows with the address at both ends, if there is a single entry; undefined if the block does not store
   * this number.
   */
  readonly toItself: number | undefined;
}

/** Finds the entries of a column in the ranges. Returns undefined if no entry is in a range. */
function find(block: EventBlock, name: ColumnName, ranges: readonly AddressRange[]): Found | undefined {
  const bounds = block.addressBounds(name);
  if (bounds.length === 0) return undefined;
  const near = ranges.filter(({ first, last }) => reaches(bounds, first, last));
  if (near.length === 0) return undefined;
  const list = block.addressList(name);
  const spans: [start: number, end: number][] = [];
  let rows: number | undefined = 0;
  let marked = 0;
  for (const { first, last } of near) {
    const start = list.firstNotBelow(first);
    const end = list.firstAbove(last);
    if (start >= end) continue;
    spans.push([start, end]);
    marked += end - start;
    const told = list.tallies?.rows(start, end);
    rows = rows === undefined || told === undefined ? undefined : rows + told;
  }
  if (marked === 0) return undefined;
  if (list.length === 1) rows = block.addressCodes(name) === undefined ? block.rows : rows;
  const toItself = marked === 1 ? list.tallies?.toItself(spans[0]![0]) : undefined;
  return { name, rows, toItself, spans, marked, entries: list.length };
}

const isOne = ({ first, last }: AddressRange): boolean => compareAddress(first, 0, last, 0) === 0;

/** Returns whether the inclusive range overlaps the range from the first to the last entry. */
function reaches(bounds: AddressList, first: Uint8Array, last: Uint8Array): boolean {
  return bounds.firstNotBelow(first) < bounds.length && bounds.firstAbove(last) > 0;
}

/** Returns whether the address is between the first and the last entry, inclusive. */
export function covers(bounds: AddressList, address: Uint8Array): boolean {
  return reaches(bounds, address, address);
}

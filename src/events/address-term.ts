import { invalidField } from '../errors.ts';
import type { EventBlock } from './block.ts';
import type { AddressList } from './column-readers.ts';
import type { ColumnName } from './columns.ts';
import { type AddressRange, addressRanges, compareAddress } from './ip.ts';
import { costs, eitherMarked, type Marked, markedIn, type Term } from './term.ts';

/** One of the columns, of which there are one or two, has an address in one of the ranges. */
export function addressTerm(names: readonly ColumnName[], values: readonly string[], field: string): Term {
  const ranges = apart(
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
      // Rows with both ends in it were counted twice: of one address they are those to itself, of more nobody knows.
      return sum === undefined || twice === undefined ? undefined : sum - twice;
    },
  };
}

/** Entries of a column in the ranges. */
interface Found extends Marked {
  readonly name: ColumnName;
  /** Rows that have one of them, where the block tells. */
  readonly rows: number | undefined;
  /** Of one entry: rows both of whose ends it is, where the column tells. */
  readonly toItself: number | undefined;
}

/** Undefined where there are none. */
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

/** The same addresses as ranges of which no two have one in common, ascending. */
function apart(ranges: readonly AddressRange[]): readonly AddressRange[] {
  const found: AddressRange[] = [];
  for (const range of [...ranges].sort((a, b) => compareAddress(a.first, 0, b.first, 0))) {
    const before = found.at(-1);
    if (before === undefined || compareAddress(before.last, 0, range.first, 0) < 0) found.push(range);
    else if (compareAddress(before.last, 0, range.last, 0) < 0)
      found[found.length - 1] = { first: before.first, last: range.last };
  }
  return found;
}

/** Whether an address of the range, whose ends are included, lies between the first and the last entry. */
function reaches(bounds: AddressList, first: Uint8Array, last: Uint8Array): boolean {
  return bounds.firstNotBelow(first) < bounds.length && bounds.firstAbove(last) > 0;
}

/** Whether the address lies between the first and the last entry, both included. */
export function covers(bounds: AddressList, address: Uint8Array): boolean {
  return reaches(bounds, address, address);
}

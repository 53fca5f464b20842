import { type AddressRange, addressRanges, compareAddress, parseAddress } from '../../events/ip.ts';
import { refuse, shown } from './fault.ts';

/**
 * Whether an address is of one of the blocks, whatever way it is written; `::ffff:10.0.0.1` is 10.0.0.1. Takes as many
 * steps as the number of blocks has bits.
 *
 * @throws SigmaFault for what is neither an address nor a block
 */
export function blocksMatcher(blocks: readonly string[]): (text: string) => boolean {
  const ranges = disjoint(
    blocks.flatMap(
      (block) => addressRanges(block.trim()) ?? refuse(`has ${shown(block)}, which is no block of addresses`),
    ),
  );
  return (text) => {
    if (text !== parsed) {
      parsed = text;
      isAddress = parseAddress(text, address);
    }
    return isAddress && includesAddress(ranges);
  };
}

/** The same addresses in ascending ranges that have none in common. */
function disjoint(ranges: readonly AddressRange[]): readonly AddressRange[] {
  const found: AddressRange[] = [];
  for (const range of ranges.toSorted((a, b) => compareAddress(a.first, 0, b.first, 0))) {
    const before = found.at(-1);
    if (before === undefined || compareAddress(before.last, 0, range.first, 0) < 0) found.push(range);
    else if (compareAddress(before.last, 0, range.last, 0) < 0)
      found[found.length - 1] = { first: before.first, last: range.last };
  }
  return found;
}

/** The text that was parsed last: rules with blocks ask about the same address one after the other. */
let parsed = '';
let isAddress = false;
const address = new Uint8Array(16);

/** Halves the ranges until the one is left that the address would be in. */
function includesAddress(ranges: readonly AddressRange[]): boolean {
  let from = 0;
  let to = ranges.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    const { first, last } = ranges[middle]!;
    if (compareAddress(address, 0, first, 0) < 0) to = middle;
    else if (compareAddress(address, 0, last, 0) > 0) from = middle + 1;
    else return true;
  }
  return false;
}

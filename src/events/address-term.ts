import { invalidField } from '../errors.ts';
import type { EventBlock } from './block.ts';
import { encodings } from './block-format.ts';
import type { AddressList } from './column-readers.ts';
import type { ColumnName } from './columns.ts';
import { type AddressRange, addressRanges, compareAddress, ipv4Of } from './ip.ts';
import { costs, either, entriesIn, type Prepared, type Term } from './term.ts';

/** One of the columns has an address in one of the ranges. */
export function addressTerm(names: readonly ColumnName[], values: readonly string[], field: string): Term {
  const ranges = values.flatMap((value) => {
    const found = addressRanges(value);
    if (found === undefined) throw invalidField(field, 'must be an IPv4 or IPv6 address or CIDR block');
    return found;
  });
  return {
    cost: costs.address,
    prepare: (block) => names.map((name) => inRanges(block, name, ranges)).reduce(either),
  };
}

function inRanges(block: EventBlock, name: ColumnName, ranges: readonly AddressRange[]): Prepared {
  const bounds = block.addressBounds(name);
  if (bounds.length === 0) return false;
  const near = ranges.filter(
    ({ first, last }) => firstNotBelow(bounds, first) < bounds.length && firstAbove(bounds, last) > 0,
  );
  if (near.length === 0) return false;
  const column = block.addresses(name);
  const member = new Uint8Array(column.list.length + 1);
  let marked = 0;
  for (const { first, last } of near) {
    const start = firstNotBelow(column.list, first);
    const end = firstAbove(column.list, last);
    for (let i = start; i < end; i++) {
      marked += 1 - member[i + 1]!;
      member[i + 1] = 1;
    }
  }
  if (marked === column.list.length && column.encoding !== encodings.dictionary) return true;
  return entriesIn(column, member, marked);
}

/** Whether the address lies between the first and the last entry, both included. */
export function covers(list: AddressList, address: Uint8Array): boolean {
  return firstNotBelow(list, address) < list.length && firstAbove(list, address) > 0;
}

/** Place of the address in the list, or -1. */
export function placeOf(list: AddressList, address: Uint8Array): number {
  const place = firstNotBelow(list, address);
  return place < list.length && compareEntry(list, place, address) === 0 ? place : -1;
}

/** Place of the first entry that is not below the address. */
function firstNotBelow(list: AddressList, address: Uint8Array): number {
  return partition(list, (index) => compareEntry(list, index, address) < 0);
}

/** Place of the first entry above the address. */
function firstAbove(list: AddressList, address: Uint8Array): number {
  return partition(list, (index) => compareEntry(list, index, address) <= 0);
}

function partition(list: AddressList, before: (index: number) => boolean): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (before(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

const mapped = new Uint8Array(16);

function compareEntry(list: AddressList, index: number, address: Uint8Array): number {
  if (list.v4 === undefined) return compareAddress(list.bytes, 16 * index, address, 0);
  const other = ipv4Of(address);
  if (other >= 0) return list.v4[index]! - other;
  list.write(index, mapped, 0);
  return compareAddress(mapped, 0, address, 0);
}

import { nothing, putAt } from './put-at.ts';

/**
 * A set of ports, exact: a sorted list while it is short, then a map of 65,536 bits. Plain data; what it holds depends
 * on the set alone. At most 8 kB.
 */
export interface PortSet {
  size: number;
  /** Ascending, while there are no `bits`. */
  list: number[];
  bits: Uint32Array | undefined;
}

/** A list of so many weighs half of the bits, and putting one more in still costs less than a key's lookup. */
const maxListed = 512;

export const noPorts = (): PortSet => ({ size: 0, list: nothing, bits: undefined });

/** Bytes, as good as. */
export const portsWeight = ({ list, bits }: PortSet): number =>
  120 + list.length * 12 + (bits === undefined ? 0 : bits.byteLength);

export function addPort(set: PortSet, port: number): void {
  const { list, bits } = set;
  if (bits !== undefined) {
    if ((bits[port >> 5]! & (1 << (port & 31))) !== 0) return;
    bits[port >> 5]! |= 1 << (port & 31);
    set.size++;
    return;
  }
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle]! < port) low = middle + 1;
    else high = middle;
  }
  if (list[low] === port) return;
  set.list = putAt(list, low, port);
  set.size++;
  if (set.size > maxListed) toBits(set);
}

export function mergePorts(into: PortSet, from: PortSet): void {
  if (from.size === 0) return;
  if (into.bits === undefined && from.bits === undefined) {
    into.list = united(into.list, from.list);
    into.size = into.list.length;
    if (into.size > maxListed) toBits(into);
    return;
  }
  if (into.bits === undefined) toBits(into);
  for (const port of lowestPorts(from, 65_536)) addPort(into, port);
}

/** The lowest, ascending, up to so many. */
export function lowestPorts({ list, bits }: PortSet, most: number): number[] {
  if (bits === undefined) return list.slice(0, most);
  const ports: number[] = [];
  for (const [word, set] of bits.entries())
    for (let rest = set; rest !== 0 && ports.length < most; rest &= rest - 1)
      ports.push(word * 32 + 31 - Math.clz32(rest & -rest));
  return ports;
}

function toBits(set: PortSet): void {
  const bits = new Uint32Array(2048);
  for (const port of set.list) bits[port >> 5]! |= 1 << (port & 31);
  set.bits = bits;
  set.list = [];
}

/** Both ascending, without repeats; so is what they make. */
function united(one: readonly number[], other: readonly number[]): number[] {
  const both: number[] = [];
  let i = 0;
  let j = 0;
  while (i < one.length || j < other.length) {
    const next = Math.min(one[i] ?? Number.POSITIVE_INFINITY, other[j] ?? Number.POSITIVE_INFINITY);
    if (one[i] === next) i++;
    if (other[j] === next) j++;
    both.push(next);
  }
  return both;
}

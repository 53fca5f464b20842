import { nothing, putAt } from './put-at.ts';

/**
 * An exact set of ports: a sorted list of up to `maxListed` ports, then a bitmap of 65,536 bits. Plain data of at most
 * 8 kB; the content depends only on the set.
 */
export interface PortSet {
  size: number;
  /** The ports, ascending; empty once `bits` is used. */
  list: number[];
  bits: Uint32Array | undefined;
}

/**
 * Maximum length of the list. A list of this length takes half the memory of the bitmap, and inserting into
 * it still costs less than looking up a key.
 */
const maxListed = 512;

export const noPorts = (): PortSet => ({ size: 0, list: nothing, bits: undefined });

/** Returns the approximate size in bytes. */
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

/** Returns the lowest `most` ports, ascending. */
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

/** Merges two ascending lists without duplicates into one. */
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

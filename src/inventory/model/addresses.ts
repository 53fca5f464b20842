import type { AddressList } from '../../events/format/column-readers.ts';
import { isOneHost, isOneHostIpv4, addressWord as word } from '../../net/ip.ts';
import { finish, step } from '../../sketch/hash.ts';

/**
 * Returns a 32-bit hash of an address, the same in every block and process, because stored client counts
 * consist of these hashes.
 */
export function addressHash(list: AddressList, index: number): number {
  if (list.v4 !== undefined) return hashOf(0, 0, 0xffff, list.v4[index]!);
  const { bytes } = list;
  const at = 16 * index;
  return hashOf(word(bytes, at), word(bytes, at + 4), word(bytes, at + 8), word(bytes, at + 12));
}

/**
 * Returns whether an address can belong to a single host: not multicast, broadcast or unspecified. Loopback
 * addresses are accepted, in case they are configured as home.
 */
export function isHostAddress(list: AddressList, index: number): boolean {
  return kindAt(list, index) < kinds.several;
}

/**
 * Returns whether an address is used beyond its link. Frames from such an address may have the link-layer
 * address of a gateway.
 */
export function isRoutedAddress(list: AddressList, index: number): boolean {
  return kindAt(list, index) === kinds.routed;
}

const kinds = { routed: 0, link: 1, several: 2 } as const;

function kindAt(list: AddressList, index: number): number {
  if (list.v4 !== undefined) return kindOfIpv4(list.v4[index]!);
  const { bytes } = list;
  const at = 16 * index;
  const [a, b, c, d] = [word(bytes, at), word(bytes, at + 4), word(bytes, at + 8), word(bytes, at + 12)];
  if (a === 0 && b === 0 && c === 0xffff) return kindOfIpv4(d);
  if (!isOneHost(a, b, c, d)) return kinds.several;
  // fe80::/10 and ::1
  if (a >>> 22 === 0xfe80 >>> 6 || (a === 0 && b === 0 && c === 0 && d === 1)) return kinds.link;
  return kinds.routed;
}

function kindOfIpv4(value: number): number {
  if (!isOneHostIpv4(value)) return kinds.several;
  // 127.0.0.0/8, 169.254.0.0/16
  if (value >>> 24 === 127 || value >>> 16 === 0xa9fe) return kinds.link;
  return kinds.routed;
}

/** Hashes 128 bits with the mixing steps of MurmurHash3 (x86, 32 bits). */
function hashOf(a: number, b: number, c: number, d: number): number {
  return finish(step(step(step(step(0, a), b), c), d));
}

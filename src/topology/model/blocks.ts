import type { AddressList } from '../../events/format/column-readers.ts';
import { addressBytes, addressWord } from '../../net/ip.ts';
import type { Blocks, Nodes } from './nodes.ts';

/**
 * The network block that represents an address in the graph.
 *
 * | address                        | IPv4              | IPv6      |
 * |--------------------------------|-------------------|-----------|
 * | `host`: a home host            | /32               | /128      |
 * | `site`: a home network         | /24               | /64       |
 * | `outside`                      | /24               | /48       |
 * | multicast                      | 224.0.0.0/4       | ff00::/8  |
 * | broadcast                      | 255.255.255.255   |           |
 */
export const roles = { host: 0, site: 1, outside: 2 } as const;
export type Role = (typeof roles)[keyof typeof roles];

const mapped = 0xffff;

/** Returns the node of an IPv4 address. */
function ipv4Node(nodes: Nodes, value: number, role: Role): number {
  if (value >>> 28 === 14) return nodes.add(0, 0, mapped, 0xe0000000, 100, 0);
  if (value === 0xffffffff) return nodes.add(0, 0, mapped, value, 128, 0);
  if (role === roles.host) return nodes.add(0, 0, mapped, value, 128, 1);
  return nodes.add(0, 0, mapped, (value & 0xffffff00) >>> 0, 120, role === roles.site ? 1 : 0);
}

/** Returns the node of an address in a list. */
export function addressNode(nodes: Nodes, list: AddressList, index: number, role: Role): number {
  if (list.v4 !== undefined) return ipv4Node(nodes, list.v4[index]!, role);
  const word = (place: number): number => addressWord(list.bytes, 16 * index + 4 * place);
  const w0 = word(0);
  const w1 = word(1);
  const w2 = word(2);
  const w3 = word(3);
  if (w0 === 0 && w1 === 0 && w2 === mapped) return ipv4Node(nodes, w3, role);
  if (w0 >>> 24 === 0xff) return nodes.add(0xff000000, 0, 0, 0, 8, 0);
  if (role === roles.host) return nodes.add(w0, w1, w2, w3, 128, 1);
  if (role === roles.site) return nodes.add(w0, w1, 0, 0, 64, 1);
  return nodes.add(w0, (w1 & 0xffff0000) >>> 0, 0, 0, 48, 0);
}

/** Returns the node of one host, by its address as text; undefined if the text is not an address. */
export function hostNode(nodes: Nodes, address: string): number | undefined {
  const bytes = addressBytes(address);
  if (bytes === undefined) return undefined;
  const words = new DataView(bytes.buffer);
  const word = (place: number) => words.getUint32(4 * place);
  return nodes.add(word(0), word(1), word(2), word(3), 128, 1);
}

/** Returns the node in a graph of subnets: the network of a host, and other blocks unchanged. */
export function subnetOf(nodes: Nodes, from: Blocks, node: number): number {
  const v4 = from.w2[node] === mapped && from.w1[node] === 0 && from.w0[node] === 0;
  const w3 = from.w3[node]!;
  if (from.prefix[node] !== 128 || (v4 && w3 === 0xffffffff)) return nodes.copy(from, node);
  return v4
    ? nodes.add(0, 0, mapped, (w3 & 0xffffff00) >>> 0, 120, from.home[node]!)
    : nodes.add(from.w0[node]!, from.w1[node]!, 0, 0, 64, from.home[node]!);
}

/**
 * Returns the replacement for a block when the graph is full: the network of a home block, and a single block
 * for all outside addresses.
 */
export function collapsed(nodes: Nodes, from: Blocks, node: number): number {
  return from.home[node] === 1 ? subnetOf(nodes, from, node) : everything(nodes, from, node);
}

/** Returns `0.0.0.0/0` or `::/0`. */
export function everything(nodes: Nodes, from: Blocks, node: number): number {
  const v4 = from.w2[node] === mapped && from.w1[node] === 0 && from.w0[node] === 0;
  return v4 ? nodes.add(0, 0, mapped, 0, 96, 0) : nodes.add(0, 0, 0, 0, 0, 0);
}

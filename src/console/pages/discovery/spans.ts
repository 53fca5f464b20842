import { formats } from '../../../contract/formats.ts';
import { addressRanges } from '../../../net/ip.ts';

/** Addresses from `first` to `last`, both included; an IPv4 address is represented as its IPv4-mapped address. */
interface Span {
  readonly first: bigint;
  readonly last: bigint;
}

/**
 * Counts the addresses that a scan would visit, like the service: each address once, without the network and broadcast
 * addresses of IPv4 blocks (except in a /31, RFC 3021). Invalid targets count as 0.
 */
export function countHosts(targets: readonly string[]): number {
  const spans = targets.flatMap(spansOf).sort((a, b) => (a.first < b.first ? -1 : 1));
  let count = 0n;
  let end = -1n;
  for (const { first, last } of spans) {
    const from = first > end ? first : end + 1n;
    if (last < from) continue;
    count += last - from + 1n;
    end = last;
  }
  return count > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(count);
}

function spansOf(text: string): Span[] {
  if (!formats.network.test(text)) return [];
  const isDotted = !text.includes(':');
  return (addressRanges(text) ?? []).map((range) => {
    const [first, last] = [numberOf(range.first), numberOf(range.last)];
    return isDotted && last - first > 1n ? { first: first + 1n, last: last - 1n } : { first, last };
  });
}

const numberOf = (address: Uint8Array): bigint => address.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);

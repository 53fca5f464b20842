import { formats } from '../../../contract/formats.ts';

/** Addresses from `first` to `last`, both included; an IPv4 address is its IPv4-mapped one. */
interface Span {
  readonly first: bigint;
  readonly last: bigint;
}

const mapped = 0xffffn << 32n;

/**
 * How many addresses a scan of these would visit, as the service counts: each once, and of a block of IPv4 neither its
 * network nor its broadcast address (those of a /31 both, RFC 3021). What is no address or block counts nothing.
 */
export function countHosts(targets: readonly string[]): number {
  const spans = targets
    .flatMap((target) => spanOf(target) ?? [])
    .sort((a, b) => (a.first < b.first ? -1 : 1));
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

function spanOf(text: string): Span | undefined {
  if (!formats.network.test(text)) return undefined;
  const [address = '', length] = text.split('/');
  const isDotted = !address.includes(':');
  const at = isDotted ? mapped | ipv4(address) : ipv6(address);
  if (length === undefined) return { first: at, last: at };
  const free = BigInt((isDotted ? 32 : 128) - Number(length));
  const first = (at >> free) << free;
  const last = first + (1n << free) - 1n;
  return isDotted && free > 1n ? { first: first + 1n, last: last - 1n } : { first, last };
}

const ipv4 = (text: string): bigint => text.split('.').reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);

/** RFC 4291, section 2.2; checked before. */
function ipv6(text: string): bigint {
  const groups = (half: string): bigint[] =>
    half === ''
      ? []
      : half.split(':').flatMap((part) => {
          if (!part.includes('.')) return [BigInt(`0x${part}`)];
          const dotted = ipv4(part);
          return [dotted >> 16n, dotted & 0xffffn];
        });
  const [head = '', tail] = text.split('::');
  const [before, after] = [groups(head), groups(tail ?? '')];
  const zeros = tail === undefined ? [] : Array<bigint>(8 - before.length - after.length).fill(0n);
  return [...before, ...zeros, ...after].reduce((sum, group) => (sum << 16n) | group, 0n);
}

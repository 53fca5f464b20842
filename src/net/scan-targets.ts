import { invalidField } from '../errors.ts';
import { type LimitName, limits } from '../limits.ts';
import { addressRanges, printAddress } from './ip.ts';

/**
 * Addresses from `first` to `last`, inclusive, as 128-bit numbers. IPv4 addresses are in IPv4-mapped form, so
 * that `127.0.0.1` and `::ffff:127.0.0.1` are equal.
 */
export interface Span {
  readonly first: bigint;
  readonly last: bigint;
}

/**
 * Parses targets to ordered, disjoint spans. The network and broadcast addresses of an IPv4 block are left
 * out, except in a /31 (RFC 3021), or if these addresses are listed individually.
 *
 * @param allowed - `discovery.allowed_networks`
 * @throws INVALID_REQUEST naming `targets.n`: invalid address, outside the allowed networks, not a unicast
 * address, or too many addresses
 */
export function parseTargets(
  targets: readonly string[],
  allowed: readonly string[],
  limitReached: (limit: LimitName) => void = () => undefined,
): Span[] {
  const networks = merged(allowed.flatMap((network) => spansOf(network) ?? []));
  let spans: Span[] = [];
  for (const [n, text] of targets.entries()) {
    const field = `targets.${n}`;
    const given = spansOf(text);
    if (given === undefined) throw invalidField(field, whyMalformed(text));
    if (!given.every((span) => isWithin(span, networks)))
      throw invalidField(field, 'is outside discovery.allowed_networks');
    const hosts = text.includes('/') ? given.flatMap(hostsOf) : given;
    if (hosts.some((span) => noHosts.some((block) => overlap(span, block))))
      throw invalidField(field, 'includes multicast, broadcast, unspecified or link-local addresses');
    spans = merged([...spans, ...hosts]);
    if (countHosts(spans) > limits.maxScanHosts) {
      limitReached('maxScanHosts');
      throw invalidField(field, `brings the total to more than ${limits.maxScanHosts} addresses`);
    }
  }
  return spans;
}

/** Counts the addresses, up to Number.MAX_SAFE_INTEGER. */
export function countHosts(spans: readonly Span[]): number {
  const count = spans.reduce((sum, { first, last }) => sum + last - first + 1n, 0n);
  return Number(count < BigInt(Number.MAX_SAFE_INTEGER) ? count : Number.MAX_SAFE_INTEGER);
}

/** Yields every address of the spans as text, in order. */
export function* addressesOf(spans: readonly Span[]): Generator<string> {
  for (const { first, last } of spans) for (let address = first; address <= last; address++) yield textOf(address);
}

function spansOf(text: string): Span[] | undefined {
  return addressRanges(text)?.map(({ first, last }) => ({ first: numberOf(first), last: numberOf(last) }));
}

/** Returns the reason for an invalid target. */
function whyMalformed(text: string): string {
  if (text.includes('%')) return 'has a zone identifier: addresses with zones cannot be scanned';
  return 'must be an IPv4 or IPv6 address or a CIDR block';
}

function merged(spans: readonly Span[]): Span[] {
  const sorted = [...spans].sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
  const all: { first: bigint; last: bigint }[] = [];
  for (const { first, last } of sorted) {
    const before = all.at(-1);
    if (before === undefined || first > before.last + 1n) all.push({ first, last });
    else if (last > before.last) before.last = last;
  }
  return all;
}

/** Returns whether a span lies within one of `spans`, which must be merged. */
function isWithin({ first, last }: Span, spans: readonly Span[]): boolean {
  return spans.some((span) => span.first <= first && last <= span.last);
}

function overlap(a: Span, b: Span): boolean {
  return a.first <= b.last && b.first <= a.last;
}

/** Removes the network and broadcast addresses of an IPv4 block. */
function hostsOf(span: Span): Span[] {
  const { first, last } = span;
  if (!isWithin(span, ipv4) || last - first < 2n) return [span];
  return [{ first: first + 1n, last: last - 1n }];
}

function numberOf(bytes: Uint8Array): bigint {
  return bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}

function textOf(address: bigint): string {
  return printAddress(Uint8Array.from({ length: 16 }, (_, i) => Number((address >> BigInt(8 * (15 - i))) & 0xffn)));
}

function block(text: string): Span {
  const [span] = spansOf(text) ?? [];
  if (span === undefined) throw new Error(`${text} is not a valid block`);
  return span;
}

const ipv4 = [block('0.0.0.0/0')];
/** Addresses that are not unicast, or not reachable without a zone (RFC 6890, RFC 4291). */
const noHosts = ['0.0.0.0/8', '224.0.0.0/4', '255.255.255.255', '::', 'fe80::/10', 'ff00::/8'].map(block);

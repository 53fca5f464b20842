import { limits } from '../../limits.ts';
import type { HostSeen } from './seen.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * The time spans in which addresses of a block's list were seen, and their MAC addresses, in the order of rows.
 * A new span begins when the MAC address changes, so an address that moves to another machine and back has
 * three spans. Rows without a MAC address have separate spans.
 *
 * ```
 *   rows     A   A   -   B   B   -   -   A
 *   spans    A───A       B───B           A
 *                    -           -───-
 * ```
 *
 * Addresses and MAC addresses are codes of the block, 0 for no MAC address. There are no more spans than
 * rows.
 */
export class HostSpans {
  /** IP address by span; spans are numbered from 1. */
  readonly ip: number[] = [0];
  /** MAC address by span; 0 for none. */
  readonly mac: number[] = [0];
  readonly first: number[] = [0];
  readonly last: number[] = [0];
  /** Latest start of a row by span. */
  readonly began: number[] = [0];
  /** Current span with a MAC address by IP address; 0 before the first span. */
  #named = new Int32Array(0);
  /** Current span without a MAC address by IP address; 0 before the first span. */
  #unnamed = new Int32Array(0);

  get length(): number {
    return this.ip.length;
  }

  /** Prepares for the rows of a block whose list has `addresses` addresses. */
  begin(addresses: number): void {
    for (const array of [this.ip, this.mac, this.first, this.last, this.began]) array.length = 1;
    if (this.#named.length < addresses) {
      this.#named = new Int32Array(2 * addresses);
      this.#unnamed = new Int32Array(2 * addresses);
    } else {
      this.#named.fill(0, 0, addresses);
      this.#unnamed.fill(0, 0, addresses);
    }
  }

  /** Adds a row that shows the address from `first` to `last`. */
  at(ip: number, mac: number, first: number, last: number): void {
    const span = mac === 0 ? this.#unnamed[ip]! : this.#named[ip]!;
    if (span === 0 || this.mac[span] !== mac) {
      if (mac === 0) this.#unnamed[ip] = this.ip.length;
      else {
        if (span !== 0) this.#unnamed[ip] = 0;
        this.#named[ip] = this.ip.length;
      }
      this.ip.push(ip);
      this.mac.push(mac);
      this.first.push(first);
      this.last.push(last);
      this.began.push(first);
      return;
    }
    if (first > this.began[span]!) this.began[span] = first;
    if (first < this.first[span]!) this.first[span] = first;
    if (last > this.last[span]!) this.last[span] = last;
  }
}

/**
 * Returns the spans of one address in order of their starts, regardless of the order in which they were collected. If
 * another MAC address appears before a span has ended, the span is replaced with two moments, its start and its end,
 * because the address may have had another owner in between. If more than limits.maxSpansPerAddress spans remain, all
 * spans of each MAC address are merged, and returned in order of their ends.
 */
export function inOrder(spans: readonly HostSeen[]): {
  readonly spans: readonly HostSeen[];
  readonly united: boolean;
} {
  if (spans.length === 1) return { spans, united: false };
  const byMac = Map.groupBy(spans, ({ mac }) => mac);
  const unnamed = byMac.get(undefined) ?? [];
  if (byMac.size - Number(unnamed.length > 0) <= 1)
    return { spans: [...byMac.values()].map(spanOf).sort(byFirst), united: false };
  const found = cut(spans.filter(({ mac }) => mac !== undefined));
  if (found.length > limits.maxSpansPerAddress)
    return { spans: [...byMac.values()].map(spanOf).sort((a, b) => a.last - b.last), united: true };
  for (const span of unnamed) {
    const { first, last } = span;
    if (found.some((each) => first < each.first && each.first <= last))
      found.push({ ...span, last: first }, { ...span, first: last });
    else found.push(span);
  }
  return { spans: found.sort(byFirst), united: false };
}

/** Returns spans that do not overlap. Neighbouring spans have different MAC addresses. */
function cut(spans: readonly HostSeen[]): HostSeen[] {
  const found: Mutable<HostSeen>[] = [];
  // The ends of spans that were cut.
  const ends: HostSeen[] = [];
  const take = (next: HostSeen) => {
    const before = found.at(-1);
    if (before !== undefined && before.mac === next.mac) {
      before.last = Math.max(before.last, next.last);
      before.began = latest(before.began, next.began);
      return;
    }
    if (before !== undefined && before.last > next.first) {
      ends.push({ ...before, first: before.last, began: undefined });
      before.last = before.first;
      before.began = before.first;
    }
    found.push({ ...next });
  };
  const takeEnds = (before: number) => {
    while (true) {
      const end = ends.reduce<HostSeen | undefined>(
        (a, b) => (a !== undefined && a.first <= b.first ? a : b),
        undefined,
      );
      if (end === undefined || end.first >= before) return;
      ends.splice(ends.indexOf(end), 1);
      take(end);
    }
  };
  for (const next of spans.toSorted(byFirst)) {
    takeEnds(next.first);
    take(next);
  }
  takeEnds(Number.POSITIVE_INFINITY);
  return found;
}

const latest = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);

const byFirst = (a: HostSeen, b: HostSeen): number => a.first - b.first || a.last - b.last;

/** Merges spans, which must have the same MAC address. */
const spanOf = (spans: readonly HostSeen[]): HostSeen =>
  spans.length === 1
    ? spans[0]!
    : {
        ...spans[0]!,
        first: spans.reduce((least, { first }) => Math.min(least, first), Number.POSITIVE_INFINITY),
        last: spans.reduce((most, { last }) => Math.max(most, last), 0),
        began: spans.reduce<number | undefined>((most, { began }) => latest(most, began), undefined),
      };

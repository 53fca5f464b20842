import { linkBytes } from '../../../events/plausible-bytes.ts';
import type { StoredEventRef } from '../detector.ts';
import { ascending } from './order-statistics.ts';
import { inOrder, valueAt, type Window } from './windows.ts';

export const hourMs = 3_600_000;
const mostInHour = linkBytes(hourMs);
const hourS = 3600;

/** Connections of one pair in one hour. */
export interface Hour {
  count: number;
  /**
   * Earliest connections of the hour, ascending. Each is the second of the hour × 2^40 + the IP bytes sent by
   * the originator.
   */
  kept: number[];
  srcBytes: number;
  dstBytes: number;
  firstSeq: number;
  lastSeq: number;
  /** Time of the newest connection, epoch seconds. */
  newest: number;
  /** Time of the pair's newest connection at the last evaluation. Stored in the newest hour, and 0 in other hours. */
  judgedAt: number;
  judgedCount: number;
}

/** Exclusive upper limit of sizes, so that a size and a second of an hour fit in 52 bits. */
const sizes = 2 ** 40;

/** Packs the time and size of a connection. */
const packed = (second: number, bytes: number): number =>
  (second % hourS) * sizes + Math.max(0, Math.min(bytes, sizes - 1));

const nothing: number[] = [];

export const noConnections = (): Hour => ({
  count: 0,
  kept: nothing,
  srcBytes: 0,
  dstBytes: 0,
  firstSeq: Number.POSITIVE_INFINITY,
  lastSeq: Number.NEGATIVE_INFINITY,
  newest: 0,
  judgedAt: 0,
  judgedCount: 0,
});

export function addConnection(
  hour: Hour,
  second: number,
  srcBytes: number,
  dstBytes: number,
  seq: number,
  kept: number,
): void {
  hour.count++;
  keep(hour, packed(second, srcBytes), kept);
  hour.srcBytes += srcBytes;
  hour.dstBytes += dstBytes;
  if (seq < hour.firstSeq) hour.firstSeq = seq;
  if (seq > hour.lastSeq) hour.lastSeq = seq;
  if (second > hour.newest) hour.newest = second;
}

export function addHour(into: Hour, from: Hour, kept: number): void {
  into.count += from.count;
  for (const one of from.kept) keep(into, one, kept);
  into.srcBytes += from.srcBytes;
  into.dstBytes += from.dstBytes;
  into.firstSeq = Math.min(into.firstSeq, from.firstSeq);
  into.lastSeq = Math.max(into.lastSeq, from.lastSeq);
  into.newest = Math.max(into.newest, from.newest);
  into.judgedAt = Math.max(into.judgedAt, from.judgedAt);
  into.judgedCount = Math.max(into.judgedCount, from.judgedCount);
}

/**
 * Inserts a value into the ascending list and keeps the `atMost` lowest values. Nearly all values arrive in ascending
 * order, and most pairs have one connection.
 */
function keep(hour: Hour, value: number, atMost: number): void {
  const { kept } = hour;
  let at = kept.length;
  if (at === 0) {
    // A list created with its value takes 8 bytes; a list onto which a value is pushed takes 136 bytes.
    hour.kept = [value];
    return;
  }
  if (at >= atMost) {
    if (value >= kept[at - 1]!) return;
    kept.pop();
    at--;
  }
  while (at > 0 && kept[at - 1]! > value) at--;
  if (at === kept.length) kept.push(value);
  else kept.splice(at, 0, value);
}

/** A pair's connections from the oldest to the newest hour of its window. */
export interface Pair {
  readonly src: string;
  readonly dst: string;
  readonly port: number;
  readonly transport: string;
  readonly direction: 'outbound' | 'inbound' | 'external';
  /** Times of the connections, epoch seconds. */
  readonly times: readonly number[];
  readonly sizes: readonly number[];
  readonly first: number;
  readonly to: number;
  readonly count: number;
  /** Connections by hour, if only some of the times are stored. */
  readonly byHour: readonly number[] | undefined;
  readonly srcBytes: number;
  readonly dstBytes: number;
  readonly events: readonly StoredEventRef[];
}

/** Returns the times of the stored connections, epoch seconds, ascending. */
export function timesOf(window: Window<Hour>): number[] {
  const times: number[] = [];
  for (const { start, value } of inOrder(window))
    for (const one of value.kept) times.push(start / 1000 + Math.floor(one / sizes));
  return times;
}

/**
 * @param isOutbound - true if the source is a home host. Otherwise the last part of the window's key shows
 *   whether the target is a home host
 */
export function asPair(window: Window<Hour>, isOutbound: boolean): Pair {
  const { key, newest } = window;
  const [src = '', dst = '', port, transport = '', to] = key.split(' ');
  const times = timesOf(window);
  const bytes: number[] = [];
  const seqs = new Set<number>();
  const all = { count: 0, srcBytes: 0, dstBytes: 0, to: 0 };
  for (const { value: hour } of inOrder(window)) {
    for (const one of hour.kept) bytes.push(one % sizes);
    all.count += hour.count;
    all.srcBytes += Math.min(mostInHour, hour.srcBytes);
    all.dstBytes += Math.min(mostInHour, hour.dstBytes);
    all.to = Math.max(all.to, hour.newest);
    seqs.add(hour.firstSeq).add(hour.lastSeq);
  }
  const isCut = times.length < all.count;
  const lastDay = Array.from({ length: 24 }, (_, i) => valueAt(window, newest - (23 - i) * hourMs)?.count ?? 0);
  return {
    src,
    dst,
    port: Number(port),
    transport,
    direction: isOutbound ? 'outbound' : to === 'home' ? 'inbound' : 'external',
    times,
    sizes: bytes,
    first: times[0]!,
    ...all,
    byHour: isCut ? lastDay : undefined,
    events: someOf([...seqs].sort(ascending)).map((seq) => ({ table: 'network', seq })),
  };
}

/** Returns at most ten sequences, spread evenly from the first to the last. */
function someOf(seqs: readonly number[]): readonly number[] {
  if (seqs.length <= 10) return seqs;
  return Array.from({ length: 10 }, (_, i) => seqs[Math.round((i * (seqs.length - 1)) / 9)]!);
}

import type { Flow } from '../detector.ts';
import { keepEarliest } from './earliest.ts';
import { nothing } from './put-at.ts';
import { mergeSpans, type Span } from './span.ts';

/** Login attempts of one source at one service. Plain data, independent of the order in which connections are added. */
export interface Guessing extends Span {
  attempts: number;
  /** Attempts by size, see `sizeBin`. */
  readonly sizes: Map<number, number>;
  /** Total duration in milliseconds. */
  durations: number;
  /** The latest connection that is too long or too large to be an attempt. */
  session: Session | undefined;
}

export interface Session {
  readonly time: number;
  readonly seq: number;
  /** Bytes in both directions. */
  readonly bytes: number;
  /** Duration in milliseconds; NaN if unknown. */
  readonly duration: number;
}

/** Sizes within a factor of 2^(1/4), about a fifth, share a bin. */
const binsPerOctave = 4;

export const sizeBin = (bytes: number): number => Math.floor(Math.log2(bytes) * binsPerOctave);

export function noGuessing(): Guessing {
  return {
    attempts: 0,
    sizes: new Map(),
    durations: 0,
    first: Number.POSITIVE_INFINITY,
    last: Number.NEGATIVE_INFINITY,
    session: undefined,
    seqs: nothing,
  };
}

export function attemptsAt(guessing: Guessing, bin: number, { time, duration, seq }: Readonly<Flow>): void {
  guessing.attempts++;
  guessing.sizes.set(bin, (guessing.sizes.get(bin) ?? 0) + 1);
  // Durations are rounded to whole milliseconds, so that the sum does not depend on the order.
  if (duration >= 0) guessing.durations += Math.round(duration);
  if (time < guessing.first) guessing.first = time;
  if (time > guessing.last) guessing.last = time;
  guessing.seqs = keepEarliest(guessing.seqs, seq);
}

export function mergeGuessing(into: Guessing, from: Guessing): void {
  into.attempts += from.attempts;
  for (const [bin, count] of from.sizes) into.sizes.set(bin, (into.sizes.get(bin) ?? 0) + count);
  into.durations += from.durations;
  if (from.session !== undefined) into.session = laterSession(into.session, from.session);
  mergeSpans(into, from);
}

export function laterSession(one: Session | undefined, other: Session): Session {
  if (one === undefined || other.time > one.time) return other;
  return other.time === one.time && other.seq > one.seq ? other : one;
}

/** Returns the share of attempts in the most common bin and its two neighbours; 0 without attempts. */
export function similarShare({ attempts, sizes }: Guessing): number {
  let most = 0;
  for (const [bin, count] of sizes)
    most = Math.max(most, count + (sizes.get(bin - 1) ?? 0) + (sizes.get(bin + 1) ?? 0));
  return attempts === 0 ? 0 : most / attempts;
}

/** Returns the middle of the most common bin; 0 without attempts. */
export function typicalBytes({ sizes }: Guessing): number {
  let common = -1;
  let most = 0;
  for (const [bin, count] of sizes) {
    if (count < most || (count === most && bin > common)) continue;
    common = bin;
    most = count;
  }
  return most === 0 ? 0 : Math.round(2 ** ((common + 0.5) / binsPerOctave));
}

/** Returns true if a connection is too long or too large, compared with the attempts, to be an attempt. */
export function isFollowedBySession(
  guessing: Guessing,
  { bytes, duration }: Session,
  terms: {
    readonly sessionBytes: number;
    readonly sessionBytesRatio: number;
    readonly sessionMs: number;
    readonly sessionMsRatio: number;
  },
): boolean {
  const typical = typicalBytes(guessing);
  const typicalMs = guessing.durations / Math.max(guessing.attempts, 1);
  if (bytes >= terms.sessionBytes && bytes >= typical * terms.sessionBytesRatio) return true;
  const isLong = duration >= terms.sessionMs && duration >= typicalMs * terms.sessionMsRatio;
  return isLong && bytes >= 2 * typical;
}

import { mergeEarliest } from './earliest.ts';

/** The time span of some events, and the sequences of the earliest events. */
export interface Span {
  /** Time of the first event, epoch milliseconds; `Infinity` without events. */
  first: number;
  /** Time of the last event, epoch milliseconds; `-Infinity` without events. */
  last: number;
  seqs: number[];
}

export function mergeSpans(into: Span, from: Readonly<Span>): void {
  into.first = Math.min(into.first, from.first);
  into.last = Math.max(into.last, from.last);
  into.seqs = mergeEarliest(into.seqs, from.seqs);
}

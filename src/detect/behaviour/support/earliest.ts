import type { StoredEventRef } from '../detector.ts';
import { putAt } from './put-at.ts';

/**
 * Maximum events per value. Events with the lowest sequences are kept, so that order and grouping do not
 * matter.
 */
const maxKept = 10;

/** Adds a sequence to an ascending list and returns the `maxKept` lowest sequences. May return the given list. */
export function keepEarliest(seqs: number[], seq: number): number[] {
  if (seqs.length === maxKept && seq >= seqs[maxKept - 1]!) return seqs;
  let at = seqs.length;
  while (at > 0 && seqs[at - 1]! > seq) at--;
  if (at > 0 && seqs[at - 1] === seq) return seqs;
  const kept = putAt(seqs, at, seq);
  if (kept.length > maxKept) kept.pop();
  return kept;
}

export function mergeEarliest(into: number[], from: readonly number[]): number[] {
  let kept = into;
  for (const seq of from) kept = keepEarliest(kept, seq);
  return kept;
}

export const flowEvents = (seqs: readonly number[]): StoredEventRef[] => seqs.map((seq) => ({ table: 'network', seq }));

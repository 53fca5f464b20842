import type { EventRef } from './detector.ts';

/** Events kept of one value: those with the lowest sequences, so that order and grouping don't matter. */
const maxKept = 10;

export function keepEarliest(seqs: number[], seq: number): void {
  if (seqs.length === maxKept && seq >= seqs[maxKept - 1]!) return;
  const at = seqs.findLastIndex((one) => one <= seq);
  if (seqs[at] === seq) return;
  seqs.splice(at + 1, 0, seq);
  if (seqs.length > maxKept) seqs.pop();
}

export function mergeEarliest(into: number[], from: readonly number[]): void {
  for (const seq of from) keepEarliest(into, seq);
}

export const flowEvents = (seqs: readonly number[]): EventRef[] =>
  seqs.map((seq) => ({ table: 'network', seq }));

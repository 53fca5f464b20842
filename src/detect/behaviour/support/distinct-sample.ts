import { hashText } from './distinct-sketch.ts';
import { nothing, putAt } from './put-at.ts';

/**
 * Counts distinct texts by their smallest hashes (bottom-k; Bar-Yossef et al., "Counting distinct elements in a data
 * stream", 2002). The count is exact below `max`, and estimated above `max` with a standard error of 1 / sqrt(max - 2).
 * Plain data. The content depends only on the set of texts: order, repetition and grouping do not matter.
 */
export interface DistinctSample {
  /** The smallest hashes, ascending, 32 bits each. */
  hashes: number[];
  /** The texts of the smallest hashes, which are a random sample. */
  names: string[];
}

const maxNames = 10;

export const emptySample = (): DistinctSample => ({ hashes: nothing, names: nothing });

export function clearSample(sample: DistinctSample): void {
  sample.hashes = nothing;
  sample.names = nothing;
}

/** @param hash - `hashText` of the text, if already computed */
export function addToSample(to: DistinctSample, text: string, max: number, hash = hashText(text)): void {
  insert(to, hash, text, max);
}

export function mergeSamples(into: DistinctSample, from: DistinctSample, max: number): void {
  for (let i = 0; i < from.hashes.length; i++) insert(into, from.hashes[i]!, from.names[i], max);
}

export function countSample({ hashes }: DistinctSample, max: number): number {
  return hashes.length < max ? hashes.length : Math.round(((max - 1) * 2 ** 32) / (hashes[max - 1]! + 1));
}

function insert(to: DistinctSample, hash: number, text: string | undefined, max: number): void {
  const { hashes, names } = to;
  if (hashes.length === max && hash >= hashes[max - 1]!) return;
  let low = 0;
  let high = hashes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (hashes[middle]! < hash) low = middle + 1;
    else high = middle;
  }
  if (hashes[low] === hash) return;
  to.hashes = putAt(hashes, low, hash);
  if (to.hashes.length > max) to.hashes.pop();
  if (low >= maxNames || text === undefined) return;
  to.names = putAt(names, low, text);
  if (to.names.length > maxNames) to.names.pop();
}

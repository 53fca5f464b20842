import { hashText } from './distinct-names.ts';
import { nothing, putAt } from './put-at.ts';

/**
 * How many distinct texts, by the smallest hashes of them (bottom-k; Bar-Yossef et al., "Counting distinct elements in a
 * data stream", 2002): exact below `max`, estimated beyond with a standard error of 1 / sqrt(max - 2). Plain data; what it
 * holds depends on the set of texts alone, so that order, repetition and grouping don't matter.
 */
export interface Distinct {
  /** Ascending, 32 bits each. */
  hashes: number[];
  /** Texts of the first of them: a sample by chance. */
  names: string[];
}

const maxNames = 10;

export const noneDistinct = (): Distinct => ({ hashes: nothing, names: nothing });

/** @param hash - `hashText` of it, where somebody has it */
export function addDistinct(to: Distinct, text: string, max: number, hash = hashText(text)): void {
  insert(to, hash, text, max);
}

export function mergeDistinct(into: Distinct, from: Distinct, max: number): void {
  for (let i = 0; i < from.hashes.length; i++) insert(into, from.hashes[i]!, from.names[i], max);
}

export function countDistinct({ hashes }: Distinct, max: number): number {
  return hashes.length < max ? hashes.length : Math.round(((max - 1) * 2 ** 32) / (hashes[max - 1]! + 1));
}

function insert(to: Distinct, hash: number, text: string | undefined, max: number): void {
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

/**
 * How many distinct texts, by the smallest hashes of them (bottom-k; Bar-Yossef et al., "Counting distinct elements in a
 * data stream", 2002): exact below `max`, estimated beyond with a standard error of 1 / sqrt(max - 2). Plain data; what it
 * holds depends on the set of texts alone, so that order, repetition and grouping don't matter.
 */
export interface Distinct {
  /** Ascending, 32 bits each. */
  readonly hashes: number[];
  /** Texts of the first of them: a sample by chance. */
  readonly names: string[];
}

const maxNames = 10;

export const noneDistinct = (): Distinct => ({ hashes: [], names: [] });

export function addDistinct(to: Distinct, text: string, max: number): void {
  insert(to, hashText(text), text, max);
}

export function mergeDistinct(into: Distinct, from: Distinct, max: number): void {
  for (const [i, hash] of from.hashes.entries()) insert(into, hash, from.names[i], max);
}

export function countDistinct({ hashes }: Distinct, max: number): number {
  return hashes.length < max ? hashes.length : Math.round(((max - 1) * 2 ** 32) / (hashes[max - 1]! + 1));
}

function insert({ hashes, names }: Distinct, hash: number, text: string | undefined, max: number): void {
  if (hashes.length === max && hash >= hashes[max - 1]!) return;
  let low = 0;
  let high = hashes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (hashes[middle]! < hash) low = middle + 1;
    else high = middle;
  }
  if (hashes[low] === hash) return;
  hashes.splice(low, 0, hash);
  if (hashes.length > max) hashes.pop();
  if (low >= maxNames || text === undefined) return;
  names.splice(low, 0, text);
  if (names.length > maxNames) names.pop();
}

/** FNV-1a with the finish of MurmurHash3, which makes all bits depend on each other. */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

import { finish, fnv } from '../../sketch/hash.ts';

/**
 * How many distinct texts: a sketch of the smallest hashes (bottom-k; Bar-Yossef et al.: Counting Distinct Elements in a
 * Data Stream, 2002). It is exact below its limit k and estimates beyond, with a standard error of 1 / sqrt(k - 2): 3 %
 * for 1,024. A byte is kept with each hash, and the texts of the smallest ones, which are a sample of all by chance. Adding
 * and merging are unions: order and repetition change nothing.
 *
 *     hashes  ascending │ 3 │ 8 │ 21 │ 30 │ …  size of them in use
 *     marks             │ a │ b │ c  │ d  │ …  what the owner notes of each text
 *     texts             │ x │ y │              of the first few
 *
 * Plain data. The hashes are not keyed: who chooses texts can make the count of his own too large, or spend work on
 * texts that collide to make it smaller.
 */
export interface Distinct {
  hashes: Uint32Array;
  /** Empty while all are 0. */
  marks: Uint8Array;
  size: number;
  texts: string[];
}

export interface DistinctTerms {
  /** Hashes kept. */
  readonly max: number;
  /** Texts kept. */
  readonly texts: number;
}

const noHashes = new Uint32Array(0);
const noMarks = new Uint8Array(0);

/** Arrays are made when there is something to keep: each takes 250 bytes and 100 ns, and most keys come once. */
export const noneDistinct = (): Distinct => ({ hashes: noHashes, marks: noMarks, size: 0, texts: [] });

/** `mark` is 0 to 255 and the same whenever the text is added. */
export function addDistinct(
  to: Distinct,
  terms: DistinctTerms,
  hash: number,
  mark: number,
  text: string,
): void {
  insert(to, terms, hash, mark, text);
}

export function mergeDistinct(into: Distinct, terms: DistinctTerms, from: Distinct): void {
  if (into.size === 0 && from.size > 0) {
    // Most windows have one slot: its copy is their total, and growing arrays one by one would cost ten times that.
    into.hashes = from.hashes.slice();
    into.marks = from.marks.length === 0 ? noMarks : from.marks.slice();
    into.size = from.size;
    into.texts = from.texts.slice();
    return;
  }
  for (let i = 0; i < from.size; i++)
    if (!insert(into, terms, from.hashes[i]!, from.marks[i] ?? 0, from.texts[i])) return;
}

export function countDistinct({ hashes, size }: Distinct, { max }: DistinctTerms): number {
  return size < max ? size : Math.round(((max - 1) * 2 ** 32) / (hashes[size - 1]! + 1));
}

/** Calls for the mark of each hash that is kept. */
export function eachMark({ marks, size }: Distinct, visit: (mark: number) => void): void {
  for (let i = 0; i < size; i++) visit(marks[i] ?? 0);
}

/** Bytes that it takes, about. */
export function distinctBytes({ hashes, texts }: Distinct): number {
  let bytes = 450 + 5 * hashes.length;
  for (const text of texts) bytes += 24 + text.length;
  return bytes;
}

/** FNV-1a with the finish of MurmurHash3, whose bits all depend on each other; 1 ns a character. */
export const hashText = (text: string): number => finish(fnv(text));

/** Whether hashes as large as this one still have a place. */
function insert(
  to: Distinct,
  { max, texts }: DistinctTerms,
  hash: number,
  mark: number,
  text: string | undefined,
): boolean {
  if (to.size === max && hash > to.hashes[max - 1]!) return false;
  let low = 0;
  let high = to.size;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (to.hashes[middle]! < hash) low = middle + 1;
    else high = middle;
  }
  if (low < to.size && to.hashes[low] === hash) return true;
  if (to.size === to.hashes.length && to.size < max) grow(to, Math.min(max, Math.max(4, 2 * to.size)));
  if (mark !== 0 && to.marks.length === 0) to.marks = new Uint8Array(to.hashes.length);
  const kept = Math.min(to.size, max - 1);
  to.hashes.copyWithin(low + 1, low, kept);
  to.hashes[low] = hash;
  if (to.marks.length > 0) {
    to.marks.copyWithin(low + 1, low, kept);
    to.marks[low] = mark;
  }
  to.size = kept + 1;
  if (low < texts && text !== undefined) {
    to.texts.splice(low, 0, text);
    if (to.texts.length > texts) to.texts.pop();
  }
  return true;
}

function grow(to: Distinct, length: number): void {
  const hashes = new Uint32Array(length);
  hashes.set(to.hashes);
  to.hashes = hashes;
  if (to.marks.length === 0) return;
  const marks = new Uint8Array(length);
  marks.set(to.marks);
  to.marks = marks;
}

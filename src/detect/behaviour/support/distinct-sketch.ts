import { finish, fnv } from '../../../sketch/hash.ts';

/**
 * Counts distinct texts: a sketch of the smallest hashes (bottom-k; Bar-Yossef et al.: Counting Distinct Elements in a
 * Data Stream, 2002). The count is exact below the limit k. Above k, the count is estimated with a standard error of
 * 1 / sqrt(k - 2): 3 % for 1,024. A byte is stored with each hash, and the texts of the smallest hashes are stored as a
 * random sample. Adding and merging are unions: order and repetition do not matter.
 *
 *     hashes  ascending │ 3 │ 8 │ 21 │ 30 │ …  `size` of them in use
 *     marks             │ a │ b │ c  │ d  │ …  a value of the owner for each text
 *     texts             │ x │ y │              of the first few
 *
 * Plain data. The hashes are not keyed, so an attacker who chooses the texts can make the count of these texts too
 * large. To make the count too small, the attacker must find collisions.
 */
export interface DistinctSketch {
  hashes: Uint32Array;
  /** Marks of the hashes; empty while all marks are 0. */
  marks: Uint8Array;
  size: number;
  texts: string[];
}

export interface SketchSize {
  /** Maximum number of hashes. */
  readonly max: number;
  /** Maximum number of texts. */
  readonly texts: number;
}

const noHashes = new Uint32Array(0);
const noMarks = new Uint8Array(0);

/**
 * Arrays are created with the first value: each array takes 250 bytes and 100 ns, and most keys occur once.
 */
export const emptySketch = (): DistinctSketch => ({ hashes: noHashes, marks: noMarks, size: 0, texts: [] });

/** Adds a text. `mark` is 0 to 255, and must be the same each time the text is added. */
export function addToSketch(to: DistinctSketch, size: SketchSize, hash: number, mark: number, text: string): void {
  insert(to, size, hash, mark, text);
}

export function mergeSketches(into: DistinctSketch, size: SketchSize, from: DistinctSketch): void {
  if (into.size === 0 && from.size > 0) {
    // Most windows have one slot, so their total is a copy of that slot; growing the arrays gradually would
    // cost ten times as much.
    into.hashes = from.hashes.slice();
    into.marks = from.marks.length === 0 ? noMarks : from.marks.slice();
    into.size = from.size;
    into.texts = from.texts.slice();
    return;
  }
  for (let i = 0; i < from.size; i++)
    if (!insert(into, size, from.hashes[i]!, from.marks[i] ?? 0, from.texts[i])) return;
}

export function countSketch({ hashes, size }: DistinctSketch, { max }: SketchSize): number {
  return size < max ? size : Math.round(((max - 1) * 2 ** 32) / (hashes[size - 1]! + 1));
}

/** Calls `visit` with the mark of each stored hash. */
export function eachMark({ marks, size }: DistinctSketch, visit: (mark: number) => void): void {
  for (let i = 0; i < size; i++) visit(marks[i] ?? 0);
}

/** Returns the approximate size in bytes. */
export function sketchBytes({ hashes, texts }: DistinctSketch): number {
  let bytes = 450 + 5 * hashes.length;
  for (const text of texts) bytes += 24 + text.length;
  return bytes;
}

/** Hashes a text by FNV-1a with the finaliser of MurmurHash3, which mixes all bits; takes 1 ns per character. */
export const hashText = (text: string): number => finish(fnv(text));

/** Inserts a hash. Returns false if the hash is too large for the remaining room. */
function insert(
  to: DistinctSketch,
  { max, texts }: SketchSize,
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

function grow(to: DistinctSketch, length: number): void {
  const hashes = new Uint32Array(length);
  hashes.set(to.hashes);
  to.hashes = hashes;
  if (to.marks.length === 0) return;
  const marks = new Uint8Array(length);
  marks.set(to.marks);
  to.marks = marks;
}

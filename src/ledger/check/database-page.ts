/** The nodes of LMDB's pages: see database-file.ts for the format. Content of a page is checked before it is used. */

export const headerBytes = 24;
export const branchPage = 1;
export const leafPage = 2;
export const overflowPage = 4;
export const bigValue = 1;
export const tableValue = 2;
const nodeBytes = 8;
/** Maximum bytes of a value. Values of the ledger have at most 60,000. */
export const maxValueBytes = 2 ** 20;

/**
 * How LMDB orders the keys of a table: as bytes, or (MDB_INTEGERKEY, its list of free pages) as 64-bit
 * numbers, which are little-endian in the file.
 */
export type KeyOrder = 'bytes' | 'integers';
const integerBytes = 8;

export function compareKeys(order: KeyOrder, a: Buffer, b: Buffer): number {
  return order === 'bytes' ? Buffer.compare(a, b) : number64(a, 0) - number64(b, 0);
}

/**
 * Returns the last node whose key is not above `key`, or node 0 if all keys are above; undefined if the page has no
 * valid nodes. The first node of a branch is below every key.
 */
export function search(page: Buffer, key: Buffer, isLeaf: boolean, order: KeyOrder): number | undefined {
  const nodes = Math.min(page.readUInt16LE(20), page.length - headerBytes) >> 1;
  let low = 0;
  let high = nodes - 1;
  if (high < 0) return undefined;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    const node = nodeAt(page, middle, isLeaf);
    if (node === undefined) return undefined;
    if (compareKeys(order, page.subarray(node.key, node.value), key) <= 0) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * Returns why the nodes of a page are invalid: each must be within the page, and keys must ascend after `lastKey`.
 * Returns undefined if they are valid.
 */
export function nodesWrong(page: Buffer, isLeaf: boolean, order: KeyOrder, lastKey?: Buffer): string | undefined {
  const isBelow = order === 'bytes' ? isBelowAsBytes : isBelowAsInteger;
  const lower = page.readUInt16LE(20);
  const upper = page.readUInt16LE(22);
  if (lower % 2 !== 0 || lower > upper || upper > page.length - headerBytes) return 'its free space is invalid';
  const nodes = lower >> 1;
  if (nodes < (isLeaf ? 1 : 2)) return `it has ${nodes} nodes`;
  let lastPage = lastKey;
  let [last, lastEnd] = [0, lastKey?.length ?? -1];
  for (let i = 0; i < nodes; i++) {
    const key = keyStart(page, i, isLeaf);
    if (key < 0) return `node ${i} is invalid`;
    if (!isLeaf && i === 0) continue; // the key of a branch's first child is unused
    const end = key + number16(page, key - 2);
    if (order === 'integers' && end - key !== integerBytes) return `the key of node ${i} is not a 64-bit integer`;
    if (lastPage !== undefined && !isBelow(lastPage, last, lastEnd, page, key, end)) return 'its keys are out of order';
    lastPage = page;
    last = key;
    lastEnd = end;
  }
  return undefined;
}

/**
 * Returns whether one key sorts before another. Keys are short, and calling `Buffer.compare` would take 0.07 µs longer.
 */
function isBelowAsBytes(a: Buffer, aAt: number, aEnd: number, b: Buffer, bAt: number, bEnd: number): boolean {
  let i = aAt;
  let j = bAt;
  while (i < aEnd && j < bEnd && a[i] === b[j]) {
    i += 1;
    j += 1;
  }
  return j < bEnd && (i === aEnd || a[i]! < b[j]!);
}

function isBelowAsInteger(a: Buffer, aAt: number, _aEnd: number, b: Buffer, bAt: number): boolean {
  return number64(a, aAt) < number64(b, bAt);
}

/**
 * Returns the start of the key of node `i`; −1 if the node is not within the page or has unknown flags. Creates no
 * object, because it is called for every node.
 */
export function keyStart(page: Buffer, i: number, isLeaf: boolean): number {
  const key = number16(page, headerBytes + 2 * i) + headerBytes + nodeBytes;
  if (key > page.length) return -1;
  const value = key + number16(page, key - 2);
  if (value > page.length) return -1;
  if (!isLeaf) return key;
  const flags = number16(page, key - 4);
  if (flags > tableValue) return -1;
  return value + (flags === bigValue ? 24 : number32(page, key - nodeBytes)) > page.length ? -1 : key;
}

export interface Node {
  readonly flags: number;
  /** Start of the key. */
  readonly key: number;
  /** Start of the value, which is the end of the key. */
  readonly value: number;
  /** Size of the value. */
  readonly size: number;
}

/** Returns node `i` of a page; undefined if `keyStart` rejects it. */
export function nodeAt(page: Buffer, i: number, isLeaf: boolean): Node | undefined {
  const key = keyStart(page, i, isLeaf);
  if (key < 0) return undefined;
  const value = key + number16(page, key - 2);
  if (!isLeaf) return { flags: 0, key, value, size: 0 };
  return { flags: number16(page, key - 4), key, value, size: number32(page, key - nodeBytes) };
}

/** Returns the page that node `i` of a branch leads to. The node must have been checked. */
export function childOf(page: Buffer, i: number): number {
  return page.readUIntLE(number16(page, headerBytes + 2 * i) + headerBytes, 6);
}

// These functions read little-endian numbers within a page. The methods of Buffer are not inlined everywhere and take
// 0.15 µs more per leaf.

export function number16(bytes: Buffer, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8);
}

export function number32(bytes: Buffer, at: number): number {
  return (number16(bytes, at) | (number16(bytes, at + 2) << 16)) >>> 0;
}

export function number64(bytes: Buffer, at: number): number {
  return number32(bytes, at + 4) * 2 ** 32 + number32(bytes, at);
}

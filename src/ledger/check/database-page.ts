/** The nodes of LMDB's pages: see database-file.ts for the format. Nothing in a page is believed before it was checked. */

export const headerBytes = 24;
export const branchPage = 1;
export const leafPage = 2;
export const overflowPage = 4;
export const bigValue = 1;
export const tableValue = 2;
const nodeBytes = 8;
/** Values of the ledger are at most 60,000 bytes. */
export const maxValueBytes = 2 ** 20;

/** The last node whose key isn't above `key`; the first node of a branch is below every key. */
export function search(page: Buffer, key: Buffer, isLeaf: boolean): number | undefined {
  const nodes = Math.min(page.readUInt16LE(20), page.length - headerBytes) >> 1;
  let low = 0;
  let high = nodes - 1;
  if (high < 0) return undefined;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    const node = nodeAt(page, middle, isLeaf);
    if (node === undefined) return undefined;
    if (Buffer.compare(page.subarray(node.key, node.value), key) <= 0) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Why the nodes of a page make no sense: each must lie within, and keys must ascend, from `lastKey` on. */
export function nodesWrong(page: Buffer, isLeaf: boolean, lastKey?: Buffer): string | undefined {
  const lower = page.readUInt16LE(20);
  const upper = page.readUInt16LE(22);
  if (lower % 2 !== 0 || lower > upper || upper > page.length - headerBytes)
    return 'its free space makes no sense';
  const nodes = lower >> 1;
  if (nodes < (isLeaf ? 1 : 2)) return `it has ${nodes} nodes`;
  let lastPage = lastKey;
  let [last, lastEnd] = [0, lastKey?.length ?? -1];
  for (let i = 0; i < nodes; i++) {
    const key = keyStart(page, i, isLeaf);
    if (key < 0) return `node ${i} makes no sense`;
    if (!isLeaf && i === 0) continue; // the key of a branch's first child means nothing
    const end = key + page.readUInt16LE(key - 2);
    if (lastPage !== undefined && lastPage.compare(page, key, end, last, lastEnd) >= 0)
      return 'its keys are out of order';
    lastPage = page;
    last = key;
    lastEnd = end;
  }
  return undefined;
}

/** Where the key of node `i` begins; −1 when the node doesn't lie within the page. No object is made: it is asked of every node. */
export function keyStart(page: Buffer, i: number, isLeaf: boolean): number {
  const key = page.readUInt16LE(headerBytes + 2 * i) + headerBytes + nodeBytes;
  if (key > page.length) return -1;
  const value = key + page.readUInt16LE(key - 2);
  if (value > page.length) return -1;
  if (!isLeaf) return key;
  const flags = page.readUInt16LE(key - 4);
  if (flags > tableValue) return -1;
  return value + (flags === bigValue ? 24 : page.readUInt32LE(key - nodeBytes)) > page.length ? -1 : key;
}

export interface Node {
  readonly flags: number;
  /** Where the key begins, where it ends and the value begins, and the size of the value. */
  readonly key: number;
  readonly value: number;
  readonly size: number;
}

/** Node `i` of a page; undefined when it doesn't lie within. */
export function nodeAt(page: Buffer, i: number, isLeaf: boolean): Node | undefined {
  const at = page.readUInt16LE(headerBytes + 2 * i) + headerBytes;
  if (at + nodeBytes > page.length) return undefined;
  const key = at + nodeBytes;
  const value = key + page.readUInt16LE(at + 6);
  if (value > page.length) return undefined;
  if (!isLeaf) return { flags: 0, key, value, size: 0 };
  const flags = page.readUInt16LE(at + 4);
  const size = page.readUInt32LE(at);
  if (flags > tableValue) return undefined;
  return value + (flags === bigValue ? 24 : size) > page.length ? undefined : { flags, key, value, size };
}

/** The page that node `i` of a branch leads to. The node must have been checked. */
export function childOf(page: Buffer, i: number): number {
  return page.readUIntLE(page.readUInt16LE(headerBytes + 2 * i) + headerBytes, 6);
}

export function number64(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at + 4) * 2 ** 32 + bytes.readUInt32LE(at);
}

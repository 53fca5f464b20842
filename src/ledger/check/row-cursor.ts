import type { DatabaseFile, PageDamage, Table } from './database-file.ts';
import {
  bigValue,
  branchPage,
  childOf,
  compareKeys,
  type KeyOrder,
  keyStart,
  leafPage,
  maxValueBytes,
  nodeAt,
  nodesWrong,
  number16,
  number32,
  number64,
  search,
  tableValue,
} from './database-page.ts';
import { keyNumber } from './row-keys.ts';

/** Trees of this depth would hold more rows than the largest file has bytes. */
const maxDepth = 32;

interface Level {
  readonly page: Buffer;
  nodes: number;
  index: number;
}

/**
 * The rows of a table in the order of their keys. `next` steps; the views of `key` and `value` live until the step
 * after. What can't be followed is told to `onDamage`, and the rows behind it are passed over.
 */
export class RowCursor {
  readonly #file: DatabaseFile;
  readonly #table: Table;
  readonly #onDamage: (damage: PageDamage) => void;
  readonly #levels: Level[] = [];
  /** Keys of the leaf before last, and the branch key that parts it from this one. */
  #lastKey: Buffer | undefined;
  #separator: Buffer | undefined;
  #started = false;
  /** Where to begin, until that is reached. */
  #from: Buffer | undefined;
  readonly #before: Buffer | undefined;
  /** Of the row: where its key and its value begin in the leaf, the value's size, and how it is kept. */
  #key = 0;
  #value = 0;
  #size = 0;
  #flags = 0;
  #big: Buffer | undefined;
  #leaf: Level | undefined;

  /**
   * @param from - begins with the first row whose key isn't below it
   * @param before - ends before the first row whose key isn't below it
   */
  constructor(
    file: DatabaseFile,
    table: Table,
    onDamage: (damage: PageDamage) => void,
    from?: Buffer,
    before?: Buffer,
  ) {
    this.#file = file;
    this.#table = table;
    this.#onDamage = onDamage;
    this.#from = from;
    this.#before = before;
  }

  /** Whether there is another row. */
  next(): boolean {
    while (this.nextKey()) {
      this.#big = undefined;
      if (this.#flags !== bigValue || this.#readBig()) return true;
    }
    return false;
  }

  /** As `next`, for whoever wants the key alone: a value on pages of its own isn't read. */
  nextKey(): boolean {
    if (!this.#started) this.#start();
    for (;;) {
      const leaf = this.#leaf;
      if (leaf === undefined) return false;
      leaf.index += 1;
      if (leaf.index < leaf.nodes) {
        this.#take(leaf);
        return true;
      }
      this.#turn();
    }
  }

  /** A copy-free view of the key. */
  key(): Buffer {
    return this.#leaf!.page.subarray(this.#key, this.#value);
  }

  value(): Buffer {
    return this.#big ?? this.#leaf!.page.subarray(this.#value, this.#value + this.#size);
  }

  /** The value and the byte before it, whatever that is. */
  valueBehindByte(): Buffer {
    const value = this.#big ?? this.#leaf!.page;
    const start = value.byteOffset + (this.#big === undefined ? this.#value : 0);
    return Buffer.from(value.buffer, start - 1, 1 + this.#size);
  }

  /** The number that is the whole key; −1 where it is no whole number from 0. */
  keyNumber(): number {
    return keyNumber(this.#leaf!.page, this.#key, this.#value);
  }

  /** Whether the row is a key and a value, behind each other in the leaf, of so many bytes. */
  hasForm(keyBytes: number, valueBytes: number): boolean {
    return this.#flags === 0 && this.#value - this.#key === keyBytes && this.#size === valueBytes;
  }

  /** The 32 bits at a byte of such a row: two views for each take 0.1 µs. */
  word(at: number): number {
    const { page } = this.#leaf!;
    const from = this.#key + at;
    return (page[from]! << 24) | (page[from + 1]! << 16) | (page[from + 2]! << 8) | page[from + 3]!;
  }

  get isTable(): boolean {
    return this.#flags === tableValue && this.#size === 48;
  }

  #start(): void {
    this.#started = true;
    const { root, depth } = this.#table;
    if (root === undefined) return;
    if (!(depth > 0 && depth <= maxDepth)) this.#damaged(root, `a tree of depth ${depth}`);
    else this.#enter(root, 0);
  }

  /** The page has been checked. */
  #take({ page, index }: Level): void {
    const key = keyStart(page, index, true);
    this.#key = key;
    this.#value = key + number16(page, key - 2);
    this.#flags = number16(page, key - 4);
    this.#size = number32(page, key - 8);
  }

  /** As `next`, but of a value on pages of its own only the header of the first is read. */
  nextRow(): boolean {
    while (this.nextKey()) {
      if (this.#flags !== bigValue) return true;
      const first = this.#firstPage;
      const wrong = this.#bigWrong ?? this.#file.overflowWrong(first, this.#size);
      if (wrong === undefined) return true;
      this.#damaged(first, wrong);
    }
    return false;
  }

  #readBig(): boolean {
    const first = this.#firstPage;
    const bytes = this.#bigWrong ?? this.#file.overflow(first, this.#size);
    if (typeof bytes === 'string') {
      this.#damaged(first, bytes);
      return false;
    }
    this.#big = bytes;
    return true;
  }

  get #firstPage(): number {
    return number64(this.#leaf!.page, this.#value);
  }

  get #bigWrong(): string | undefined {
    // A record of the free list names up to a million pages; what is read is bounded by the file.
    const mostBytes = this.#table.keyOrder === 'integers' ? this.#file.fileBytes : this.#file.maxValueBytes;
    const pages = number64(this.#leaf!.page, this.#value + 16);
    const fits = this.#size <= mostBytes && pages === this.#file.pagesOf(this.#size);
    return fits ? undefined : 'its length makes no sense';
  }

  /** To the first leaf under page `n` at this depth; past it where it can't be followed. */
  #enter(n: number, at: number): void {
    for (let [page, depth] = [n, at]; ; ) {
      const level = this.#level(depth);
      const isLeaf = depth === this.#table.depth - 1;
      const wrong =
        this.#file.loadPage(page, isLeaf ? leafPage : branchPage, level.page) ??
        this.#checkNodes(level, isLeaf);
      if (wrong === undefined && isLeaf) {
        level.index =
          this.#from === undefined ? -1 : firstNotBelow(level.page, this.#from, this.#table.keyOrder) - 1;
        this.#from = undefined;
        this.#leaf = level;
        return;
      }
      let branch = depth;
      if (wrong === undefined) {
        level.index =
          this.#from === undefined ? 0 : (search(level.page, this.#from, false, this.#table.keyOrder) ?? 0);
      } else {
        this.#damaged(page, wrong);
        this.#from = undefined;
        branch = this.#nextBranch(depth - 1);
        if (branch < 0) return;
      }
      const { page: parent, index } = this.#levels[branch]!;
      page = childOf(parent, index);
      depth = branch + 1;
    }
  }

  /** To the next leaf. */
  #turn(): void {
    this.#leaf = undefined;
    const depth = this.#nextBranch(this.#table.depth - 2);
    if (depth < 0) return;
    const { page, index } = this.#levels[depth]!;
    this.#enter(childOf(page, index), depth + 1);
  }

  /** Moves the branch at `from`, or the nearest above it that has another child, on to that; its depth, or −1. */
  #nextBranch(from: number): number {
    for (let depth = from; depth >= 0; depth--) {
      const level = this.#levels[depth]!;
      level.index += 1;
      if (level.index >= level.nodes) continue;
      const node = nodeAt(level.page, level.index, false)!;
      const separator = level.page.subarray(node.key, node.value);
      if (this.#before !== undefined && this.#compare(separator, this.#before) >= 0) return -1;
      this.#separator = Buffer.from(separator);
      return depth;
    }
    return -1;
  }

  #level(depth: number): Level {
    this.#levels[depth] ??= { page: Buffer.allocUnsafe(this.#file.pageBytes), nodes: 0, index: 0 };
    return this.#levels[depth];
  }

  /** Why the nodes of a page can't be followed. Sets how many there are. */
  #checkNodes(level: Level, isLeaf: boolean): string | undefined {
    const wrong = nodesWrong(level.page, isLeaf, this.#table.keyOrder, isLeaf ? this.#lastKey : undefined);
    if (wrong !== undefined) return wrong;
    level.nodes = level.page.readUInt16LE(20) >> 1;
    return isLeaf ? this.#checkBounds(level) : undefined;
  }

  /**
   * A leaf's keys must lie on the right side of the branch key that leads to it, or a search would miss them. Leaves out
   * what is not to be read.
   */
  #checkBounds(level: Level): string | undefined {
    const { page, nodes } = level;
    const first = nodeAt(page, 0, true)!;
    const separator = this.#separator;
    if (separator !== undefined) {
      this.#separator = undefined;
      const reached = this.#compare(separator, page.subarray(first.key, first.value)) <= 0;
      const passed = this.#lastKey === undefined || this.#compare(this.#lastKey, separator) < 0;
      if (!reached || !passed) return 'the page above it leads elsewhere';
    }
    const last = nodeAt(page, nodes - 1, true)!;
    this.#lastKey = Buffer.from(page.subarray(last.key, last.value));
    if (this.#before !== undefined && this.#compare(this.#lastKey, this.#before) >= 0)
      level.nodes = firstNotBelow(page, this.#before, this.#table.keyOrder);
    return undefined;
  }

  #compare(a: Buffer, b: Buffer): number {
    return compareKeys(this.#table.keyOrder, a, b);
  }

  #damaged(page: number, what: string): void {
    this.#onDamage({ table: this.#table.name, page, what });
  }
}

/** The first node of a leaf whose key isn't below this one; their number where all are. */
function firstNotBelow(page: Buffer, key: Buffer, order: KeyOrder): number {
  const place = search(page, key, true, order) ?? 0;
  const node = nodeAt(page, place, true)!;
  return compareKeys(order, page.subarray(node.key, node.value), key) < 0 ? place + 1 : place;
}

/** What can't be followed on the way to a table's last row. */
export function lastRowDamage(
  file: DatabaseFile,
  { name, root, depth, keyOrder }: Table,
): PageDamage | undefined {
  const page = Buffer.allocUnsafe(file.pageBytes);
  let n = root;
  for (let level = 0; level < depth && n !== undefined; level++) {
    const isLeaf = level === depth - 1;
    const wrong =
      file.loadPage(n, isLeaf ? leafPage : branchPage, page) ?? nodesWrong(page, isLeaf, keyOrder);
    if (wrong !== undefined) return { table: name, page: n, what: wrong };
    if (!isLeaf) n = childOf(page, (page.readUInt16LE(20) >> 1) - 1);
  }
  return undefined;
}

/** The value of one key, or undefined where there is none or the way to it can't be followed. */
export function findRow(file: DatabaseFile, table: Table, key: Buffer): Buffer | undefined {
  const page = Buffer.allocUnsafe(file.pageBytes);
  let n = table.root;
  for (let depth = 0; depth < Math.min(table.depth, maxDepth) && n !== undefined; depth++) {
    const isLeaf = depth === table.depth - 1;
    if (file.loadPage(n, isLeaf ? leafPage : branchPage, page) !== undefined) return undefined;
    const place = search(page, key, isLeaf, table.keyOrder);
    if (place === undefined || keyStart(page, place, isLeaf) < 0) return undefined;
    if (!isLeaf) {
      n = childOf(page, place);
      continue;
    }
    const node = nodeAt(page, place, true);
    if (node === undefined || !page.subarray(node.key, node.value).equals(key)) return undefined;
    if (node.flags === 0) return page.subarray(node.value, node.value + node.size);
    if (node.flags !== bigValue || node.size > maxValueBytes) return undefined;
    const bytes = file.overflow(number64(page, node.value), node.size);
    return typeof bytes === 'string' ? undefined : bytes;
  }
  return undefined;
}

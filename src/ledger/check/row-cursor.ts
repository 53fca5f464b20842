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

/** Depth limit: deeper trees would hold more rows than the largest file has bytes. */
const maxDepth = 32;

interface Level {
  readonly page: Buffer;
  nodes: number;
  index: number;
}

/**
 * Iterates over the rows of a table in the order of their keys. After `next`, the views of `key` and `value`
 * are valid until the following call. Unreadable pages are passed to `onDamage`, and their rows are skipped.
 */
export class RowCursor {
  readonly #file: DatabaseFile;
  readonly #table: Table;
  readonly #onDamage: (damage: PageDamage) => void;
  readonly #levels: Level[] = [];
  /** Last key of the previous leaf. */
  #lastKey: Buffer | undefined;
  /** Branch key that separates the previous leaf from the current one. */
  #separator: Buffer | undefined;
  #started = false;
  /** The first key to read, until it is reached. */
  #from: Buffer | undefined;
  readonly #before: Buffer | undefined;
  /** Start of the current row's key in the leaf. */
  #key = 0;
  /** Start of the current row's value in the leaf. */
  #value = 0;
  /** Size of the current row's value. */
  #size = 0;
  /** Flags of the current row. */
  #flags = 0;
  #big: Buffer | undefined;
  #leaf: Level | undefined;

  /**
   * @param from - skips rows with smaller keys
   * @param before - ends before the first row with this key or a larger key
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

  /** Moves to the next row. Returns whether there is one. */
  next(): boolean {
    while (this.nextKey()) {
      this.#big = undefined;
      if (this.#flags !== bigValue || this.#readBig()) return true;
    }
    return false;
  }

  /**
   * Moves to the next row like `next`, but does not read a value on overflow pages, for callers that need only the key.
   */
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

  /** Returns a view of the key. */
  key(): Buffer {
    return this.#leaf!.page.subarray(this.#key, this.#value);
  }

  value(): Buffer {
    return this.#big ?? this.#leaf!.page.subarray(this.#value, this.#value + this.#size);
  }

  /** Returns a view of the value, preceded by one byte of unspecified content. */
  valueBehindByte(): Buffer {
    const value = this.#big ?? this.#leaf!.page;
    const start = value.byteOffset + (this.#big === undefined ? this.#value : 0);
    return Buffer.from(value.buffer, start - 1, 1 + this.#size);
  }

  /** Returns the key as a number; −1 if the key is not one integer of at least 0. */
  keyNumber(): number {
    return keyNumber(this.#leaf!.page, this.#key, this.#value);
  }

  /** Returns whether the row consists of an adjacent key and value of these lengths in the leaf. */
  hasForm(keyBytes: number, valueBytes: number): boolean {
    return this.#flags === 0 && this.#value - this.#key === keyBytes && this.#size === valueBytes;
  }

  /** Returns the 32 bits at byte `at` of a row that `hasForm` accepts. Creating two views instead takes 0.1 µs. */
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
    if (!(depth > 0 && depth <= maxDepth)) this.#damaged(root, `the depth of its tree (${depth}) is invalid`);
    else this.#enter(root, 0);
  }

  /** Reads the positions of a row. The page must have been checked. */
  #take({ page, index }: Level): void {
    const key = keyStart(page, index, true);
    this.#key = key;
    this.#value = key + number16(page, key - 2);
    this.#flags = number16(page, key - 4);
    this.#size = number32(page, key - 8);
  }

  /** Moves to the next row like `next`, but reads only the header of a value on overflow pages. */
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
    // A record of the free list names up to a million pages, so only the size of the file limits it.
    const mostBytes = this.#table.keyOrder === 'integers' ? this.#file.fileBytes : this.#file.maxValueBytes;
    const pages = number64(this.#leaf!.page, this.#value + 16);
    const fits = this.#size <= mostBytes && pages === this.#file.pagesOf(this.#size);
    return fits ? undefined : 'its length is invalid';
  }

  /** Descends from page `n` at this depth to the leaf of `#from` or, without `#from`, to the first readable leaf. */
  #enter(n: number, at: number): void {
    for (let [page, depth] = [n, at]; ; ) {
      const level = this.#level(depth);
      const isLeaf = depth === this.#table.depth - 1;
      const wrong =
        this.#file.loadPage(page, isLeaf ? leafPage : branchPage, level.page) ?? this.#checkNodes(level, isLeaf);
      if (wrong === undefined && isLeaf) {
        level.index = this.#from === undefined ? -1 : firstNotBelow(level.page, this.#from, this.#table.keyOrder) - 1;
        this.#from = undefined;
        this.#leaf = level;
        return;
      }
      let branch = depth;
      if (wrong === undefined) {
        level.index = this.#from === undefined ? 0 : (search(level.page, this.#from, false, this.#table.keyOrder) ?? 0);
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

  /** Moves to the next leaf. */
  #turn(): void {
    this.#leaf = undefined;
    const depth = this.#nextBranch(this.#table.depth - 2);
    if (depth < 0) return;
    const { page, index } = this.#levels[depth]!;
    this.#enter(childOf(page, index), depth + 1);
  }

  /**
   * Advances the branch at `from`, or the nearest ancestor that has another child. Returns its depth; −1 if there is no
   * other child, or its keys are not below `#before`.
   */
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

  /** Returns why the nodes of a page are invalid; undefined if they are valid. Sets the number of nodes of `level`. */
  #checkNodes(level: Level, isLeaf: boolean): string | undefined {
    const wrong = nodesWrong(level.page, isLeaf, this.#table.keyOrder, isLeaf ? this.#lastKey : undefined);
    if (wrong !== undefined) return wrong;
    level.nodes = level.page.readUInt16LE(20) >> 1;
    return isLeaf ? this.#checkBounds(level) : undefined;
  }

  /**
   * Checks that a leaf's keys are on the right side of the branch key that leads to it, because a search would miss
   * them otherwise. Returns the error; undefined if the keys are valid. Excludes rows from `#before` onwards.
   */
  #checkBounds(level: Level): string | undefined {
    const { page, nodes } = level;
    const first = nodeAt(page, 0, true)!;
    const separator = this.#separator;
    if (separator !== undefined) {
      this.#separator = undefined;
      const reached = this.#compare(separator, page.subarray(first.key, first.value)) <= 0;
      const passed = this.#lastKey === undefined || this.#compare(this.#lastKey, separator) < 0;
      if (!reached || !passed) return 'its keys are outside the range of its parent page';
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

/** Returns the first node of a leaf whose key is not below `key`; the number of nodes if all are below. */
function firstNotBelow(page: Buffer, key: Buffer, order: KeyOrder): number {
  const place = search(page, key, true, order) ?? 0;
  const node = nodeAt(page, place, true)!;
  return compareKeys(order, page.subarray(node.key, node.value), key) < 0 ? place + 1 : place;
}

/** Returns the damage on the path to a table's last row, if any. */
export function lastRowDamage(file: DatabaseFile, { name, root, depth, keyOrder }: Table): PageDamage | undefined {
  const page = Buffer.allocUnsafe(file.pageBytes);
  let n = root;
  for (let level = 0; level < depth && n !== undefined; level++) {
    const isLeaf = level === depth - 1;
    const wrong = file.loadPage(n, isLeaf ? leafPage : branchPage, page) ?? nodesWrong(page, isLeaf, keyOrder);
    if (wrong !== undefined) return { table: name, page: n, what: wrong };
    if (!isLeaf) n = childOf(page, (page.readUInt16LE(20) >> 1) - 1);
  }
  return undefined;
}

/** Returns the value of a key; undefined if it is missing or the path to it is damaged. */
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

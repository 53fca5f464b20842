import type { DatabaseFile, PageDamage, Table } from './database-file.ts';
import {
  bigValue,
  branchPage,
  childOf,
  keyStart,
  leafPage,
  maxValueBytes,
  type Node,
  nodeAt,
  nodesWrong,
  number64,
  search,
  tableValue,
} from './database-page.ts';

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
  #node: Node | undefined;
  #big: Buffer | undefined;
  #leaf: Level | undefined;

  /**
   * @param from - begins with the first row whose key isn't below it
   * @param before - turns no page that has only rows from this key on; those of the page that it is at still come
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
    return this.#step((leaf) => this.#row(leaf));
  }

  /** As `next`, for whoever wants the key alone: a value on pages of its own isn't read. */
  nextKey(): boolean {
    return this.#step((leaf) => {
      this.#node = nodeAt(leaf.page, leaf.index, true)!;
      return true;
    });
  }

  #step(take: (leaf: Level) => boolean): boolean {
    if (!this.#started) {
      this.#started = true;
      const { root, depth } = this.#table;
      if (root === undefined) return false;
      if (!(depth > 0 && depth <= maxDepth)) this.#damaged(root, `a tree of depth ${depth}`);
      else this.#enter(root, 0);
    }
    for (;;) {
      const leaf = this.#leaf;
      if (leaf === undefined) return false;
      leaf.index += 1;
      if (leaf.index < leaf.nodes) {
        if (take(leaf)) return true;
      } else this.#turn();
    }
  }

  /** A copy-free view of the key. */
  key(): Buffer {
    return this.#leaf!.page.subarray(this.#node!.key, this.#node!.value);
  }

  value(): Buffer {
    return this.#big ?? this.#leaf!.page.subarray(this.#node!.value, this.#node!.value + this.#node!.size);
  }

  get isTable(): boolean {
    return this.#node!.flags === tableValue && this.#node!.size === 48;
  }

  #row(leaf: Level): boolean {
    const node = nodeAt(leaf.page, leaf.index, true)!;
    this.#node = node;
    this.#big = undefined;
    if (node.flags !== bigValue) return true;
    const first = number64(leaf.page, node.value);
    const fits =
      node.size <= maxValueBytes && number64(leaf.page, node.value + 16) === this.#file.pagesOf(node.size);
    const bytes = fits ? this.#file.overflow(first, node.size) : 'its length makes no sense';
    if (typeof bytes === 'string') {
      this.#damaged(first, bytes);
      return false;
    }
    this.#big = bytes;
    return true;
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
        level.index = this.#start(level.page) - 1;
        this.#leaf = level;
        return;
      }
      let branch = depth;
      if (wrong === undefined) {
        level.index = this.#from === undefined ? 0 : (search(level.page, this.#from, false) ?? 0);
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

  /** The node of the first leaf to begin with; 0 in all others. */
  #start(page: Buffer): number {
    const from = this.#from;
    this.#from = undefined;
    const place = from === undefined ? undefined : search(page, from, true);
    if (from === undefined || place === undefined) return 0;
    const { key, value } = nodeAt(page, place, true)!;
    return Buffer.compare(page.subarray(key, value), from) < 0 ? place + 1 : place;
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
      if (this.#before !== undefined && Buffer.compare(separator, this.#before) >= 0) return -1;
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
    const wrong = nodesWrong(level.page, isLeaf, isLeaf ? this.#lastKey : undefined);
    if (wrong !== undefined) return wrong;
    level.nodes = level.page.readUInt16LE(20) >> 1;
    return isLeaf ? this.#checkBounds(level) : undefined;
  }

  /** A leaf's keys must lie on the right side of the branch key that leads to it, or a search would miss them. */
  #checkBounds({ page, nodes }: Level): string | undefined {
    const first = nodeAt(page, 0, true)!;
    const separator = this.#separator;
    if (separator !== undefined) {
      this.#separator = undefined;
      const reached = Buffer.compare(separator, page.subarray(first.key, first.value)) <= 0;
      const passed = this.#lastKey === undefined || Buffer.compare(this.#lastKey, separator) < 0;
      if (!reached || !passed) return 'the page above it leads elsewhere';
    }
    const last = nodeAt(page, nodes - 1, true)!;
    this.#lastKey = Buffer.from(page.subarray(last.key, last.value));
    return undefined;
  }

  #damaged(page: number, what: string): void {
    this.#onDamage({ table: this.#table.name, page, what });
  }
}

/** What can't be followed on the way to a table's last row. */
export function lastRowDamage(file: DatabaseFile, { name, root, depth }: Table): PageDamage | undefined {
  const page = Buffer.allocUnsafe(file.pageBytes);
  let n = root;
  for (let level = 0; level < depth && n !== undefined; level++) {
    const isLeaf = level === depth - 1;
    const wrong = file.loadPage(n, isLeaf ? leafPage : branchPage, page) ?? nodesWrong(page, isLeaf);
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
    const place = search(page, key, isLeaf);
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

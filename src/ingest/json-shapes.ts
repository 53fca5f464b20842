import type { JsonObject } from './fields.ts';
import { LineOutline } from './line-outline.ts';
import { absent } from './line-values.ts';
import { Shape } from './shape.ts';

/**
 * A node in the tree of line shapes. Lines of one sensor have few shapes: equal names in equal order, with
 * different values. The bytes between the values are learned from lines that JSON.parse has read, as a tree
 * in which optional fields are branches:
 *
 * ```
 *   {"ts":  →  ,"uid":  →  …  ,"proto":  →  ,"service":  →  ,"duration":  →  …  ,"resp_ip_bytes":  →  }
 *                                       ↘  ,"duration":  →  …  ,"resp_ip_bytes":  →  }
 *   {"timestamp":  →  …  ,"proto":  →  ,"flow":{"pkts_toserver":  →  …  },"tcp":{"tcp_flags":  →  …  }}
 * ```
 */
export interface ShapeNode {
  /** Length of the node in bytes: up to the next value, or up to the end of the line after the last value. */
  readonly length: number;
  /** The first four bytes of the node, or fewer if the node is shorter. */
  readonly head: number;
  /** The last four bytes of the node. */
  readonly tail: number;
  /**
   * Start of the bytes between head and tail, in groups of eight, as an index in `JsonShapes.words`. The last
   * group may overlap the previous group.
   */
  readonly firstWord: number;
  /** End of these groups, exclusive. */
  readonly endWord: number;
  /** Nodes that may follow the value, the longest first, because a node may be a prefix of another node. */
  next: readonly ShapeNode[];
  /** Position of the value after the node. Values with equal paths have equal positions in all shapes. */
  readonly position: number;
  /** The shape of the line, if this node is the last node of the line. */
  readonly shape: Shape | undefined;
}

/**
 * Maximum length of a line that is learned. Most of a longer line is data, and its texts would stay in memory
 * with the shape.
 */
export const longestShapedLine = 4096;
export const maxNodes = 4096;
const maxBranches = 32;
const maxWords = 32_768;

/** The shapes learned by one thread; cleared when `maxNodes` or `maxWords` is exceeded. */
export class JsonShapes {
  first: readonly ShapeNode[] = [];
  /**
   * Bytes in groups of eight, as doubles. Doubles compare like integers if no byte is 255, and names are ASCII.
   * Comparing doubles takes 150 ns per line; comparing bytes takes 860 ns.
   */
  readonly words = new Float64Array(maxWords);
  #usedWords = 0;
  #nodes = 0;
  /** Positions by path. */
  #positions = new Map<string, number>();

  /** Learns the shape of a suitable line, and takes ownership of the record. */
  learn(bytes: Buffer, view: DataView, start: number, end: number, record: JsonObject): void {
    if (end - start > longestShapedLine) return;
    const outline = new LineOutline(bytes, start, end);
    if (!outline.object(record)) return;
    const mostWords = this.#usedWords + (end - start) / 8;
    if (this.#nodes + outline.paths.length >= maxNodes || mostWords > maxWords) {
      this.first = [];
      this.#nodes = 0;
      this.#usedWords = 0;
      this.#positions = new Map();
    }
    this.#insert(outline, view, start, end, record);
  }

  #insert({ places, paths }: LineOutline, view: DataView, start: number, end: number, record: JsonObject): void {
    let from = start;
    let parent: { next: readonly ShapeNode[] } | undefined;
    for (let at = 0; at <= paths.length; at++) {
      const last = at === paths.length;
      const to = last ? end : (places[2 * at] as number);
      const siblings: readonly ShapeNode[] = parent === undefined ? this.first : parent.next;
      let node = siblings.find(
        (one) =>
          one.length === to - from && (one.shape !== undefined) === last && isAt(one, this.words, view, from, to),
      );
      if (node === undefined) {
        node = last
          ? this.#node(view, from, to, absent, new Shape(record, this.#positions))
          : this.#node(view, from, to, this.#position(paths[at] as string), undefined);
        this.#nodes++;
        // If there are too many nodes, an arbitrary node is dropped. Shapes that are still in use are learned
        // again.
        const kept = siblings.length < maxBranches ? siblings : siblings.toSpliced(this.#nodes % maxBranches, 1);
        const grown = [...kept, node].sort((a, b) => b.length - a.length);
        if (parent === undefined) this.first = grown;
        else parent.next = grown;
      }
      parent = node;
      from = places[2 * at + 1] as number;
    }
  }

  #position(path: string): number {
    const known = this.#positions.get(path);
    if (known !== undefined) return known;
    const position = this.#positions.size + 1;
    this.#positions.set(path, position);
    return position;
  }

  #node(view: DataView, from: number, to: number, position: number, shape: Shape | undefined): ShapeNode {
    const length = to - from;
    const head = length < 4 ? shortWord(view, from, length) : view.getInt32(from, true);
    const tail = length < 4 ? head : view.getInt32(to - 4, true);
    const firstWord = this.#usedWords;
    for (let at = from + 4; at < to - 4; at += 8) {
      this.words[this.#usedWords++] = view.getFloat64(Math.min(at, to - 8), true);
    }
    return { length, head, tail, firstWord, endWord: this.#usedWords, next: [], position, shape };
  }
}

/** Returns whether the bytes in `[from, to)` begin with the bytes of the node. */
export function isAt(
  { length, head, tail, firstWord, endWord }: ShapeNode,
  words: Float64Array,
  view: DataView,
  from: number,
  to: number,
): boolean {
  if (from + length > to) return false;
  if (length < 4) return shortWord(view, from, length) === head;
  if (view.getInt32(from, true) !== head || view.getInt32(from + length - 4, true) !== tail) return false;
  const last = from + length - 8;
  for (let word = firstWord, at = from + 4; word < endWord; word++, at += 8) {
    if (words[word] !== view.getFloat64(at < last ? at : last, true)) return false;
  }
  return true;
}

function shortWord(view: DataView, from: number, length: number): number {
  let word = 0;
  for (let at = from + length - 1; at >= from; at--) word = (word << 8) | view.getUint8(at);
  return word;
}

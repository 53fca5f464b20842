import type { JsonObject } from './fields.ts';
import { LineOutline } from './line-outline.ts';

/**
 * Lines of one sensor are of few shapes: the same names in the same order, and only the values differ. What stands
 * between the values is learned from lines that JSON.parse has read, as a tree in which optional fields are branches:
 *
 * ```
 *   {"ts":  →  ,"uid":  →  …  ,"proto":  →  ,"service":  →  ,"duration":  →  …  ,"resp_ip_bytes":  →  }
 *                                       ↘  ,"duration":  →  …  ,"resp_ip_bytes":  →  }
 *   {"timestamp":  →  …  ,"proto":  →  ,"flow":{"pkts_toserver":  →  …  },"tcp":{"tcp_flags":  →  …  }}
 * ```
 */
export interface ShapeNode {
  /** Of the bytes before the next value (after the last one, to the end of the line): how many, … */
  readonly length: number;
  /** … the first four (of fewer, all) and the last four, … */
  readonly head: number;
  readonly tail: number;
  /** … and those between them by eight, of which the last may overlap: places in `JsonShapes.words`. */
  readonly firstWord: number;
  readonly endWord: number;
  /** Nodes that may follow the value, the longest first: one may begin another. */
  next: readonly ShapeNode[];
  /** Of the last node of a line. */
  readonly shape: Shape | undefined;
}

/** A whole line's shape. `record` is given for each line of it, filled anew. */
export interface Shape {
  readonly record: JsonObject;
  /** The objects in which the values lie, in order of the line, and under which names. */
  readonly holders: readonly Record<string, unknown>[];
  readonly names: readonly string[];
  /** What they hold since a line was read into them. */
  readonly values: unknown[];
}

/** A line that is longer has more in it than its shape: its texts would be kept with it. */
export const longestShapedLine = 4096;
const maxNodes = 4096;
const maxBranches = 32;
const maxWords = 32_768;

/** The shapes that one thread has learned; past `maxNodes` or `maxWords` it begins anew. */
export class JsonShapes {
  first: readonly ShapeNode[] = [];
  /**
   * Bytes by eight. Doubles compare like whole numbers where no byte is 255, and names are ASCII: 150 ns a line where
   * bytes take 860.
   */
  readonly words = new Float64Array(maxWords);
  #usedWords = 0;
  #nodes = 0;

  /** Takes the record for its own, where the line is of a kind to have its shape learned. */
  learn(bytes: Buffer, view: DataView, start: number, end: number, record: JsonObject): void {
    if (end - start > longestShapedLine) return;
    const outline = new LineOutline(bytes, start, end);
    if (!outline.object(record)) return;
    const mostWords = this.#usedWords + (end - start) / 8;
    if (this.#nodes + outline.holders.length >= maxNodes || mostWords > maxWords) {
      this.first = [];
      this.#nodes = 0;
      this.#usedWords = 0;
    }
    this.#insert(outline, view, start, end, record);
  }

  #insert(
    { places, holders, names }: LineOutline,
    view: DataView,
    start: number,
    end: number,
    record: JsonObject,
  ): void {
    let from = start;
    let parent: { next: readonly ShapeNode[] } | undefined;
    for (let at = 0; at <= holders.length; at++) {
      const last = at === holders.length;
      const to = last ? end : (places[2 * at] as number);
      const siblings: readonly ShapeNode[] = parent === undefined ? this.first : parent.next;
      let node = siblings.find(
        (one) =>
          one.length === to - from &&
          (one.shape !== undefined) === last &&
          isAt(one, this.words, view, from, to),
      );
      if (node === undefined) {
        node = this.#node(
          view,
          from,
          to,
          last ? { record, holders, names, values: new Array(names.length).fill(undefined) } : undefined,
        );
        this.#nodes++;
        // Of too many one goes, whichever: those that are still met come back.
        const kept =
          siblings.length < maxBranches ? siblings : siblings.toSpliced(this.#nodes % maxBranches, 1);
        const grown = [...kept, node].sort((a, b) => b.length - a.length);
        if (parent === undefined) this.first = grown;
        else parent.next = grown;
      }
      parent = node;
      from = places[2 * at + 1] as number;
    }
  }

  #node(view: DataView, from: number, to: number, shape: Shape | undefined): ShapeNode {
    const length = to - from;
    const head = length < 4 ? shortWord(view, from, length) : view.getInt32(from, true);
    const tail = length < 4 ? head : view.getInt32(to - 4, true);
    const firstWord = this.#usedWords;
    for (let at = from + 4; at < to - 4; at += 8) {
      this.words[this.#usedWords++] = view.getFloat64(Math.min(at, to - 8), true);
    }
    return { length, head, tail, firstWord, endWord: this.#usedWords, next: [], shape };
  }
}

/** Whether these bytes are what the node stands for; `to` is the end of the line. */
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

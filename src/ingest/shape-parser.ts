import type { JsonObject } from './fields.ts';
import { isAt, JsonShapes, longestShapedLine, maxNodes, type ShapeNode } from './json-shapes.ts';
import { LineValues } from './line-values.ts';
import type { Shape } from './shape.ts';

const quote = 34;
const comma = 44;
const openBracket = 91;
const backslash = 92;
const closeBracket = 93;
const openBrace = 123;
const closeBrace = 125;

/**
 * The credit that learning a line costs. Each line that JSON.parse had to read adds 1 to the credit. Learning takes as
 * long as JSON.parse, so in a flood of shapes that do not recur, only one line in eight is learned.
 */
const learningCosts = 8;
const maxCredit = 256;

/**
 * Reads lines of JSON by their shapes, directly from the bytes, without JSON.parse. The object of a line equals the
 * result of JSON.parse, including the order of names, but its texts become strings when they are first used. Readers of
 * events do not use the object: they take the values from `line` by the plan of the shape (plans.ts). Recurring texts
 * are interned strings with a cached hash, so the caller's maps find them three times as fast as newly created strings.
 *
 * Lines with an unknown shape, escapes or characters other than ASCII are not read: the caller uses JSON.parse and
 * passes the result to `learn`.
 *
 * Owned by one thread. Shapes and recurring texts are bounded.
 */
export class ShapeParser {
  readonly #shapes = new JsonShapes();
  /** Values of the current line. */
  readonly line = new LineValues(ofElement);
  /** Shape of the current line. */
  #shape: Shape | undefined;
  #record: JsonObject | undefined;
  #credit = maxCredit;

  /**
   * Returns the object in `[start, end)`, valid until the next call; undefined if the line cannot be read.
   * `view` must cover these bytes.
   */
  read(bytes: Buffer, view: DataView, start: number, end: number): JsonObject | undefined {
    this.#record = undefined;
    if (end - start > longestShapedLine) return undefined;
    const { line } = this;
    line.begin(bytes, view);
    let nodes = this.#shapes.first;
    for (let at = start; ; ) {
      const node = nodeAt(nodes, this.#shapes.words, view, at, end);
      if (node === undefined) return undefined;
      if (node.shape !== undefined) {
        this.#shape = node.shape;
        this.#record = node.shape.record(line);
        return this.#record;
      }
      at = readValue(line, node.position, bytes, view, at + node.length, end);
      if (at < 0 || at > end) return undefined;
      nodes = node.next;
    }
  }

  /** Returns the shape of a record if the record is the current line; otherwise undefined. */
  shapeOf(record: JsonObject): Shape | undefined {
    return record === this.#record ? this.#shape : undefined;
  }

  /**
   * Learns from the result of JSON.parse for a line that was not read. The record may become one of the
   * reused objects.
   */
  learn(bytes: Buffer, view: DataView, start: number, end: number, record: JsonObject): void {
    this.#credit = Math.min(this.#credit + 1, maxCredit);
    if (this.#credit < learningCosts) return;
    this.#credit -= learningCosts;
    this.#shapes.learn(bytes, view, start, end, record);
  }
}

/** Sets the value that starts at `at`. Returns the end of the value, or -1 if JSON.parse must read the value. */
function readValue(line: LineValues, position: number, bytes: Buffer, view: DataView, at: number, end: number): number {
  switch (bytes[at]) {
    case quote: {
      const after = line.text(position, at + 1);
      return after < end && bytes[after] === quote ? after + 1 : -1;
    }
    case openBracket:
      return readArray(line, position, bytes, view, at, end);
    case 0x74:
      return word(line, position, view, at, end, 0x65757274, true);
    case 0x66:
      return word(line, position, view, at + 1, end, 0x65736c61, false);
    case 0x6e:
      return word(line, position, view, at, end, 0x6c6c756e, null);
    default:
      return line.number(position, at, end);
  }
}

/**
 * Sets a value to true, false or null. `letters` are the last four characters of the JSON literal, as a little-endian
 * integer. Returns the end of the literal, or -1 if the characters at `at` differ.
 */
function word(
  line: LineValues,
  position: number,
  view: DataView,
  at: number,
  end: number,
  letters: number,
  value: boolean | null,
): number {
  if (at + 4 > end || view.getInt32(at, true) !== letters) return -1;
  line.set(position, value);
  return at + 4;
}

/**
 * Sets a new array each time. Reads an array with values other than plain scalars by JSON.parse. Returns the end of the
 * array, or -1 if the array cannot be read.
 */
function readArray(
  line: LineValues,
  position: number,
  bytes: Buffer,
  view: DataView,
  start: number,
  end: number,
): number {
  const elements: unknown[] = [];
  let at = readElements(line, elements, bytes, view, start + 1, end);
  if (at < 0) {
    at = arrayEnd(bytes, start, end);
    if (at < 0) return -1;
    const parsed = parsedArray(bytes.toString('latin1', start, at));
    if (parsed === undefined) return -1;
    line.set(position, parsed);
  } else line.set(position, elements);
  return at;
}

/** Adds the elements of an array. Returns its end; returns -1 if the array cannot be read. */
function readElements(
  line: LineValues,
  elements: unknown[],
  bytes: Buffer,
  view: DataView,
  start: number,
  end: number,
): number {
  if (bytes[start] === closeBracket) return start + 1;
  for (let at = start; ; ) {
    const byte = bytes[at];
    if (byte === openBracket || byte === openBrace) return -1;
    at = readValue(line, ofElement, bytes, view, at, end);
    if (at < 0 || at >= end) return -1;
    elements.push(line.value(ofElement));
    const next = bytes[at++];
    if (next === closeBracket) return at;
    if (next !== comma) return -1;
  }
}

/** The position of the element of an array that is being read. */
const ofElement = maxNodes + 1;

/**
 * Maximum nesting of arrays that this class reads. Together with the enclosing levels, the nesting is below
 * `limits.maxNesting`.
 */
const deepest = 8;

/**
 * Returns the position after the closing bracket of the array; -1 if the bracket is missing, follows a non-ASCII
 * byte, or closes an array that is nested too deeply.
 */
function arrayEnd(bytes: Buffer, start: number, end: number): number {
  let depth = 0;
  let inText = false;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte > 127) return -1;
    if (byte === quote) inText = !inText;
    else if (inText) at += byte === backslash ? 1 : 0;
    else if (byte === openBracket || byte === openBrace) {
      if (++depth > deepest) return -1;
    } else if ((byte === closeBracket || byte === closeBrace) && --depth === 0) return at + 1;
  }
  return -1;
}

function parsedArray(text: string): readonly unknown[] | undefined {
  try {
    return JSON.parse(text) as unknown[];
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function nodeAt(
  nodes: readonly ShapeNode[],
  words: Float64Array,
  view: DataView,
  at: number,
  end: number,
): ShapeNode | undefined {
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i] as ShapeNode;
    if (isAt(node, words, view, at, end) && (node.shape === undefined || at + node.length === end)) return node;
  }
  return undefined;
}

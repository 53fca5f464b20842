import type { JsonObject } from './fields.ts';
import { isAt, JsonShapes, longestShapedLine, type Shape, type ShapeNode } from './json-shapes.ts';
import { StringInterner } from './string-interner.ts';

const quote = 34;
const comma = 44;
const minus = 45;
const point = 46;
const zero = 48;
const openBracket = 91;
const backslash = 92;
const closeBracket = 93;
const openBrace = 123;
const closeBrace = 125;

/** Powers of ten that a double holds exactly. */
const powers = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));

/** Marks the absence of a value; JSON has no such value. */
const none = Symbol('none');

/**
 * The credit that learning a line costs. Learning takes as long as JSON.parse, so in a flood of shapes that do not
 * recur, only one line in eight is learned.
 */
const learningCosts = 8;
const maxCredit = 256;

/**
 * Reads lines of JSON by their shapes, directly from the bytes, into reused objects. The result equals the result of
 * JSON.parse, including the order of names. Reading takes as long as JSON.parse, with a tenth of the garbage (80 bytes
 * per line of conn.log instead of 850). Recurring texts are interned strings with a cached hash, so the caller's maps
 * find them three times as fast as newly created strings.
 *
 * Lines with an unknown shape, escapes, characters other than ASCII or negative zero are not read: the caller uses
 * JSON.parse and passes the result to `learn`.
 *
 * Owned by one thread. Shapes and recurring texts are bounded.
 */
export class ShapeParser {
  readonly #shapes = new JsonShapes();
  readonly #texts = new StringInterner();
  /** Values of the current line. */
  readonly #values: unknown[] = [];
  /** Elements of the current array. */
  readonly #elements: unknown[] = [];
  #credit = maxCredit;
  /** The position of the next value. */
  #at = 0;

  /**
   * Returns the object in `[start, end)`, valid until the next call; undefined if the line cannot be read.
   * `view` must cover these bytes.
   */
  read(bytes: Buffer, view: DataView, start: number, end: number): JsonObject | undefined {
    if (end - start > longestShapedLine) return undefined;
    const values = this.#values;
    let nodes = this.#shapes.first;
    this.#at = start;
    for (let count = 0; ; count++) {
      const node = nodeAt(nodes, this.#shapes.words, view, this.#at, end);
      if (node === undefined) return undefined;
      if (node.shape !== undefined) return fill(node.shape, values);
      this.#at += node.length;
      const value = this.#value(bytes, view, end);
      if (value === none) return undefined;
      values[count] = value;
      nodes = node.next;
    }
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

  #value(bytes: Buffer, view: DataView, end: number): unknown {
    switch (bytes[this.#at]) {
      case quote:
        return this.#text(bytes, view, end);
      case openBracket:
        return this.#array(bytes, view, end);
      case 0x74:
        return this.#word(view, end, 0x65757274) ? true : none;
      case 0x66:
        this.#at++;
        return this.#word(view, end, 0x65736c61) ? false : none;
      case 0x6e:
        return this.#word(view, end, 0x6c6c756e) ? null : none;
      default:
        return this.#number(bytes, end);
    }
  }

  /** Compares four letters, in the order of little-endian bytes. */
  #word(view: DataView, end: number, letters: number): boolean {
    if (this.#at + 4 > end || view.getInt32(this.#at, true) !== letters) return false;
    this.#at += 4;
    return true;
  }

  #text(bytes: Buffer, view: DataView, end: number): string | typeof none {
    const text = this.#texts.text(bytes, view, this.#at + 1, end);
    if (text === undefined) return none;
    this.#at = this.#texts.end + 1;
    return text;
  }

  /**
   * Reads a number. A mantissa below 2^53 times a power of ten up to 10^22 is rounded once, to the correct
   * number (Clinger, "How to read floating point numbers accurately", 1990). All other numbers, including
   * numbers with exponents, are left to `Number`.
   */
  #number(bytes: Buffer, end: number): number | typeof none {
    const start = this.#at;
    const first = bytes[start] === minus ? start + 1 : start;
    let pointAt = -1;
    let at = first;
    let small = 0;
    let mantissa = 0;
    // Nine digits fit into an integer, which is faster than a double.
    for (const nine = Math.min(first + 9, end); at < nine; at++) {
      const digit = (bytes[at] as number) - zero;
      if (digit >= 0 && digit <= 9) small = (Math.imul(small, 10) + digit) | 0;
      else if (digit === point - zero && pointAt < 0) pointAt = at;
      else break;
    }
    mantissa = small;
    if (at === first + 9) {
      for (; at < end; at++) {
        const digit = (bytes[at] as number) - zero;
        if (digit >= 0 && digit <= 9) mantissa = mantissa * 10 + digit;
        else if (digit === point - zero && pointAt < 0) pointAt = at;
        else break;
      }
    }
    const wholeEnd = pointAt < 0 ? at : pointAt;
    const decimals = pointAt < 0 ? 0 : at - pointAt - 1;
    if (wholeEnd === first || pointAt === at - 1) return none;
    if (bytes[first] === zero && wholeEnd > first + 1) return none;
    // Comparisons cannot distinguish negative zero from zero.
    if (first > start && mantissa === 0) return none;
    const byte = bytes[at] as number;
    if (byte === 0x65 || byte === 0x45 || mantissa >= 2 ** 53 || decimals > 22) return this.#longNumber(bytes, end);
    this.#at = at;
    if (first === start) return decimals === 0 ? mantissa : mantissa / (powers[decimals] as number);
    return decimals === 0 ? -mantissa : -mantissa / (powers[decimals] as number);
  }

  #longNumber(bytes: Buffer, end: number): number | typeof none {
    const start = this.#at;
    let at = start;
    while (at < end && isOfNumber(bytes[at] as number)) at++;
    const text = bytes.toString('latin1', start, at);
    if (!/^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/.test(text)) return none;
    this.#at = at;
    const number = Number(text);
    return number === 0 ? none : number;
  }

  /** Returns a new array each time. Reads an array with values other than plain scalars by JSON.parse. */
  #array(bytes: Buffer, view: DataView, end: number): readonly unknown[] | typeof none {
    const start = this.#at;
    const count = this.#elementsOf(bytes, view, end);
    if (count >= 0) return this.#elements.slice(0, count);
    const after = arrayEnd(bytes, start, end);
    if (after < 0) return none;
    this.#at = after;
    return parsedArray(bytes.toString('latin1', start, after));
  }

  /** Returns the number of elements; -1 if the array cannot be read. */
  #elementsOf(bytes: Buffer, view: DataView, end: number): number {
    this.#at++;
    if (bytes[this.#at] === closeBracket) {
      this.#at++;
      return 0;
    }
    for (let count = 1; ; count++) {
      const byte = bytes[this.#at];
      if (byte === openBracket || byte === openBrace) return -1;
      const value = this.#value(bytes, view, end);
      if (value === none || this.#at >= end) return -1;
      this.#elements[count - 1] = value;
      const next = bytes[this.#at++];
      if (next === closeBracket) return count;
      if (next !== comma) return -1;
    }
  }
}

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

function parsedArray(text: string): readonly unknown[] | typeof none {
  try {
    return JSON.parse(text) as unknown[];
  } catch (error) {
    if (error instanceof SyntaxError) return none;
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

/**
 * Stores the values in the record, except unchanged values. Setting a value under a name takes 20 ns, and a
 * third of a line's twenty values are unchanged.
 */
function fill({ record, holders, names, values }: Shape, read: readonly unknown[]): JsonObject {
  for (let i = 0; i < values.length; i++) {
    const value = read[i];
    if (value === values[i]) continue;
    values[i] = value;
    (holders[i] as Record<string, unknown>)[names[i] as string] = value;
  }
  return record;
}

function isOfNumber(byte: number): boolean {
  return (
    (byte >= zero && byte <= 57) || byte === minus || byte === 43 || byte === point || byte === 0x65 || byte === 0x45
  );
}

import { StringInterner } from './string-interner.ts';

const minus = 45;
const point = 46;
const zero = 48;

/** Powers of ten that a double holds exactly. */
const powers = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));

/** Marks a text that is not yet read; no record contains this value. */
const unread = Symbol('unread');

/** The position of values that the line does not have. */
export const absent = 0;

/** Strings that recur in lines of this thread. */
const interned = new StringInterner();

/**
 * The values of one line, by positions from 1. Texts are read from the bytes when they are used: a conn.log line has
 * eight texts, but columns and most rules need only five. Values are valid until the next line begins.
 */
export class LineValues {
  bytes: Buffer = Buffer.alloc(0);
  #view: DataView = new DataView(new ArrayBuffer(0));
  readonly #values: unknown[];
  /** The start and the end of the bytes of each text and each number. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly #getters: (() => unknown)[] = [];

  /** @param most - the highest position */
  constructor(most: number) {
    this.#values = new Array(most + 1).fill(undefined);
    this.starts = new Int32Array(most + 1);
    this.ends = new Int32Array(most + 1);
  }

  /** Begins a line. `view` must cover the bytes. */
  begin(bytes: Buffer, view: DataView): void {
    this.bytes = bytes;
    this.#view = view;
  }

  set(position: number, value: unknown): void {
    this.#values[position] = value;
  }

  value(position: number): unknown {
    const value = this.#values[position];
    return value === unread ? this.#text(position) : value;
  }

  /** Returns whether there is a value other than null. */
  has(position: number): boolean {
    const value = this.#values[position];
    return value !== undefined && value !== null;
  }

  /** Returns whether the value is a text of at least one byte whose string does not exist yet. */
  isUnread(position: number): boolean {
    return this.#values[position] === unread && this.starts[position] !== this.ends[position];
  }

  /** Returns a getter for an object's property that reads the value at the position. */
  getter(position: number): () => unknown {
    this.#getters[position] ??= () => this.value(position);
    return this.#getters[position];
  }

  /**
   * Sets the text that starts here. Returns its end, which is the first byte that is a quote, a backslash, a control
   * character or not ASCII.
   */
  text(position: number, start: number): number {
    const end = interned.end(this.#view, start);
    this.#values[position] = unread;
    this.starts[position] = start;
    this.ends[position] = end;
    return end;
  }

  /**
   * Sets the number that starts here, and returns its end; returns -1 if there is no number. A
   * mantissa below 2^53 times a power of ten up to 10^22 is rounded once, to the correct number (Clinger, "How to read
   * floating point numbers accurately", 1990). All other numbers, including numbers with exponents, are left to
   * `Number`.
   */
  number(position: number, start: number, end: number): number {
    const { bytes } = this;
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
    if (wholeEnd === first || pointAt === at - 1) return -1;
    if (bytes[first] === zero && wholeEnd > first + 1) return -1;
    const byte = bytes[at] as number;
    if (byte === 0x65 || byte === 0x45 || mantissa >= 2 ** 53 || decimals > 22)
      return this.#longNumber(position, start, end);
    const size = decimals === 0 ? mantissa : mantissa / (powers[decimals] as number);
    this.#values[position] = first === start ? size : -size;
    this.starts[position] = start;
    this.ends[position] = at;
    return at;
  }

  #longNumber(position: number, start: number, end: number): number {
    let at = start;
    while (at < end && isOfNumber(this.bytes[at] as number)) at++;
    const text = this.bytes.toString('latin1', start, at);
    if (!/^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/.test(text)) return -1;
    this.#values[position] = Number(text);
    this.starts[position] = start;
    this.ends[position] = at;
    return at;
  }

  #text(position: number): string {
    const text = interned.text(this.bytes, this.#view, this.starts[position]!, this.ends[position]!);
    this.#values[position] = text;
    return text;
  }
}

function isOfNumber(byte: number): boolean {
  return (
    (byte >= zero && byte <= 57) || byte === minus || byte === 43 || byte === point || byte === 0x65 || byte === 0x45
  );
}

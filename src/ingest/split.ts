import {
  carriageReturn,
  closeBracket,
  comma,
  elementEnd,
  isBlank,
  newline,
  openBracket,
  skipBlank,
} from './json-bytes.ts';

/** Called with the bytes of one record, `[start, end)`, and the number of its line or element, from 1. */
export type Visit = (start: number, end: number, line: number) => void;

/** Returns the start of the text, after a byte order mark if present. */
export function textStart(bytes: Buffer): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

/** The lines of a body, without leading white space and trailing carriage returns. The last line needs no newline. */
export class Lines {
  readonly #bytes: Buffer;
  #next: number;
  /** Number of the line, from 1. */
  number = 0;
  start = 0;
  end = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#next = textStart(bytes);
  }

  /** Moves to the next line; returns false after the last line. */
  next(): boolean {
    const bytes = this.#bytes;
    if (this.#next >= bytes.length) return false;
    const found = bytes.indexOf(newline, this.#next);
    this.start = this.#next;
    this.end = found < 0 ? bytes.length : found;
    this.#next = this.end + 1;
    this.number++;
    if (this.end > this.start && bytes[this.end - 1] === carriageReturn) this.end--;
    this.start = skipBlank(bytes, this.start, this.end);
    return true;
  }
}

/** Visits every line that is not blank. */
export function eachLine(bytes: Buffer, visit: Visit): void {
  const lines = new Lines(bytes);
  while (lines.next()) if (lines.start < lines.end) visit(lines.start, lines.end, lines.number);
}

/**
 * Visits every element of a JSON array, or every value of a body that is one or more JSON objects (on any
 * number of lines). Scans only for brackets, commas and quotes, so that an element with an error inside fails
 * alone. A missing element, as after a trailing comma or in an unclosed array, is visited as an empty range.
 */
export function eachValue(bytes: Buffer, visit: Visit): void {
  const { length } = bytes;
  let at = skipBlank(bytes, textStart(bytes), length);
  const inArray = bytes[at] === openBracket;
  if (inArray) at = skipBlank(bytes, at + 1, length);
  let element = 1;
  let closed = !inArray;
  let wanted = false;
  for (; at < length; element++) {
    if (inArray && bytes[at] === closeBracket && !wanted) {
      closed = true;
      at = skipBlank(bytes, at + 1, length);
      if (at < length) visit(at, length, element);
      break;
    }
    const end = inArray && bytes[at] === closeBracket ? at : elementEnd(bytes, at, inArray);
    visit(at, trimEnd(bytes, at, end), element);
    at = skipBlank(bytes, end, length);
    wanted = inArray && bytes[at] === comma;
    if (wanted) at = skipBlank(bytes, at + 1, length);
  }
  if (!closed) visit(length, length, element);
}

function trimEnd(bytes: Buffer, start: number, end: number): number {
  while (end > start && isBlank(bytes[end - 1])) end--;
  return end;
}

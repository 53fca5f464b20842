import { limits } from '../limits.ts';

/** Called with the bytes of one record, `[start, end)`, and the number of its line or element, from 1. */
export type Visit = (start: number, end: number, line: number) => void;

const newline = 10;
const carriageReturn = 13;

/** Returns the start of the text, after a byte order mark if present. */
export function textStart(bytes: Buffer): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

/** Visits every line that is not blank, without leading white space. The last line needs no newline. */
export function eachLine(bytes: Buffer, visit: Visit): void {
  let line = 0;
  for (let from = textStart(bytes); from < bytes.length; ) {
    const found = bytes.indexOf(newline, from);
    const next = found < 0 ? bytes.length : found;
    line++;
    let start = from;
    let end = next;
    if (end > start && bytes[end - 1] === carriageReturn) end--;
    while (start < end && isBlank(bytes[start])) start++;
    if (start < end) visit(start, end, line);
    from = next + 1;
  }
}

/**
 * Visits every element of a JSON array, or every value of a body that is one or more JSON objects (on any
 * number of lines). Scans only for brackets, commas and quotes, so that an element with an error inside fails
 * alone. A missing element, as after a trailing comma or in an unclosed array, is visited as an empty range.
 */
export function eachValue(bytes: Buffer, visit: Visit): void {
  let at = skipBlank(bytes, textStart(bytes));
  const inArray = bytes[at] === openBracket;
  if (inArray) at = skipBlank(bytes, at + 1);
  let element = 1;
  let closed = !inArray;
  let wanted = false;
  for (; at < bytes.length; element++) {
    if (inArray && bytes[at] === closeBracket && !wanted) {
      closed = true;
      at = skipBlank(bytes, at + 1);
      if (at < bytes.length) visit(at, bytes.length, element);
      break;
    }
    const end = inArray && bytes[at] === closeBracket ? at : valueEnd(bytes, at, inArray);
    visit(at, trimEnd(bytes, at, end), element);
    at = skipBlank(bytes, end);
    wanted = inArray && bytes[at] === comma;
    if (wanted) at = skipBlank(bytes, at + 1);
  }
  if (!closed) visit(bytes.length, bytes.length, element);
}

/**
 * Returns whether brackets and braces of one record are nested too deeply, without parsing the record. Counting
 * stops above the limit.
 */
export function nestsTooDeep(bytes: Buffer, start: number, end: number): boolean {
  let depth = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    if (byte === quote) at = stringEnd(bytes, at, end) - 1;
    else if (byte === openBrace || byte === openBracket) {
      if (++depth > limits.maxNesting) return true;
    } else if (byte === closeBrace || byte === closeBracket) depth--;
  }
  return false;
}

const quote = 34;
const comma = 44;
const openBracket = 91;
const backslash = 92;
const closeBracket = 93;
const openBrace = 123;
const closeBrace = 125;

function isBlank(byte: number | undefined): boolean {
  return byte === 32 || byte === 9 || byte === carriageReturn || byte === newline;
}

function skipBlank(bytes: Buffer, at: number): number {
  while (at < bytes.length && isBlank(bytes[at])) at++;
  return at;
}

function trimEnd(bytes: Buffer, start: number, end: number): number {
  while (end > start && isBlank(bytes[end - 1])) end--;
  return end;
}

/**
 * Returns the end of the value that starts here: after the value's outermost closing brace, or before a comma
 * or bracket outside the value.
 */
function valueEnd(bytes: Buffer, start: number, inArray: boolean): number {
  let depth = 0;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) at = stringEnd(bytes, at, bytes.length) - 1;
    else if (byte === openBrace || byte === openBracket) depth++;
    else if (byte === closeBrace || byte === closeBracket) {
      if (depth === 0) return inArray && byte === closeBracket && at > start ? at : at + 1;
      if (--depth === 0 && !inArray) return at + 1;
    } else if (depth === 0 && inArray && byte === comma) return at;
  }
  return bytes.length;
}

/** Returns the position after the closing quote of the string that starts here. */
function stringEnd(bytes: Buffer, open: number, end: number): number {
  for (let at = open + 1; at < end; at++) {
    if (bytes[at] === backslash) at++;
    else if (bytes[at] === quote) return at + 1;
  }
  return end;
}

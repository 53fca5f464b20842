import { limits } from '../limits.ts';

// Scans JSON in UTF-8 without creating values. The loops over bytes are in this file, next to the codes that they
// compare.

export const tab = 9;
export const newline = 10;
export const carriageReturn = 13;
export const quote = 34;
export const comma = 44;
export const colon = 58;
export const openBracket = 91;
const backslash = 92;
export const closeBracket = 93;
export const openBrace = 123;
export const closeBrace = 125;

/** Returns whether the byte is white space of JSON (RFC 8259, section 2). */
export function isBlank(byte: number | undefined): boolean {
  return byte === 32 || byte === tab || byte === carriageReturn || byte === newline;
}

/** Returns the position of the next byte that is not white space, or `end`. */
export function skipBlank(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && isBlank(bytes[at])) at++;
  return at;
}

/** Returns the position after the closing quote of the string that starts here; `end` without a closing quote. */
export function stringEnd(bytes: Buffer, open: number, end: number): number {
  for (let at = open + 1; at < end; at++) {
    if (bytes[at] === backslash) at++;
    else if (bytes[at] === quote) return at + 1;
  }
  return end;
}

/** Returns the end of the value that starts here; `end` if the value does not end before `end`. */
export function valueEnd(bytes: Buffer, start: number, end: number): number {
  const first = bytes[start];
  if (first === quote) return stringEnd(bytes, start, end);
  let at = start;
  if (first !== openBrace && first !== openBracket) {
    while (at < end && !endsLiteral(bytes[at])) at++;
    return at;
  }
  for (let depth = 0; at < end; at++) {
    const byte = bytes[at];
    if (byte === quote) at = stringEnd(bytes, at, end) - 1;
    else if (byte === openBrace || byte === openBracket) depth++;
    else if ((byte === closeBrace || byte === closeBracket) && --depth === 0) return at + 1;
  }
  return end;
}

function endsLiteral(byte: number | undefined): boolean {
  return byte === comma || byte === closeBrace || byte === closeBracket || byte === quote || isBlank(byte);
}

/**
 * Returns the end of the element of an array, or of the value in a sequence of objects, that starts here: after the
 * value's outermost closing brace, or before a comma or bracket outside the value. The value may be invalid JSON.
 */
export function elementEnd(bytes: Buffer, start: number, inArray: boolean): number {
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

import { skipBlank } from '../json-bytes.ts';
import { reject } from '../rejection.ts';

export const quote = 34;
const comma = 44;
const colon = 58;
export const openBracket = 91;
const backslash = 92;
const closeBracket = 93;
const openBrace = 123;
const closeBrace = 125;
/** The first letter of `null`. No other JSON value begins with it. */
export const letterN = 110;

/** Encodes member names for `member`. */
export const namesOf = (...names: readonly string[]): readonly Buffer[] => names.map((name) => Buffer.from(name));

/** Result of `member` after the last member. */
export const noMore = -2;
/** Result of `member` for a name that is not requested. */
export const unknownMember = -1;

/**
 * Walks through JSON in UTF-8 in place, value by value, for readers that know the structure and need a small
 * part of the JSON. Creates no values. Skipped values are only scanned for their end, and deep nesting uses no
 * stack.
 *
 * Invalid JSON in scanned parts is a Rejection of field `json`.
 */
export class JsonCursor {
  readonly #bytes: Buffer;
  /** The position of the next value, or of the white space before that value. */
  at: number;
  /** Start of the skipped text or value. A text excludes its quotes. */
  start = 0;
  /** End of the skipped text or value, exclusive. */
  end = 0;
  /** True if the text contains escapes. */
  escaped = false;
  /** Nesting depth of brackets in the skipped value. */
  depth = 0;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  /** Returns the first byte of the next value; undefined at the end. */
  peek(): number | undefined {
    const bytes = this.#bytes;
    this.at = skipBlank(bytes, this.at, bytes.length);
    return bytes[this.at];
  }

  /** Enters an object; returns false, without moving, if the next value is not an object. */
  intoObject(): boolean {
    return this.#into(openBrace);
  }

  /** Enters an array; returns false, without moving, if the next value is not an array. */
  intoArray(): boolean {
    return this.#into(openBracket);
  }

  /** Moves to the next value of an array. After the last value, leaves the array and returns false. */
  element(first: boolean): boolean {
    if (this.#closes(first, closeBracket)) return false;
    this.peek();
    return true;
  }

  /**
   * Moves to the value of an object's next member. Returns the index of the member's name in `names`, or
   * `unknownMember`. After the last member, leaves the object and returns `noMore`.
   */
  member(first: boolean, names: readonly Buffer[]): number {
    if (this.#closes(first, closeBrace)) return noMore;
    if (this.peek() !== quote) reject('json', 'has an object member without a name');
    this.#text();
    const found = this.escaped ? this.#escapedName(names) : this.#name(names);
    if (this.peek() !== colon) reject('json', 'has a name without a value');
    this.at++;
    this.peek();
    return found;
  }

  /** Moves past the next value and records its position. */
  skip(): void {
    const first = this.peek();
    if (first === quote) return this.#text();
    const start = this.at;
    this.depth = 0;
    if (first === openBrace || first === openBracket) this.#brackets();
    else this.#word();
    this.start = start;
    this.end = this.at;
  }

  #into(bracket: number): boolean {
    if (this.peek() !== bracket) return false;
    this.at++;
    return true;
  }

  #closes(first: boolean, bracket: number): boolean {
    const byte = this.peek();
    if (byte === bracket) this.at++;
    else if (!first) {
      if (byte !== comma) reject('json', byte === undefined ? 'is truncated' : 'has no comma between values');
      this.at++;
    } else if (byte === undefined) reject('json', 'is truncated');
    return byte === bracket;
  }

  #name(names: readonly Buffer[]): number {
    const length = this.end - this.start;
    for (let index = 0; index < names.length; index++) {
      const name = names[index] as Buffer;
      if (name.length === length && this.#isAt(name)) return index;
    }
    return unknownMember;
  }

  #isAt(name: Buffer): boolean {
    for (let at = 0; at < name.length; at++) if (name[at] !== this.#bytes[this.start + at]) return false;
    return true;
  }

  #escapedName(names: readonly Buffer[]): number {
    const text = parseText(this.#bytes, this.start, this.end);
    return names.findIndex((name) => name.toString() === text);
  }

  #text(): void {
    const bytes = this.#bytes;
    const { length } = bytes;
    const start = this.at + 1;
    let escaped = false;
    let at = start;
    for (; at < length; at++) {
      const byte = bytes[at] as number;
      if (byte === quote) break;
      if (byte !== backslash) continue;
      escaped = true;
      at++;
    }
    if (at >= length) reject('json', 'is truncated');
    this.start = start;
    this.end = at;
    this.escaped = escaped;
    this.at = at + 1;
  }

  #brackets(): void {
    const bytes = this.#bytes;
    let depth = 0;
    let deepest = 0;
    do {
      const byte = bytes[this.at];
      if (byte === quote) {
        this.#text();
        continue;
      }
      if (byte === openBrace || byte === openBracket) deepest = Math.max(deepest, ++depth);
      else if (byte === closeBrace || byte === closeBracket) depth--;
      else if (byte === undefined) reject('json', 'is truncated');
      this.at++;
    } while (depth > 0);
    this.depth = deepest;
  }

  #word(): void {
    const bytes = this.#bytes;
    const start = this.at;
    let at = start;
    while (at < bytes.length && ofWord[bytes[at] as number] === 1) at++;
    if (at === start) reject('json', at === bytes.length ? 'is truncated' : 'is missing a value');
    this.at = at;
  }
}

/** Bytes of numbers, `true`, `false` and `null`. */
const ofWord = new Uint8Array(256);
for (const character of '+-.0123456789Eabcdefghijklmnopqrstuvwxyz') ofWord[character.charCodeAt(0)] = 1;

/** Returns the text between the quotes at `start` and `end`. */
export function parseText(bytes: Buffer, start: number, end: number): string {
  return parseJson(`"${bytes.toString('utf8', start, end)}"`) as string;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return reject('json', 'is not valid');
    throw error;
  }
}

/** The ASCII character for the character after a backslash, by code; 0 for invalid escapes. */
const escapes = new Uint8Array(256);
for (const [letter, character] of Object.entries({
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  '"': '"',
  '\\': '\\',
  '/': '/',
}))
  escapes[letter.charCodeAt(0)] = character.charCodeAt(0);
const letterU = 117;

/**
 * Replaces a text between its quotes with the unescaped text, which is never longer, and returns the end of the
 * unescaped text. If the text has escapes of characters other than ASCII, returns the unescaped text instead. The
 * bytes in `[start, end)` are then invalid.
 */
export function unescapeInPlace(bytes: Buffer, start: number, end: number): number | string {
  let to = start;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte !== backslash) {
      if (byte < 32) reject('json', 'is not valid');
      bytes[to++] = byte;
      continue;
    }
    const code = bytes[at + 1] as number;
    const character = code === letterU ? asciiAt(bytes, at + 2, end) : (escapes[code] as number);
    if (character === 0) return bytes.toString('utf8', start, to) + parseText(bytes, at, end);
    bytes[to++] = character;
    at += code === letterU ? 5 : 1;
  }
  return to;
}

/**
 * Returns the ASCII character of a four-digit escape; 0 if the escape is another character, or does not have
 * four digits.
 */
function asciiAt(bytes: Buffer, at: number, end: number): number {
  if (at + 4 > end) return 0;
  const digits = bytes.toString('latin1', at, at + 4);
  return /^00[0-7][0-9a-fA-F]$/.test(digits) ? Number.parseInt(digits, 16) : 0;
}

import { reject } from '../rejection.ts';

export const quote = 34;
const comma = 44;
const colon = 58;
export const openBracket = 91;
const backslash = 92;
const closeBracket = 93;
const openBrace = 123;
const closeBrace = 125;
/** `null` begins with it, and nothing else. */
export const letterN = 110;

/** Names of members, for `member`. */
export const namesOf = (...names: readonly string[]): readonly Buffer[] =>
  names.map((name) => Buffer.from(name));

/** What `member` says behind the last one, and of one that nobody asked for. */
export const noMore = -2;
export const unknownMember = -1;

/**
 * Walks through JSON in UTF-8 in place, value by value, for who knows what to expect and wants a small part of it: no value
 * is made. What is skipped is only looked at as far as to find its end. However deep it nests, it takes no stack.
 *
 * What cannot be JSON, as far as it is looked at, is a Rejection of field `json`.
 */
export class JsonCursor {
  readonly #bytes: Buffer;
  /** Where the next value begins, or white space before it. */
  at: number;
  /** Of the text or value that was skipped: `[start, end)`, a text without its quotes. */
  start = 0;
  end = 0;
  /** Whether the text has escapes. */
  escaped = false;
  /** How deep brackets nest in the value that was skipped. */
  depth = 0;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  /** The first byte of the next value; undefined where there is nothing more. */
  peek(): number | undefined {
    const bytes = this.#bytes;
    let at = this.at;
    while (at < bytes.length && isBlank(bytes[at] as number)) at++;
    this.at = at;
    return bytes[at];
  }

  /** Goes into an object; false, and nothing done, where the next value is none. */
  intoObject(): boolean {
    return this.#into(openBrace);
  }

  /** Goes into an array; false, and nothing done, where the next value is none. */
  intoArray(): boolean {
    return this.#into(openBracket);
  }

  /** Goes to the next value of an array; false, and out of it, behind the last. */
  element(first: boolean): boolean {
    if (this.#closes(first, closeBracket)) return false;
    this.peek();
    return true;
  }

  /**
   * Goes to the value of the next member of an object: the index of its name in `names`, `unknownMember`, or `noMore`, and
   * out of the object, behind the last.
   */
  member(first: boolean, names: readonly Buffer[]): number {
    if (this.#closes(first, closeBrace)) return noMore;
    if (this.peek() !== quote) reject('json', 'has an object with something else than a name');
    this.#text();
    const found = this.escaped ? this.#escapedName(names) : this.#name(names);
    if (this.peek() !== colon) reject('json', 'has a name without a value');
    this.at++;
    this.peek();
    return found;
  }

  /** Goes behind the next value, and tells where it was. */
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
      if (byte !== comma) reject('json', byte === undefined ? 'is cut off' : 'has no comma between values');
      this.at++;
    } else if (byte === undefined) reject('json', 'is cut off');
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
    if (at >= length) reject('json', 'is cut off');
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
      else if (byte === undefined) reject('json', 'is cut off');
      this.at++;
    } while (depth > 0);
    this.depth = deepest;
  }

  #word(): void {
    const bytes = this.#bytes;
    const start = this.at;
    let at = start;
    while (at < bytes.length && ofWord[bytes[at] as number] === 1) at++;
    if (at === start) reject('json', at === bytes.length ? 'is cut off' : 'lacks a value');
    this.at = at;
  }
}

function isBlank(byte: number): boolean {
  return byte === 32 || byte === 10 || byte === 13 || byte === 9;
}

/** What numbers, `true`, `false` and `null` are written with. */
const ofWord = new Uint8Array(256);
for (const character of '+-.0123456789Eabcdefghijklmnopqrstuvwxyz') ofWord[character.charCodeAt(0)] = 1;

/** A text between its quotes. */
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

/** The character of ASCII that stands behind a backslash for another, by its code; 0 for none. */
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
 * Writes what a text between its quotes says over it, which is never longer, and tells where it ends then. Where it has
 * escapes of other characters than ASCII's, the text itself: its bytes say nothing any more.
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

/** The character of ASCII that four digits stand for; 0 where they stand for another one, or are none. */
function asciiAt(bytes: Buffer, at: number, end: number): number {
  if (at + 4 > end) return 0;
  const digits = bytes.toString('latin1', at, at + 4);
  return /^00[0-7][0-9a-fA-F]$/.test(digits) ? Number.parseInt(digits, 16) : 0;
}

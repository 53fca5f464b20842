import { isObject, type JsonObject } from './fields.ts';
import { closeBrace, colon, comma, openBrace, quote, skipBlank, valueEnd } from './json-bytes.ts';

const maxValues = 128;
const maxDepth = 4;

/**
 * The positions of a line's values, found by iterating over the record that JSON.parse returned. Names in the
 * line must have the spelling and order of the record, which excludes names with escapes, repeated names, and
 * numeric names (which objects sort first).
 */
export class LineOutline {
  /** The start and the end of each value. */
  readonly places: number[] = [];
  /** The path of each value: the names of its objects and its own name, each name after a line feed. */
  readonly paths: string[] = [];
  readonly #bytes: Buffer;
  readonly #end: number;
  #at = 0;

  /** @param start - position of the brace of an object; `[start, end)` must be valid JSON */
  constructor(bytes: Buffer, start: number, end: number) {
    this.#bytes = bytes;
    this.#end = end;
    this.#at = start;
  }

  /**
   * Moves from the opening brace of the object past its closing brace, and records the positions of its values.
   * Returns false if the names in the line differ from the names of the record, or if there are too many values or
   * levels.
   */
  object(object: JsonObject, depth = 1, path = ''): boolean {
    const names = Object.keys(object);
    if (names.length === 0 || depth > maxDepth || this.paths.length + names.length > maxValues) return false;
    for (let i = 0; i < names.length; i++) {
      const name = names[i] as string;
      if (!this.#is(i === 0 ? openBrace : comma) || !this.#isName(name) || !this.#is(colon)) return false;
      const value = object[name];
      if (isObject(value)) {
        if (!this.object(value, depth + 1, `${path}\n${name}`)) return false;
      } else {
        const end = valueEnd(this.#bytes, this.#at, this.#end);
        this.places.push(this.#at, end);
        this.#at = skipBlank(this.#bytes, end, this.#end);
        this.paths.push(`${path}\n${name}`);
      }
    }
    return this.#is(closeBrace);
  }

  /** Consumes a byte and the white space after it; returns false if the next byte differs. */
  #is(byte: number): boolean {
    if (this.#bytes[this.#at] !== byte) return false;
    this.#at = skipBlank(this.#bytes, this.#at + 1, this.#end);
    return true;
  }

  #isName(name: string): boolean {
    if (name === '__proto__' || this.#bytes[this.#at] !== quote) return false;
    for (let i = 0; i < name.length; i++) {
      const code = name.charCodeAt(i);
      if (code > 126 || this.#bytes[this.#at + 1 + i] !== code) return false;
    }
    this.#at += name.length + 1;
    return this.#is(quote);
  }
}

import { closeBrace, colon, comma, quote, skipBlank, stringEnd, valueEnd } from '../json-bytes.ts';

/**
 * Positions of the members of one event envelope in Splunk's form: `{"time": …, "host": …, "fields": {…},
 * "event": …}`. Positions are in the body; a start of -1 means that the member is missing. If two members have
 * the same name, the later member is used, as in JSON.parse.
 *
 * Values are skipped by their brackets and quotes, and read only when needed.
 */
export class SplunkEnvelope {
  readonly #bytes: Buffer;
  readonly event: Span = { start: -1, end: -1 };
  readonly time: Span = { start: -1, end: -1 };
  readonly host: Span = { start: -1, end: -1 };
  readonly fields: Span = { start: -1, end: -1 };
  readonly #members = [
    ['event', this.event],
    ['time', this.time],
    ['host', this.host],
    ['fields', this.fields],
  ] as const;
  /** End of the scanned part. */
  end = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /**
   * Reads the object whose brace is at `start`. Returns false if the object is invalid or does not end before
   * `limit`; `end` is then the position where the scan stopped.
   */
  read(start: number, limit: number): boolean {
    const bytes = this.#bytes;
    for (const [, member] of this.#members) member.start = -1;
    let at = skipBlank(bytes, start + 1, limit);
    if (bytes[at] === closeBrace && at < limit) return this.#ends(at + 1, true);
    while (at < limit && bytes[at] === quote) {
      const name = at + 1;
      at = stringEnd(bytes, at, limit);
      const member = this.#memberAt(name, at - 1 - name);
      at = skipBlank(bytes, at, limit);
      if (bytes[at] !== colon || at >= limit) break;
      const value = skipBlank(bytes, at + 1, limit);
      at = valueEnd(bytes, value, limit);
      if (at === value) break;
      if (member !== undefined) {
        member.start = value;
        member.end = at;
      }
      at = skipBlank(bytes, at, limit);
      if (at >= limit) break;
      if (bytes[at] === closeBrace) return this.#ends(at + 1, true);
      if (bytes[at] !== comma) break;
      at = skipBlank(bytes, at + 1, limit);
    }
    return this.#ends(Math.min(at, limit), false);
  }

  #ends(at: number, whole: boolean): boolean {
    this.end = at;
    return whole;
  }

  #memberAt(start: number, length: number): Span | undefined {
    for (const [name, member] of this.#members)
      if (name.length === length && says(this.#bytes, start, name)) return member;
    return undefined;
  }
}

export interface Span {
  start: number;
  end: number;
}

/** Returns whether these ASCII characters are at `start`. */
export function says(bytes: Buffer, start: number, characters: string): boolean {
  for (let at = 0; at < characters.length; at++) if (bytes[start + at] !== characters.charCodeAt(at)) return false;
  return true;
}

const places = 8192;
/** Longer texts recur seldom: an IPv6 address has up to 39 bytes. */
const longest = 48;
const mostWords = longest / 4;
/** A place is a line of the processor's cache: length, hash of what waits, two unused, the text's words. */
const wordsOfPlace = 16;
const firstWord = wordsOfPlace - mostWords;

const quotes = 0x22222222;
const backslashes = 0x5c5c5c5c;
const spaces = 0x20202020;
const ones = 0x01010101;

/**
 * Texts of JSON, read by four bytes at a time: 2 ns a byte for what takes 7 byte by byte. Those that come again and again
 * in records (addresses, protocols, states) are one string each, made when it was met twice, so that it costs neither
 * memory nor the hash that maps ask of a new one. What comes once, such as the id of a connection, never takes a place.
 * Of a fixed size, 1 MB; texts that are made to fall on one place cost what unknown ones do.
 */
export class RecurringTexts {
  readonly #texts: string[] = new Array(places).fill('');
  /**
   * Of each place the length of its text; the hash of the last other text, which takes the place when it comes again; and
   * the bytes of the text, the rest of its last word being zero.
   */
  readonly #known = new Int32Array(places * wordsOfPlace);
  readonly #read = new Int32Array(mostWords);
  /** Where the quote was that ended the last text. */
  end = 0;

  /** The text that begins behind a quote; undefined where it has escapes or other than printable ASCII in it, or no end. */
  text(bytes: Buffer, view: DataView, start: number, end: number): string | undefined {
    const read = this.#read;
    let hash = 0;
    let count = 0;
    let at = start;
    let word = wordAt(view, at);
    let stops = stopsIn(word);
    for (; stops === 0; stops = stopsIn(word)) {
      if (count < mostWords) read[count] = word;
      count++;
      hash = mix(hash, word);
      at += 4;
      word = wordAt(view, at);
    }
    const rest = (31 - Math.clz32(stops & -stops)) >>> 3;
    at += rest;
    if (at >= end || bytes[at] !== 0x22) return undefined;
    this.end = at;
    const length = at - start;
    if (length > longest) return bytes.toString('latin1', start, at);
    if (rest > 0) {
      word &= -1 >>> (32 - 8 * rest);
      read[count++] = word;
      hash = mix(hash, word);
    }
    const known = this.#known;
    const place = (hash ^ (hash >>> 16)) & (places - 1);
    const from = place * wordsOfPlace;
    if (known[from] === length && this.#has(from + firstWord, count)) return this.#texts[place];
    const text = bytes.toString('latin1', start, at);
    if (known[from + 1] !== hash) known[from + 1] = hash;
    else {
      this.#texts[place] = text;
      known[from] = length;
      for (let i = 0; i < count; i++) known[from + firstWord + i] = read[i] as number;
    }
    return text;
  }

  #has(from: number, count: number): boolean {
    for (let i = 0; i < count; i++) if (this.#known[from + i] !== this.#read[i]) return false;
    return true;
  }
}

/**
 * The high bit of each byte that is a quote, a backslash, a control character or not ASCII: a byte below n borrows when n
 * is taken from it. Bytes above the first of them may be marked for its borrowing.
 */
function stopsIn(word: number): number {
  const quoted = word ^ quotes;
  const escaped = word ^ backslashes;
  return (
    (word | ((quoted - ones) & ~quoted) | ((escaped - ones) & ~escaped) | ((word - spaces) & ~word)) & highs
  );
}

/** One round of multiplying and folding the high bits down, as in MurmurHash3's finaliser. */
function mix(hash: number, word: number): number {
  const product = Math.imul(hash ^ word, 0x9e3779b1);
  return product ^ (product >>> 15);
}

/** The high bits of four bytes. */
const highs = 0x80808080 | 0;

/** Four bytes, the first lowest; zeros behind the end. */
function wordAt(view: DataView, at: number): number {
  return at + 4 <= view.byteLength ? view.getInt32(at, true) : lastWord(view, at);
}

function lastWord(view: DataView, from: number): number {
  let word = 0;
  for (let at = Math.min(from + 3, view.byteLength - 1); at >= from; at--) {
    word |= view.getUint8(at) << (8 * (at - from));
  }
  return word;
}

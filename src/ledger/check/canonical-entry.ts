import canonicalize from 'canonicalize';

/** Bytes of `"signature":"<128 digits>",`. */
const signatureMemberBytes = 143;
const uuidBytes = 36;

const maxDepth = 64;

function isCanonical(bytes: Buffer): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return canonicalize(JSON.parse(text)) === text;
  } catch {
    return false;
  }
}

const literal = (text: string) => Buffer.from(text, 'latin1');
const parts = {
  actor: literal('{"actor":'),
  data: literal(',"data":'),
  id: literal(',"id":"'),
  keyId: literal('","key_id":"'),
  kind: literal('","kind":"'),
  occurredAt: literal('","occurred_at":"'),
  signature: literal('","signature":"'),
  subject: literal('","subject":{"id":'),
  type: literal(',"type":'),
  end: literal('}}'),
  true: literal('true'),
  false: literal('false'),
  null: literal('null'),
};
const uuidParts = [8, 4, 4, 4, 12];
/** Where the 32 digits of a UUID are in its 36 characters. */
const uuidDigits = [...'........-....-....-....-............'].flatMap((sign, i) =>
  sign === '.' ? [i] : [],
);
/** The value of a lowercase hexadecimal digit; above 15 for anything else. */
const nibbles = Uint8Array.from({ length: 256 }, (_, byte) => {
  const value = '0123456789abcdef'.indexOf(String.fromCharCode(byte));
  return value < 0 ? 255 : value;
});
const quote = 0x22;
const backslash = 0x5c;

/** What a byte means within a string. One look at a table is half of the time of four comparisons. */
const plain = 0;
const ends = 1;
const control = 2;
const escapes = 3;
const beyondAscii = 4;
const sorts = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === quote) return ends;
  if (byte === backslash) return escapes;
  return byte < 0x20 ? control : byte >= 0x80 ? beyondAscii : plain;
});

/**
 * Reads the canonical bytes of entries (entry.ts): the members that every entry has, in the order that JCS gives them,
 * and nothing else. What is read of one entry holds until the next.
 *
 * Bytes are looked at once and no object is made, which takes 1.3 µs where JSON.parse and canonicalize take 5. Escapes,
 * characters beyond ASCII and numbers that aren't plain integers are left to those two.
 */
export class EntryReader {
  #bytes: Buffer = Buffer.alloc(0);
  /** Of the memory that the bytes are in, and where in it they begin. */
  #view = new DataView(this.#bytes.buffer);
  #start = 0;
  #at = 0;
  /** False once something is met that only a full parser can tell to be canonical. */
  #isSimple = true;
  #id = 0;
  #keyId = 0;
  #signature = 0;
  readonly #kind = new RepeatedText();
  readonly #keyIds = new RepeatedText();

  /** Whether these bytes are the JCS form (RFC 8785) of an entry. The view is kept until the next call. */
  read(bytes: Buffer): boolean {
    this.#bytes = bytes;
    if (this.#view.buffer !== bytes.buffer) this.#view = new DataView(bytes.buffer);
    this.#start = bytes.byteOffset;
    this.#at = 0;
    this.#isSimple = true;
    return this.#entry() && (this.#isSimple || isCanonical(bytes));
  }

  get kind(): string {
    return this.#kind.text;
  }

  get id(): string {
    return this.#bytes.toString('latin1', this.#id, this.#id + uuidBytes);
  }

  get keyId(): string {
    return this.#keyIds.read(this.#bytes, this.#keyId, this.#keyId + uuidBytes);
  }

  /** The nth 32 bits of the id. */
  idWord(n: number): number {
    return uuidWord(this.#bytes, this.#id, n);
  }

  get signature(): Uint8Array {
    const at = this.#signature + 13;
    return Buffer.from(this.#bytes.toString('latin1', at, at + 128), 'hex');
  }

  /** What the signature is over: everything but its own member. */
  get signedBytes(): Uint8Array {
    const bytes = this.#bytes;
    const rest = bytes.subarray(this.#signature + signatureMemberBytes);
    return Buffer.concat([bytes.subarray(0, this.#signature), rest]);
  }

  #entry(): boolean {
    if (!this.#literal(parts.actor) || !this.#string()) return false;
    if (!this.#literal(parts.data) || this.#bytes[this.#at] !== 0x7b || !this.#value(0)) return false;
    if (!this.#literal(parts.id)) return false;
    this.#id = this.#at;
    if (!this.#uuid() || !this.#literal(parts.keyId)) return false;
    this.#keyId = this.#at;
    if (!this.#uuid() || !this.#literal(parts.kind)) return false;
    const kind = this.#at;
    this.#untilQuote(64);
    this.#kind.read(this.#bytes, kind, this.#at);
    if (!this.#literal(parts.occurredAt)) return false;
    this.#untilQuote(40);
    this.#signature = this.#at + 2;
    if (!this.#literal(parts.signature) || !this.#hex(128)) return false;
    if (!this.#literal(parts.subject) || !this.#string()) return false;
    if (!this.#literal(parts.type) || !this.#string() || !this.#literal(parts.end)) return false;
    return this.#at === this.#bytes.length;
  }

  #uuid(): boolean {
    for (let part = 0; part < uuidParts.length; part++) {
      if (part > 0 && this.#bytes[this.#at++] !== 0x2d) return false;
      if (!this.#hex(uuidParts[part]!)) return false;
    }
    return true;
  }

  /** Lowercase digits. */
  #hex(length: number): boolean {
    const bytes = this.#bytes;
    const end = this.#at + length;
    if (end > bytes.length) return false;
    for (let at = this.#at; at < end; at++) if (nibbles[bytes[at]!]! > 15) return false;
    this.#at = end;
    return true;
  }

  #literal(part: Buffer): boolean {
    const bytes = this.#bytes;
    const at = this.#at;
    for (let i = 0; i < part.length; i++) if (bytes[at + i] !== part[i]) return false;
    this.#at = at + part.length;
    return true;
  }

  /** Text without escapes, up to the quote that ends it, which is left. */
  #untilQuote(maxLength: number): void {
    const bytes = this.#bytes;
    const limit = Math.min(bytes.length, this.#at + maxLength);
    let at = this.#at;
    for (; at < limit; at++) {
      const byte = bytes[at]!;
      if (byte === quote) break;
      if (byte === backslash || byte >= 0x7f || byte < 0x20) this.#isSimple = false;
    }
    this.#at = at;
  }

  #string(): boolean {
    const bytes = this.#bytes;
    if (bytes[this.#at] !== quote) return false;
    let at = this.#at + 1;
    for (const end = bytes.length - 4; at <= end && isPlain(this.#view.getInt32(this.#start + at)); ) at += 4;
    for (; at < bytes.length; at++) {
      const sort = sorts[bytes[at]!]!;
      if (sort === plain) continue;
      if (sort === ends) break;
      if (sort === control) return false;
      this.#isSimple = false;
      if (sort === escapes) at += 1;
    }
    this.#at = at + 1;
    return at < bytes.length;
  }

  #value(depth: number): boolean {
    const byte = this.#bytes[this.#at];
    if (depth > maxDepth) return false;
    switch (byte) {
      case 0x7b:
        return this.#object(depth);
      case 0x5b:
        return this.#array(depth);
      case quote:
        return this.#string();
      case 0x74:
        return this.#literal(parts.true);
      case 0x66:
        return this.#literal(parts.false);
      case 0x6e:
        return this.#literal(parts.null);
      default:
        return this.#number();
    }
  }

  #object(depth: number): boolean {
    this.#at += 1;
    if (this.#bytes[this.#at] === 0x7d) {
      this.#at += 1;
      return true;
    }
    for (let last = -1, lastEnd = -1; ; ) {
      const start = this.#at + 1;
      if (!this.#string()) return false;
      const end = this.#at - 1;
      if (last >= 0 && this.#isSimple && !isBelow(this.#bytes, last, lastEnd, start, end)) return false;
      last = start;
      lastEnd = end;
      if (this.#bytes[this.#at] !== 0x3a) return false;
      this.#at += 1;
      if (!this.#value(depth + 1)) return false;
      const next = this.#bytes[this.#at++];
      if (next === 0x7d) return true;
      if (next !== 0x2c) return false;
    }
  }

  #array(depth: number): boolean {
    this.#at += 1;
    if (this.#bytes[this.#at] === 0x5d) {
      this.#at += 1;
      return true;
    }
    for (;;) {
      if (!this.#value(depth + 1)) return false;
      const next = this.#bytes[this.#at++];
      if (next === 0x5d) return true;
      if (next !== 0x2c) return false;
    }
  }

  /** Integers of up to 15 digits; the rest is passed over for the full parser to judge. */
  #number(): boolean {
    const start = this.#at;
    for (; this.#at < this.#bytes.length; this.#at++) {
      const byte = this.#bytes[this.#at]!;
      if (byte >= 0x30 && byte <= 0x39) continue;
      // sign, point, exponent
      if (byte !== 0x2d && byte !== 0x2b && byte !== 0x2e && byte !== 0x65 && byte !== 0x45) break;
      this.#isSimple = false;
    }
    const digits = this.#at - start;
    if (digits > 15 || (digits > 1 && this.#bytes[start] === 0x30)) this.#isSimple = false;
    return digits > 0;
  }
}

/** Text that is mostly the same as the one before: a string is made only where it isn't, which takes 0.1 µs. */
class RepeatedText {
  #bytes = Buffer.alloc(0);
  text = '';

  read(bytes: Buffer, from: number, to: number): string {
    const last = this.#bytes;
    let at = to - from === last.length ? from : -1;
    while (at >= 0 && at < to && bytes[at] === last[at - from]) at += 1;
    if (at !== to) {
      this.#bytes = Buffer.from(bytes.subarray(from, to));
      this.text = this.#bytes.toString('latin1');
    }
    return this.text;
  }
}

/**
 * Whether none of four bytes is a quote, a backslash, a control character or beyond ASCII: a byte below n borrows when n is
 * taken from it. False for some that are plain, behind one that isn't.
 */
function isPlain(four: number): boolean {
  const quotes = (four ^ 0x22222222) - 0x01010101;
  const backslashes = (four ^ 0x5c5c5c5c) - 0x01010101;
  return ((four | (four - 0x20202020) | quotes | backslashes) & 0x80808080) === 0;
}

/** Whether one ASCII text sorts before another. */
function isBelow(bytes: Buffer, a: number, aEnd: number, b: number, bEnd: number): boolean {
  for (; a < aEnd && b < bEnd; a++, b++) {
    if (bytes[a] !== bytes[b]) return bytes[a]! < bytes[b]!;
  }
  return a === aEnd && b < bEnd;
}

function uuidWord(bytes: Buffer, at: number, n: number): number {
  let word = 0;
  for (let i = 8 * n; i < 8 * n + 8; i++) word = (word << 4) | nibbles[bytes[at + uuidDigits[i]!]!]!;
  return word;
}

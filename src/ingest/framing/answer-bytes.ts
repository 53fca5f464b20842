/** JSON texts separated by commas, as bytes, and the end position of each text. */
export class AnswerBytes {
  #bytes = Buffer.allocUnsafeSlow(64 * 1024);
  #length = 0;
  #ends = new Uint32Array(1024);
  #count = 0;

  /** Adds a text. An empty text gets no comma. */
  add(text: string): void {
    if (text !== '') {
      // UTF-8 needs at most three bytes per UTF-16 code unit.
      const most = this.#length + text.length * 3 + 1;
      if (most > this.#bytes.length) this.#grow(most);
      if (this.#length > 0) this.#bytes[this.#length++] = comma;
      this.#length += this.#bytes.write(text, this.#length);
    }
    if (this.#count === this.#ends.length) {
      const more = new Uint32Array(this.#count * 2);
      more.set(this.#ends);
      this.#ends = more;
    }
    this.#ends[this.#count++] = this.#length;
  }

  /** Returns the JSON and the ends in separate buffers, so that they can be transferred. */
  finish(): { readonly json: ArrayBuffer; readonly ends: Uint32Array } {
    const json = new Uint8Array(this.#bytes.subarray(0, this.#length)).buffer;
    return { json, ends: this.#ends.slice(0, this.#count) };
  }

  #grow(most: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(most, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

const comma = 44;

/** JSON texts one behind the other with commas between, as bytes, and where each of them ends. */
export class AnswerBytes {
  #bytes = Buffer.allocUnsafeSlow(64 * 1024);
  #length = 0;
  #ends = new Uint32Array(1024);
  #count = 0;

  /** An empty text has no comma either. */
  add(text: string): void {
    if (text !== '') {
      // UTF-8 needs at most three bytes for each unit of UTF-16.
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

  /** Both in buffers of their own, to be moved. */
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

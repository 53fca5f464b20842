/** A text in ASCII bytes of a body, for columns that copy the bytes. Valid until the next record is read. */
export class TextSpan {
  bytes: Uint8Array = new Uint8Array(0);
  start = 0;
  end = 0;

  of(bytes: Uint8Array, start: number, end: number): this {
    this.bytes = bytes;
    this.start = start;
    this.end = end;
    return this;
  }
}

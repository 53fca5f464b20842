/** A span of ASCII bytes in a body, for columns that copy the bytes. Valid until the next record is read. */
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

/** Copies an ASCII text: a slice would keep the whole original string in memory. */
export function detachString(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

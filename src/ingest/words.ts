/** The high bits of four bytes. */
export const highs = 0x80808080 | 0;

/** Four bytes, the first lowest; zeros behind the end. */
export function wordAt(view: DataView, at: number): number {
  return at + 4 <= view.byteLength ? view.getInt32(at, true) : lastWord(view, at);
}

function lastWord(view: DataView, from: number): number {
  let word = 0;
  for (let at = Math.min(from + 3, view.byteLength - 1); at >= from; at--) {
    word |= view.getUint8(at) << (8 * (at - from));
  }
  return word;
}

import type { Tables } from '../tables.ts';

/**
 * A list's index is stored in pieces: LMDB needs adjacent free pages for a large value, which a used file
 * hardly has.
 */
const pieceBytes = 256 * 2 ** 10;

type Contents = Pick<Tables, 'intelContents'>;

/** Runs within a transaction. */
export function putIndex({ intelContents }: Contents, id: string, index: ArrayBuffer): void {
  removeIndex({ intelContents }, id);
  for (let at = 0, n = 0; at < index.byteLength; at += pieceBytes, n++)
    intelContents.putSync([id, n], Buffer.from(index, at, Math.min(pieceBytes, index.byteLength - at)));
}

/** Returns the index of a list, in its own buffer; empty if no index is stored. */
export function readIndex({ intelContents }: Contents, id: string): ArrayBuffer {
  const pieces = Array.from(intelContents.getRange(piecesOf(id)), ({ value }) => value);
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole.buffer;
}

/** Runs within a transaction. */
export function removeIndex({ intelContents }: Contents, id: string): void {
  for (const key of [...intelContents.getKeys(piecesOf(id))]) intelContents.removeSync(key);
}

const piecesOf = (id: string) => ({
  start: [id, 0] as [string, number],
  end: [id, Number.POSITIVE_INFINITY] as [string, number],
});

import type { DetectTables } from '../tables.ts';

/**
 * Size of the pieces in which a list's index is stored. LMDB needs adjacent free pages for a large value, and a used
 * file has few adjacent free pages.
 */
const pieceBytes = 256 * 2 ** 10;

type Contents = Pick<DetectTables, 'intelContents'>;

/** Stores the index of a list. Must be called in a transaction. */
export function putIndex({ intelContents }: Contents, id: string, index: ArrayBuffer): void {
  removeIndex({ intelContents }, id);
  for (let at = 0, n = 0; at < index.byteLength; at += pieceBytes, n++)
    intelContents.putSync([id, n], Buffer.from(index, at, Math.min(pieceBytes, index.byteLength - at)));
}

/** Returns a copy of a list's index; an empty buffer if no index is stored. */
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

/** Removes the index of a list. Must be called in a transaction. */
export function removeIndex({ intelContents }: Contents, id: string): void {
  for (const key of [...intelContents.getKeys(piecesOf(id))]) intelContents.removeSync(key);
}

const piecesOf = (id: string) => ({
  start: [id, 0] as [string, number],
  end: [id, Number.POSITIVE_INFINITY] as [string, number],
});

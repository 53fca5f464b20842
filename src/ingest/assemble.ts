import { limits } from '../limits.ts';

/**
 * Buffer of this thread for bodies. The thread reads one body at a time, and each body overwrites the previous
 * one.
 */
let kept = Buffer.allocUnsafeSlow(0);

/**
 * Returns the body in one piece. Several pieces are copied into a buffer, which is reused for the next body
 * if the body has at most `limits.maxKeptBodyBytes` (allocating fresh pages takes seven times as long as
 * copying). The result is valid until the next body.
 */
export function assemble(pieces: readonly ArrayBuffer[], length: number): Buffer {
  const [only] = pieces;
  if (pieces.length === 1 && only !== undefined) return Buffer.from(only, 0, length);
  const whole = roomFor(length);
  let offset = 0;
  for (const piece of pieces) {
    const bytes = new Uint8Array(piece, 0, Math.min(piece.byteLength, length - offset));
    whole.set(bytes, offset);
    offset += bytes.byteLength;
  }
  return whole;
}

function roomFor(length: number): Buffer {
  if (length > limits.maxKeptBodyBytes) return Buffer.allocUnsafeSlow(length);
  if (kept.length < length) kept = Buffer.allocUnsafeSlow(length);
  return kept.subarray(0, length);
}

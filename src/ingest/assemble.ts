import { limits } from '../limits.ts';

/** Of this thread, which reads one body at a time; its bytes are those of the last. */
let kept = Buffer.allocUnsafeSlow(0);

/**
 * A body in one piece. What came in several is put together in memory that is kept for the next (fresh pages cost seven
 * times the copying): it may be read until then, up to `limits.maxKeptBodyBytes`.
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

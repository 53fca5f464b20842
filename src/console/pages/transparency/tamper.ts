/** Changes bytes to demonstrate that a proof detects the change. */

const isLetterOrDigit = (byte: number): boolean =>
  (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);

/**
 * Returns a copy in which the letter or digit nearest to `near` is replaced by a different letter or digit. If the
 * input has no letters or digits, one bit of the byte in the middle is flipped. Empty input is returned unchanged.
 */
export function changeOneCharacter(bytes: Uint8Array, near = Math.floor(bytes.length / 2)): Uint8Array {
  const changed = bytes.slice();
  const at = nearest(bytes, near);
  if (at !== undefined) changed[at] = neighbour(bytes[at]!);
  else if (bytes.length > 0) changed[Math.floor(bytes.length / 2)]! ^= 1;
  return changed;
}

function nearest(bytes: Uint8Array, near: number): number | undefined {
  for (let away = 0; away <= bytes.length; away++)
    for (const at of [near + away, near - away]) {
      const byte = bytes[at];
      if (byte !== undefined && isLetterOrDigit(byte)) return at;
    }
  return undefined;
}

/** Returns the next digit or letter, wrapping around. */
function neighbour(byte: number): number {
  const next = byte + 1;
  if (isLetterOrDigit(next)) return next;
  return byte === 0x39 ? 0x30 : byte - 25;
}

/** Returns the half-open range of `b` outside of which `a` and `b` are equal; undefined if they are equal. */
export function differenceOf(a: Uint8Array, b: Uint8Array): { from: number; to: number } | undefined {
  const shorter = Math.min(a.length, b.length);
  let from = 0;
  while (from < shorter && a[from] === b[from]) from++;
  if (from === a.length && from === b.length) return undefined;
  let tail = 0;
  while (tail < shorter - from && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  return { from, to: b.length - tail };
}

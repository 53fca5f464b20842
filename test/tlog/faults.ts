import { TlogError, type TlogFault } from '../../src/tlog/fault.ts';

/** The fault that a verification ends with; undefined when it passes. Anything else than a TlogError is thrown on. */
export function faultOf(verify: () => void): TlogFault | undefined {
  try {
    verify();
    return undefined;
  } catch (error) {
    if (error instanceof TlogError) return error.fault;
    throw error;
  }
}

/** A copy with one bit flipped, another one for each `n`. */
export function flip(bytes: Uint8Array, n: number): Uint8Array {
  const copy = new Uint8Array(bytes);
  const bit = (n * 37) % (8 * copy.length);
  copy[bit >> 3]! ^= 1 << (bit & 7);
  return copy;
}

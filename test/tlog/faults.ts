import { TlogError, type TlogFault } from '../../src/tlog/fault.ts';

/** Returns the fault of a verification; undefined if it passes. Errors other than TlogError are rethrown. */
export function faultOf(verify: () => void): TlogFault | undefined {
  try {
    verify();
    return undefined;
  } catch (error) {
    if (error instanceof TlogError) return error.fault;
    throw error;
  }
}

/** Returns a copy with one bit flipped, which `n` selects. */
export function flip(bytes: Uint8Array, n: number): Uint8Array {
  const copy = new Uint8Array(bytes);
  const bit = (n * 37) % (8 * copy.length);
  copy[bit >> 3]! ^= 1 << (bit & 7);
  return copy;
}

type Column =
  | Uint8Array<ArrayBuffer>
  | Uint16Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | Uint32Array<ArrayBuffer>
  | Float64Array<ArrayBuffer>;

/**
 * Returns the array with more room, by default twice as much. New elements are 0. The memory of the given array, which
 * must span its whole buffer, is released immediately; the given array must not be used afterwards.
 */
export function grown<A extends Column>(array: A, length = 2 * array.length): A {
  const buffer = array.buffer.transfer(length * array.BYTES_PER_ELEMENT);
  return new (array.constructor as new (buffer: ArrayBuffer) => A)(buffer);
}

/**
 * Releases the memory of an array whose values are no longer needed. The garbage collector would release the
 * memory only after further allocations, so a thread that is idle after one large query would keep a gigabyte.
 */
export function freed(array: Column): void {
  array.buffer.transfer(0);
}

/** How a list is written: as an array, or each item with its line end. */
export type ListForm = 'array' | 'lines';

const encoder = new TextEncoder();

/** Items that are JSON already, in which no line ends: bytes of their own buffer, ready to move. */
export function writeList(items: readonly string[], form: ListForm = 'array'): Uint8Array<ArrayBuffer> {
  if (form === 'array') return encoder.encode(`[${items.join(',')}]`);
  return encoder.encode(items.map((item) => `${item}\n`).join(''));
}

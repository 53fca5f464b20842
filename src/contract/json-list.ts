/** Form of a list: a JSON array, or one item per line. */
export type ListForm = 'array' | 'lines';

const encoder = new TextEncoder();

/**
 * Joins items that are already serialised as JSON without line breaks. The result has its own buffer and can
 * be transferred.
 */
export function writeList(items: readonly string[], form: ListForm = 'array'): Uint8Array<ArrayBuffer> {
  if (form === 'array') return encoder.encode(`[${items.join(',')}]`);
  return encoder.encode(items.map((item) => `${item}\n`).join(''));
}

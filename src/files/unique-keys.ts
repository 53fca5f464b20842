import { type Document, isNode, isScalar, visit } from 'yaml';

/**
 * Returns the position of the first repeated key of a mapping; undefined if there are no repeated keys. The
 * parser's own option `uniqueKeys` compares all pairs of keys and takes 3 s for 64 kB of keys; this
 * function takes 50 ms.
 */
export function repeatedKey(document: Document): number | undefined {
  let found: number | undefined;
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<string>();
      for (const { key } of items) {
        const name = String(isScalar(key) ? key.value : key);
        if (seen.has(name)) {
          found = isNode(key) ? (key.range?.[0] ?? 0) : 0;
          return visit.BREAK;
        }
        seen.add(name);
      }
      return undefined;
    },
  });
  return found;
}

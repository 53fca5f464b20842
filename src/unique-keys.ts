import { type Document, isNode, isScalar, visit } from 'yaml';

/**
 * Where in the text the first key lies that its mapping has already; undefined where there is none. The parser's own
 * `uniqueKeys` compares each key with each: 3 s for 64 kB of them, against 50 ms.
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

/** Splits a pattern at each `*`, which matches any characters or none; `\*` is a literal star. */
export const wildcardParts = (text: string): string[] =>
  text.split(/(?<!\\)\*+/).map((part) => part.replaceAll('\\*', '*'));

/** Escapes a text so that a filter matches it literally. */
export const literally = (text: string): string => text.replaceAll('*', '\\*');

/**
 * Reports whether a text has the parts in order, the first at its start and the last at its end. Each part is
 * searched once.
 */
export function matchesParts(text: string, parts: readonly string[]): boolean {
  const first = parts[0]!;
  const last = parts.at(-1)!;
  if (parts.length === 1) return text === first;
  const end = text.length - last.length;
  let at = first.length;
  if (at > end || !text.startsWith(first) || !text.endsWith(last)) return false;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

/** Returns a predicate for texts that match one of the values, which may have wildcards. */
export function oneOfTexts(values: readonly string[]): (text: string) => boolean {
  const parts = values.map(wildcardParts);
  const literals = new Set(parts.filter(({ length }) => length === 1).map(([only]) => only!));
  const patterns = parts.filter(({ length }) => length > 1);
  return (text) => literals.has(text) || patterns.some((one) => matchesParts(text, one));
}

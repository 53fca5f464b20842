/** A label in the graph; `x`, `y` is the center of its upper edge in screen pixels. */
export interface Label {
  readonly id: string;
  readonly text: string;
  readonly x: number;
  readonly y: number;
}

/** Maximum number of characters per line; longer names are truncated. */
export const maxCharacters = 24;
/** Width of a character relative to the font size. */
export const characterWidth = 0.62;
/** Height of a line relative to the font size. */
const lineHeight = 1.25;

/**
 * Selects at most `most` labels in order of precedence: each label that does not overlap an earlier selected label.
 * Zooming in makes room for more labels.
 */
export function roomFor(labels: readonly Label[], fontPx: number, most: number): Set<string> {
  const shown = new Map<string, readonly [left: number, top: number, right: number, bottom: number]>();
  for (const { id, text, x, y } of labels) {
    if (shown.size >= most) break;
    const lines = text.split('\n');
    const longest = Math.min(maxCharacters, Math.max(...lines.map(({ length }) => length)));
    const half = (longest * characterWidth * fontPx) / 2;
    const bottom = y + lines.length * lineHeight * fontPx;
    const overlaps = [...shown.values()].some(
      (other) => x - half < other[2] && x + half > other[0] && y < other[3] && bottom > other[1],
    );
    if (!overlaps) shown.set(id, [x - half, y, x + half, bottom]);
  }
  return new Set(shown.keys());
}

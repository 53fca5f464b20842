/** A name in the picture, and where it stands: the middle of its upper edge, in pixels of the screen. */
export interface Label {
  readonly id: string;
  readonly text: string;
  readonly x: number;
  readonly y: number;
}

/** Characters of a line; the rest of a longer name is cut off. */
export const maxCharacters = 24;
/** Width of a character and height of a line, as parts of the font's size. */
export const characterWidth = 0.62;
const lineHeight = 1.25;

/**
 * The labels for which there is room: each that covers none before it, `most` at most. The closer one looks, the more of
 * them there are.
 */
export function roomFor(labels: readonly Label[], fontPx: number, most: number): Set<string> {
  const shown = new Map<string, readonly [left: number, top: number, right: number, bottom: number]>();
  for (const { id, text, x, y } of labels) {
    if (shown.size >= most) break;
    const lines = text.split('\n');
    const longest = Math.min(maxCharacters, Math.max(...lines.map(({ length }) => length)));
    const half = (longest * characterWidth * fontPx) / 2;
    const bottom = y + lines.length * lineHeight * fontPx;
    const covers = [...shown.values()].some(
      (other) => x - half < other[2] && x + half > other[0] && y < other[3] && bottom > other[1],
    );
    if (!covers) shown.set(id, [x - half, y, x + half, bottom]);
  }
  return new Set(shown.keys());
}

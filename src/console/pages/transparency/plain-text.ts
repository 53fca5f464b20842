/** What hides, or turns round the text beside it: controls, formats, line and paragraph separators; no newline. */
const tricks = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The text with what could make it look like another one written as JSON writes it: `\\u202e`. */
export function withoutTricks(text: string): string {
  return text.replace(tricks, (char) =>
    Array.from(
      { length: char.length },
      (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

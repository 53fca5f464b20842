/**
 * Invisible characters and characters that reorder the text around them: controls, format characters, line and
 * paragraph separators, except newline.
 */
const tricks = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Returns the text with deceptive characters escaped as in JSON: `\\u202e`. */
export function withoutTricks(text: string): string {
  return text.replace(tricks, (char) =>
    Array.from({ length: char.length }, (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`).join(''),
  );
}

/** Formats of names and of texts from the data. */

/** Formats `snake_case` as words. */
export const words = (name: string): string => name.replaceAll('_', ' ');
/** Formats `snake_case` as words with a capital first letter. */
export const title = (name: string): string => name.charAt(0).toUpperCase() + words(name.slice(1));

/** Returns the beginning and the end of a hash or identifier. */
export const abbreviated = (text: string, length = 8): string =>
  text.length <= 2 * length + 1 ? text : `${text.slice(0, length)}…${text.slice(-4)}`;

/** Embeddings, overrides, isolates and their terminators, which reorder text (UAX #9). */
const reordering = /[\u202a-\u202e\u2066-\u2069]/g;
/** Control characters and separators. They are invisible, and paragraph separators would end the isolate. */
const separating = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
const isolate = '\u2068';
const isolateEnd = '\u2069';

/**
 * Prepares text from the data for a sentence of the console. The text is put into a bidi isolate, so that its direction
 * does not affect the text around it; its own reordering characters are escaped as `\u{202e}`, so that they cannot
 * deceive readers. Text beyond `most` characters is truncated, so that the words after it stay visible.
 */
export function isolateText(text: string, most = 160): string {
  const characters = [...text.slice(0, 2 * most + 2)];
  const bounded = characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : text;
  const shown = bounded
    .replace(reordering, (control) => `\\u{${control.codePointAt(0)?.toString(16)}}`)
    .replace(separating, ' ');
  return `${isolate}${shown}${isolateEnd}`;
}

/** Returns the isolated text in quotation marks. */
export const quoted = (text: string, most?: number): string => `“${isolateText(text, most)}”`;

/** A value for `most` that shows any domain name in full. */
export const wholeName = 300;

/** Shortens `UTC−05:00` to `UTC−5` and `UTC+05:30` to `UTC+5:30`. */
export const shortZone = (name: string): string => name.replace(/([+−])0(\d)/, '$1$2').replace(/:00$/, '');

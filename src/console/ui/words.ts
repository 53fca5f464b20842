/** Names as the console writes them; pure. */

/** `snake_case` as words. */
export const words = (name: string): string => name.replaceAll('_', ' ');
/** The same, beginning with a capital letter. */
export const title = (name: string): string => name.charAt(0).toUpperCase() + words(name.slice(1));

/** The beginning and the end of a hash or an identifier. */
export const abbreviated = (text: string, length = 8): string =>
  text.length <= 2 * length + 1 ? text : `${text.slice(0, length)}…${text.slice(-4)}`;

/** Embeddings, overrides and isolates, with what ends them: they reorder what is shown (UAX #9). */
const reordering = /[\u202a-\u202e\u2066-\u2069]/g;
/** Of controls and separators, those that end a paragraph end every isolate; none is to be seen. */
const separating = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
const isolate = '\u2068';
const isolateEnd = '\u2069';

/**
 * A text of others for a sentence of ours: it stands in an isolate of its own, so that its direction changes nothing
 * around it. What it has to reorder itself is shown as `\u{202e}` instead, so that nobody is deceived. `most`: more
 * characters than these are cut off, so that our words after it stay in sight.
 */
export function foreign(text: string, most = 160): string {
  const characters = [...text.slice(0, 2 * most + 2)];
  const bounded = characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : text;
  const shown = bounded
    .replace(reordering, (control) => `\\u{${control.codePointAt(0)?.toString(16)}}`)
    .replace(separating, ' ');
  return `${isolate}${shown}${isolateEnd}`;
}

/** The same, in quotation marks. */
export const quoted = (text: string, most?: number): string => `“${foreign(text, most)}”`;

/** The `most` with which any domain name is told whole. */
export const wholeName = 300;

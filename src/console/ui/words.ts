/** Names as the console writes them; pure. */

/** `snake_case` as words. */
export const words = (name: string): string => name.replaceAll('_', ' ');
/** The same, beginning with a capital letter. */
export const title = (name: string): string => name.charAt(0).toUpperCase() + words(name.slice(1));

/** The beginning and the end of a hash or an identifier. */
export const abbreviated = (text: string, length = 8): string =>
  text.length <= 2 * length + 1 ? text : `${text.slice(0, length)}…${text.slice(-4)}`;

/**
 * Returns text from a sensor or a host in displayable form: without control and other invisible characters or
 * lone surrogates, at most `maxLength` UTF-16 units. Returns undefined if nothing remains.
 */
export function printable(text: string, maxLength: number): string | undefined {
  const clean = text.toWellFormed().replaceAll(/\p{C}/gu, ' ').trim();
  const cut =
    clean.length <= maxLength ? clean : clean.slice(0, isPairAt(clean, maxLength) ? maxLength - 1 : maxLength);
  return cut === '' ? undefined : cut.trimEnd();
}

/** Returns whether a surrogate pair spans this position. */
const isPairAt = (text: string, place: number): boolean => (text.codePointAt(place - 1) ?? 0) > 0xffff;

/**
 * What a sensor or a host wrote, as people may be shown it: without control and other invisible characters, of at
 * most so many UTF-16 units and no half ones. Undefined where nothing is left.
 */
export function printable(text: string, maxLength: number): string | undefined {
  const clean = text.toWellFormed().replaceAll(/\p{C}/gu, ' ').trim();
  const cut =
    clean.length <= maxLength
      ? clean
      : clean.slice(0, isPairAt(clean, maxLength) ? maxLength - 1 : maxLength);
  return cut === '' ? undefined : cut.trimEnd();
}

/** Whether a pair of surrogates lies across this place. */
const isPairAt = (text: string, place: number): boolean => (text.codePointAt(place - 1) ?? 0) > 0xffff;

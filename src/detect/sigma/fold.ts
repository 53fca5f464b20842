/**
 * Returns the text for case-insensitive comparison: lower case by Unicode's language-independent rules, with one
 * letter for both small sigmas, because the choice between them depends on the following character. Thus `STRASSE`
 * differs from `straße`, and `Ä` equals `ä`. The index of literals relies on this rule: the folded part of a text is
 * a part of the folded text.
 */
export function fold(text: string): string {
  if (text.length > maxPlain) return lower(text);
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit > 127 || (unit >= 65 && unit <= 90)) return lower(text);
  }
  return text;
}

/**
 * Maximum length of a text that is checked for capitals. Most texts in records have no capitals: the check
 * takes 10 ns, while `toLowerCase` takes 60 ns and creates another text.
 */
const maxPlain = 256;

/** Returns true if folding changes at most the capitals A to Z. */
export function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return false;
  return true;
}

function lower(text: string): string {
  const lower = text.toLowerCase();
  return lower.includes('ς') ? lower.replaceAll('ς', 'σ') : lower;
}

/** Returns the text for comparison with `windash`, with a hyphen for each slash and for each other dash. */
export function foldDashes(text: string): string {
  return text.replace(/[/–—―]/g, '-');
}

/** The characters that are equal with `windash`: hyphen, slash, en dash, em dash, horizontal bar. */
export const dashes = ['-', '/', '–', '—', '―'] as const;

/**
 * Text as it is compared where case makes no difference: lower case by Unicode's rules that hold for all languages, with
 * one letter for both small sigmas, which of the two it is depending on what follows. So `STRASSE` is not `straße`,
 * `Ä` is `ä`, and the fold of a part is part of the fold of the whole, which the index of literals relies on.
 */
export function fold(text: string): string {
  if (text.length > maxPlain) return lower(text);
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit > 127 || (unit >= 65 && unit <= 90)) return lower(text);
  }
  return text;
}

/** Most texts of records have no capitals: to see that takes 10 ns where `toLowerCase` takes 60 and makes another text. */
const maxPlain = 256;

/** Whether folding makes no difference but to capitals from A to Z. */
export function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return false;
  return true;
}

function lower(text: string): string {
  const lower = text.toLowerCase();
  return lower.includes('ς') ? lower.replaceAll('ς', 'σ') : lower;
}

/** Text as `windash` compares it: every dash and slash that begins an option is the same. */
export function foldDashes(text: string): string {
  return text.replace(/[/–—―]/g, '-');
}

/** The characters that `windash` takes for each other: hyphen, slash, en dash, em dash, horizontal bar. */
export const dashes = ['-', '/', '–', '—', '―'] as const;

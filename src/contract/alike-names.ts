/**
 * The form in which names are the same that nobody can tell apart: letters of compatibility (ａｄｍｉｎ, 𝐚𝐝𝐦𝐢𝐧; Unicode
 * normalization form KC), case, and the width of space.
 */
export function alikeForm(name: string): string {
  return name.normalize('NFKC').toLowerCase().normalize('NFKC').replaceAll(/\s+/gu, ' ');
}

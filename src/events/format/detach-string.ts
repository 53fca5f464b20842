/** Copies an ASCII text: a slice would keep the whole original string in memory. */
export function detachString(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

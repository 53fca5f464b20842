/** The same text of ASCII, in memory of its own: one that was cut out of another keeps all of that. */
export function ownText(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

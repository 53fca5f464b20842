/**
 * Invisible characters and characters that reorder the text around them: controls, format characters, line and
 * paragraph separators, except newline.
 */
const tricks = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Returns the text with deceptive characters escaped as in JSON: `\\u202e`. */
export function withoutTricks(text: string): string {
  return text.replace(tricks, (char) =>
    Array.from({ length: char.length }, (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`).join(''),
  );
}

/** Returns a hex dump: offset, 16 bytes and their ASCII characters per line. */
export function hexDump(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const line = [...bytes.subarray(at, at + 16)];
    const hex = line.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const text = line.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.'));
    lines.push(`${at.toString(16).padStart(4, '0')}  ${hex.padEnd(47)}  ${text.join('')}`);
  }
  return lines.join('\n');
}
